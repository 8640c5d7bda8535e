package sessionstore

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"regexp"
	"time"
	"unicode/utf8"

	"github.com/amplifier-go/sessionstorage/internal/format/nfc"
	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
)

// Sought is the text or expression that [Store.Search] looks for.
type Sought struct {
	Text   string         // in upper or lower case, with accents composed or decomposed
	Regexp *regexp.Regexp // in place of Text; nil: Text is looked for
	Tools  bool           // the calls of tools and their results are searched, too: arguments as JSON and each of their strings
	Role   string         // who said it: "user", "assistant", or "tool" for results alone, with or without Tools; "": anyone
	Each   int            // the most messages to find in a session; 0: all
}

// Hit is a message with a match.
type Hit struct {
	Message int       // its number, from 1
	Turn    int       // the number of its turn, from 1; 0: it comes before the first turn
	Role    string    // tool for a result of a tool, also where it is a block of a user's message
	Time    time.Time // of the message; zero: unknown

	// The first match in the message, up to 500 bytes of it, and up to 60 bytes of text
	// on each side. No character is cut. An ellipsis replaces more text there.
	Before, Text, After string
}

const (
	hitBytes    = 500
	aroundBytes = 60
)

// Search yields the messages of a session that match sought, in their order. It looks at
// the texts of people and models, each text by itself, and reads the session as
// [Store.Messages] does. The error comes last.
func (st *Store) Search(ctx context.Context, id string, sought Sought) iter.Seq2[Hit, error] {
	return func(yield func(Hit, error) bool) {
		err := st.admit(ctx)
		if err != nil {
			yield(Hit{}, wrap("search", id, err))
			return
		}
		defer st.calls.Done()
		pattern, err := sought.pattern()
		if err != nil {
			yield(Hit{}, wrap("search", id, err))
			return
		}
		h, hits, more := Hit{}, 0, true
		err = st.stream(ctx, id, func(m Message) bool {
			h.Message++
			if m.m.places.role == userRole && m.rowOf().Begins {
				h.Turn++
			}
			if sought.in(m, pattern, &h) {
				hits++
				h.Time, _ = m.Timestamp()
				more = yield(h, nil) && hits != sought.Each
			}
			return more
		})
		if err != nil && more {
			yield(Hit{}, wrap("search", id, err))
		}
	}
}

// pattern returns the expression to look for.
func (s *Sought) pattern() (*regexp.Regexp, error) {
	switch {
	case s.Role != "" && s.Role != "user" && s.Role != "assistant" && s.Role != "tool":
		return nil, errors.New("the role to find is none of user, assistant and tool")
	case s.Regexp != nil:
		return s.Regexp, nil
	case s.Text == "":
		return nil, errors.New("the text to find is empty")
	}
	return regexp.Compile("(?i)" + nfc.Expression(s.Text))
}

// in reports whether the message matches pattern, and notes the match in h.
func (s *Sought) in(m Message, pattern *regexp.Regexp, h *Hit) bool {
	h.Role = m.Role()
	tools, wanted := s.Tools || s.Role == "tool", s.Role == "" || s.Role == h.Role
	if wanted && (tools || h.Role != "tool") && h.found(m.Content(), pattern) {
		return true
	}
	if !tools {
		return false
	}
	if s.Role == "" || s.Role == "tool" {
		for text := range m.results() {
			if h.found(text, pattern) {
				h.Role = "tool"
				return true
			}
		}
	}
	if !wanted {
		return false
	}
	for _, call := range m.ToolCalls() {
		if h.found(call.Name+" "+string(call.Arguments), pattern) {
			return true
		}
		for text := range stringsIn(call.Arguments) {
			if h.found(text, pattern) {
				return true
			}
		}
	}
	return false
}

// results yields the texts of the results of tools that are blocks of the message.
func (m Message) results() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, f := range pyjson.Pick(m.blocks(), "type", "content") {
			switch kind := pyjson.KindOf(f[1]); {
			case !pyjson.KeyIs(f[0], "tool_result"):
			case kind == pyjson.String && !yield(pyjson.Text(f[1])):
				return
			case kind == pyjson.Array:
				for _, t := range pyjson.Pick(f[1], "type", "text") {
					if pyjson.KeyIs(t[0], "text") && !yield(pyjson.Text(t[1])) {
						return
					}
				}
			}
		}
	}
}

// stringsIn yields the text of each string of a JSON value, names too. What follows a
// malformed string is left out.
func stringsIn(value []byte) iter.Seq[string] {
	return func(yield func(string) bool) {
		for at := bytes.IndexByte(value, '"'); at >= 0; at = bytes.IndexByte(value, '"') {
			end := pyjson.SkipString(value, at+1)
			if end < 0 || !yield(pyjson.Text(value[at:end])) {
				return
			}
			value = value[end:]
		}
	}
}

// found notes the first match of pattern in text, and reports whether there is one.
func (h *Hit) found(text string, pattern *regexp.Regexp) bool {
	at := pattern.FindStringIndex(text)
	if at == nil || at[0] == at[1] {
		return false
	}
	from, to := at[0], at[1]
	first, last := max(0, from-aroundBytes), min(len(text), to+aroundBytes)
	for first < from && !utf8.RuneStart(text[first]) {
		first++
	}
	h.Before, h.Text, h.After = text[first:from], text[from:to], text[to:wholeRunes(text, to, last)]
	if to-from > hitBytes {
		h.Text = text[from:wholeRunes(text, from, from+hitBytes)]
	}
	if first > 0 {
		h.Before = "…" + h.Before
	}
	if last < len(text) {
		h.After += "…"
	}
	return true
}

// wholeRunes returns the last place up to at, but not before begin, where a character
// begins or the text ends.
func wholeRunes(text string, begin, at int) int {
	for at > begin && at < len(text) && !utf8.RuneStart(text[at]) {
		at--
	}
	return at
}
