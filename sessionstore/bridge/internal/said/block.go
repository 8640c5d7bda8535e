// Package said is the one reading of stored messages that the bridges share: a message as the
// blocks that it says. A provider's [Format] is a table between blocks and the JSON of its
// API, to which the bridges give the types of their SDKs.
//
// An answer is stored in the form that every tool reads: blocks of the types text, thinking
// and tool_call, with the calls in tool_calls, too. Where the JSON of the answer says more, it
// is kept beside them in metadata.<provider>.wire_content, and is sent instead of the
// blocks as long as it says the same.
package said

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
)

// Kind is what a block says.
type Kind int

// The kinds.
const (
	Other    Kind = iota // what only some providers know
	Text                 // Text, and Sign of Gemini
	Thinking             // Text and Sign, or Sealed and Item of OpenAI, or Redacted of Anthropic
	Call                 // ID, Name, Args, and Sign of Gemini
	Result               // ID and Name of the call, Failed, Content
	File                 // an image or a document
)

// Block is a part of a message.
type Block struct {
	Kind Kind
	Text string
	Sign string // the signature of thinking, or Gemini's of any block

	Sealed, Item string // OpenAI's reasoning: encrypted, and its id
	Redacted     string // Anthropic's thinking that nobody may read

	ID, Name string          // of a call; Name is the type of an Other block, too
	Args     json.RawMessage // an object; for OpenAI any value
	Failed   bool            // the tool failed
	Content  []Block         // of a result: texts and files

	File Source
	Raw  json.RawMessage // the block as it is stored
}

// Source is where an image or a document is: one of Data, Plain, URL, ID and OpenAI.
type Source struct {
	Image bool
	Media string // its media type
	Data  string // base64
	Plain string // a document of plain text
	URL   string
	ID    string // of a file that Anthropic keeps
	Name  string // "" where it has none

	OpenAI string // the id of a file that OpenAI keeps
}

// dataURL returns the address of the kind data: for a source with Data.
func (s Source) dataURL() string { return "data:" + s.Media + ";base64," + s.Data }

// take takes an address, of the kind data: too.
func (s *Source) take(url string) {
	head, data, found := strings.Cut(url, ",")
	media, isBase64 := strings.CutSuffix(strings.TrimPrefix(head, "data:"), ";base64")
	if !found || !isBase64 || !strings.HasPrefix(url, "data:") {
		s.URL = url
		return
	}
	s.Media, s.Data = media, data
}

// isBase64 reports whether a text is base64 as Go writes it, of at least one byte.
func isBase64(text string) bool {
	data, err := base64.StdEncoding.Strict().DecodeString(text)
	return err == nil && len(data) > 0
}

// same reports whether two answers say the same. Blocks that are not stored are not compared,
// and a text may come in pieces.
func same(wire, stored []Block) bool {
	return slices.EqualFunc(whole(wire), whole(stored), func(a, b Block) bool {
		return a.Kind == b.Kind && a.Text == b.Text && a.Sign == b.Sign && a.Sealed == b.Sealed && a.Item == b.Item && a.Redacted == b.Redacted &&
			a.ID == b.ID && (a.Name == b.Name || a.Kind == File) && sameJSON(a.Args, b.Args) && a.File == b.File && (a.Kind != Other || sameJSON(a.Raw, b.Raw))
	})
}

// whole returns the blocks that are stored, the pieces of a text as one.
func whole(blocks []Block) (list []Block) {
	for _, b := range blocks {
		if b.stored() != nil || b.known() {
			list = join(list, []Block{b})
		}
	}
	return list
}

// join returns the blocks of an answer with more of it. The first of more may go on with the
// text or the thinking of the last block.
func join(blocks, more []Block) []Block {
	if len(blocks) > 0 && len(more) > 0 {
		last, next := &blocks[len(blocks)-1], more[0]
		if last.Kind == next.Kind && (last.Kind == Text || last.Kind == Thinking) && last.Sign+last.Item+last.Redacted+next.Item+next.Redacted == "" {
			last.Text, last.Sign = last.Text+next.Text, next.Sign
			more = more[1:]
		}
	}
	return append(blocks, more...)
}

// sameJSON reports whether two values are the same, whatever the order of members.
func sameJSON(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	var values [2]any
	for i, raw := range [...][]byte{a, b} {
		d := json.NewDecoder(bytes.NewReader(raw))
		d.UseNumber()
		if d.Decode(&values[i]) != nil {
			return false
		}
	}
	return reflect.DeepEqual(values[0], values[1])
}

// Typed reports whether raw is, in the types of an SDK, what it is as JSON, and reads it
// into v then. These types lack what is newer than they.
func Typed(raw []byte, v any) bool {
	if json.Unmarshal(raw, v) != nil {
		return false
	}
	again, err := json.Marshal(v)
	return err == nil && sameJSON(again, raw)
}
