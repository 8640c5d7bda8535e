package conversation

import (
	"slices"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/format/limits"
	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/slice"
)

// Limits say how many bytes of a text are shown; 0 is all of it. A text is cut at
// the end of a character, and only where it is more than a quarter longer: a little
// more is not worth a click.
type Limits struct {
	Text int // of texts and thoughts
	Tool int // of arguments and results
}

// Text is a text, cut where it is longer than the limit.
type Text struct {
	Text string `json:"text"`
	Size int    `json:"size"` // in bytes, of the whole
	Cut  bool   `json:"cut,omitempty"`
}

// Message is a message in the form for people.
type Message struct {
	N         int      `json:"n"`                   // its index, from 0
	Role      string   `json:"role"`                // "" where it has none
	Time      string   `json:"time,omitempty"`      // in UTC, as time.RFC3339; "" where it is unknown
	Turn      int      `json:"turn"`                // from 1; 0: before the first
	Starts    bool     `json:"starts,omitempty"`    // it begins the turn
	Injected  bool     `json:"injected,omitempty"`  // a program wrote it in the user's name, as a reminder
	Text      *Text    `json:"body,omitempty"`      // its text; nil if it has none
	Thinking  *Text    `json:"thinking,omitempty"`  // the model's thoughts before it; nil if there are none
	Files     []File   `json:"files,omitempty"`     // images and other files in it, without those of results
	Calls     []Call   `json:"calls,omitempty"`     // in their order in the message
	Results   []Result `json:"results,omitempty"`   // those that no call shows
	Elsewhere bool     `json:"elsewhere,omitempty"` // it has nothing but results that calls show
}

// Call is the call of a tool in the form for people.
type Call struct {
	ID        string  `json:"id"`   // "" where it has none
	Name      string  `json:"name"` // of the tool
	Arguments Text    `json:"arguments"`
	Result    *Result `json:"result,omitempty"`    // nil where it has none
	Orphan    bool    `json:"orphan,omitempty"`    // it has no result
	Misplaced bool    `json:"misplaced,omitempty"` // its result is in a place where providers refuse it
}

// Result is the result of a call in the form for people.
type Result struct {
	N    int    `json:"n"`  // index of its message
	ID   string `json:"id"` // of the call
	Text Text   `json:"body"`

	Files []File `json:"files,omitempty"` // images and other files in it
}

// Messages returns the messages with an index of at least from and below to, as
// far as there are any, with texts cut to the limits.
func (c *View) Messages(from, to int, lim Limits) []Message {
	from = min(max(from, 0), len(c.rows))
	to = min(max(to, from), len(c.rows))
	out := make([]Message, 0, to-from)
	for i := range to - from {
		out = append(out, c.message(from+i, lim))
	}
	return out
}

func (c *View) message(i int, lim Limits) Message {
	m, r, known := c.msgs[i], &c.rows[i], contents{}
	v := Message{N: i, Role: m.Role(), Turn: r.turn, Starts: r.starts}
	if at, ok := m.Timestamp(); ok {
		v.Time = at.UTC().Format(time.RFC3339)
	}
	v.Injected = v.Role == "user" && len(r.results) == 0 && !slice.IsRealUser(m)
	if v.Role != "tool" {
		v.Text = some(contentText(m), lim.Text)
	}
	v.Thinking = some(thinking(m), lim.Text)
	for k := range r.calls {
		v.Calls = append(v.Calls, c.call(known, &r.calls[k], lim))
	}
	for _, res := range r.results {
		if res.call < 0 {
			v.Results = append(v.Results, c.result(known, place{i, res.block}, res.id, lim))
		}
	}
	for _, f := range c.content(known, i).files {
		if v.Role != "tool" && !slices.ContainsFunc(r.results, func(res result) bool { return res.block == f.block }) {
			v.Files = append(v.Files, f)
		}
	}
	v.Elsewhere = len(r.results) > 0 && len(v.Results) == 0 && v.Text == nil && len(v.Files) == 0
	return v
}

// contents holds the blocks and the files of some messages, by index: a message may have
// thousands of results.
type contents map[int]content

type content struct {
	blocks [][]byte
	files  []File
}

// content returns the blocks and the files of message i.
func (c *View) content(known contents, i int) content {
	v, ok := known[i]
	if !ok {
		v = content{blocks(c.msgs[i]), Files(c.msgs[i])}
		for k := range v.files {
			v.files[k].N = i
		}
		known[i] = v
	}
	return v
}

// result returns the result at a place: the message as a whole, or a block of it.
func (c *View) result(known contents, at place, id string, lim Limits) Result {
	v, all, text := Result{N: at.row, ID: id}, c.content(known, at.row), ""
	if at.block < 0 {
		text = contentText(c.msgs[at.row])
	} else {
		raw, _ := pyjson.Lookup(all.blocks[at.block], "content")
		text = valueText(raw)
	}
	v.Text = cut(text, lim.Tool)
	for _, f := range all.files {
		if at.block < 0 || f.block == at.block {
			v.Files = append(v.Files, f)
		}
	}
	return v
}

func (c *View) call(known contents, k *call, lim Limits) Call {
	v := Call{ID: k.ID, Name: k.Name, Arguments: cut(string(k.Arguments), lim.Tool), Orphan: k.from.row < 0, Misplaced: k.astray}
	if k.from.row >= 0 {
		res := c.result(known, k.from, k.ID, lim)
		v.Result = &res
	}
	return v
}

func some(s string, limit int) *Text {
	if s == "" {
		return nil
	}
	t := cut(s, limit)
	return &t
}

// cut shortens s to about limit bytes at the end of a character.
func cut(s string, limit int) Text {
	t := Text{Text: s, Size: len(s)}
	if limit > 0 && len(s) > limit+limit/4 {
		t.Text, t.Cut = limits.Cut(s, limit), true
	}
	return t
}
