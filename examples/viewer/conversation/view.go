package conversation

import (
	"time"
	"unicode/utf8"

	"github.com/amplifier-go/sessionstorage/slice"
)

// Limits say how many bytes of a text are shown; 0 is all of it.
type Limits struct{ Text, Tool int }

// brief are the limits of a list of messages.
var brief = Limits{Text: 4000, Tool: 1200}

// Text is a text, cut where it is longer than the limit.
type Text struct {
	Text string `json:"text"`
	Size int    `json:"size"` // in bytes, of the whole
	Cut  bool   `json:"cut,omitempty"`
}

// Message is what a page shows of a message.
type Message struct {
	N         int      `json:"n"` // its index
	Role      string   `json:"role"`
	Time      string   `json:"time,omitempty"`
	Turn      int      `json:"turn"`
	Starts    bool     `json:"starts,omitempty"`   // it begins the turn
	Injected  bool     `json:"injected,omitempty"` // written in the user's name
	Text      *Text    `json:"body,omitempty"`
	Thinking  *Text    `json:"thinking,omitempty"`
	Calls     []Call   `json:"calls,omitempty"`
	Results   []Result `json:"results,omitempty"` // those that no call shows
	Elsewhere bool     `json:"elsewhere,omitempty"`
}

// Call is what a page shows of a call.
type Call struct {
	ID        string  `json:"id"`
	Name      string  `json:"name"`
	Arguments Text    `json:"arguments"`
	Result    *Result `json:"result,omitempty"`
	Orphan    bool    `json:"orphan,omitempty"`
	Misplaced bool    `json:"misplaced,omitempty"`
}

// Result is what a page shows of a result.
type Result struct {
	N    int    `json:"n"` // index of its message
	ID   string `json:"id"`
	Text Text   `json:"body"`
}

// Brief returns the messages from a up to b, with long texts cut.
func (c *Rows) Brief(a, b int) []Message {
	a = min(max(a, 0), len(c.rows))
	b = min(max(b, a), len(c.rows))
	out := make([]Message, 0, b-a)
	for i := a; i < b; i++ {
		out = append(out, c.message(i, brief))
	}
	return out
}

// Whole returns the message i with all of its texts, and false when there is
// none.
func (c *Rows) Whole(i int) (Message, bool) {
	if i < 0 || i >= len(c.rows) {
		return Message{}, false
	}
	return c.message(i, Limits{}), true
}

// Line returns the bytes of message i as they stand in the transcript.
func (c *Rows) Line(i int) ([]byte, bool) {
	if i < 0 || i >= len(c.rows) {
		return nil, false
	}
	return c.msgs[i].AppendTo(nil), true
}

func (c *Rows) message(i int, lim Limits) Message {
	m, r := c.msgs[i], &c.rows[i]
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
		v.Calls = append(v.Calls, c.call(&r.calls[k], lim))
	}
	for _, res := range r.results {
		if res.call < 0 {
			v.Results = append(v.Results, Result{i, res.id, cut(resultText(m, res.block), lim.Tool)})
		}
	}
	v.Elsewhere = len(r.results) > 0 && len(v.Results) == 0 && v.Text == nil
	return v
}

func (c *Rows) call(k *call, lim Limits) Call {
	v := Call{ID: k.ID, Name: k.Name, Arguments: cut(string(k.Arguments), lim.Tool), Orphan: k.from.row < 0, Misplaced: k.astray}
	if k.from.row >= 0 {
		v.Result = &Result{k.from.row, k.ID, cut(resultText(c.msgs[k.from.row], k.from.block), lim.Tool)}
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
	if limit > 0 && len(s) > limit+limit/4 { // a little more is not worth a click
		for !utf8.RuneStart(s[limit]) {
			limit--
		}
		t.Text, t.Cut = s[:limit], true
	}
	return t
}
