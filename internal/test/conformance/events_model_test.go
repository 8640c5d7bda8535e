package conformance

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/amplifier-go/sessionstorage/internal/format/jsonl"
	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/format/pytime"
)

// model tells what becomes of the log: by the reference without rules.
func (c sliceCase) model(t *testing.T, f *fired) sliceOutcome {
	t.Helper()
	o := sliceOutcome{Types: map[string]int{}}
	if c.Events == nil {
		o.Failed = "FileNotFoundError"
		if _, _, err := pytime.Parse(c.Cutoff); err != nil {
			o.Failed = "ValueError"
		}
		return o
	}
	if !utf8.ValidString(c.Events.String()) && !f.by(eventSkipped) {
		return c.reference(t) // how much is written depends on buffers
	}
	for l := range jsonl.Lines([]byte(c.Events.String())) {
		for part := range jsonl.SplitCR(l) {
			line := pyjson.TrimSpace(part.Bytes)
			switch err := pyjson.Check(line, pyjson.Tolerant); {
			case err == nil:
				c.sum(line, &o, f)
				c.cut(line, &o, f)
			case flawOf(err) == worse && !f.by(eventSkipped):
				return c.ended(o, err)
			}
		}
	}
	if _, _, err := pytime.Parse(c.Cutoff); err != nil {
		o.Count, o.Output, o.Failed = 0, "", "ValueError"
	}
	if o.Failed != "" {
		o.Count = 0
	}
	if o.SummaryFailed != "" {
		o.Types, o.First, o.Last = nil, "", ""
	}
	return o
}

// ended is what is left of o when the reference fails on a line that it cannot
// read: it counts and sums up nothing then.
func (c sliceCase) ended(o sliceOutcome, err error) sliceOutcome {
	name := "ValueError"
	if bad := (*pyjson.Error)(nil); errors.As(err, &bad) && bad.Reason == pyjson.TooDeep {
		name = "RecursionError"
	}
	if o.Failed == "" {
		o.Failed = name
	}
	if o.SummaryFailed == "" {
		o.SummaryFailed = name
	}
	return sliceOutcome{Failed: o.Failed, SummaryFailed: o.SummaryFailed, Output: o.Output}
}

// timeOf returns the time of an event in Python's sense: the first that is true.
func timeOf(line []byte) []byte {
	for _, name := range []string{"ts", "timestamp"} {
		if raw, _ := pyjson.Lookup(line, name); isTrue(raw) {
			return raw
		}
	}
	return nil
}

func (c sliceCase) sum(line []byte, o *sliceOutcome, f *fired) {
	if pyjson.KindOf(line) != pyjson.Object {
		if !f.by(eventSkipped) {
			o.Total++
			o.SummaryFailed = "AttributeError"
		}
		return
	}
	o.Total++
	if o.SummaryFailed != "" {
		return
	}
	name, ok := pyjson.Lookup(line, "event")
	switch k := pyjson.KindOf(name); {
	case !ok:
		o.Types["unknown"]++
	case k == pyjson.Object || k == pyjson.Array:
		if !f.by(eventUnknown) {
			o.SummaryFailed = "TypeError"
			return
		}
		o.Types["unknown"]++
	case k == pyjson.Null:
		o.Types["null"]++
	default:
		o.Types[timeText(name)]++
	}
	if at := timeOf(line); at != nil {
		shown := timeText(at)
		if k := pyjson.KindOf(at); (k == pyjson.Object || k == pyjson.Array) && f.by(eventSkipped) {
			shown = string([]byte{at[0], at[len(at)-1]})
		}
		if o.First == "" {
			o.First = shown
		}
		o.Last = shown
	}
}

// cut adds the line to the output if it is kept.
func (c sliceCase) cut(line []byte, o *sliceOutcome, f *fired) {
	if o.Failed != "" {
		return
	}
	if pyjson.KindOf(line) != pyjson.Object {
		if !f.by(eventSkipped) {
			o.Failed = "AttributeError"
		}
		return
	}
	cut, cutAware, err := pytime.Parse(c.Cutoff)
	if raw := timeOf(line); raw != nil && err == nil {
		at, aware, err := pytime.Parse(pyjson.Text(raw))
		switch {
		case pyjson.KindOf(raw) != pyjson.String || err != nil:
			if f.by(eventSkipped) {
				return
			}
			o.Failed = "ValueError"
			if pyjson.KindOf(raw) != pyjson.String {
				o.Failed = "AttributeError"
			}
			return
		case aware != cutAware && !f.by(eventNaive):
			o.Failed = "TypeError"
			return
		case at.After(cut):
			return
		}
	}
	if c.NewID != "" {
		line = c.renamed(line)
		if strings.Contains(string(line), `\ud`) && !f.by(eventSurrogate) {
			o.Failed = "UnicodeEncodeError"
			return
		}
	}
	o.Output += string(line) + "\n"
	o.Count++
}

// renamed is the line with its new ids.
func (c sliceCase) renamed(line []byte) []byte {
	line, _ = pyjson.Append(nil, line, pyjson.Style{})
	was, _ := pyjson.Lookup(line, "session_id")
	line = pyjson.Splice(line, "session_id", pyjson.Quote(c.NewID))
	if !isTrue(was) {
		return line
	}
	parent := was
	if c.Parent != "" {
		parent = pyjson.Quote(c.Parent)
	}
	return pyjson.Splice(line, "parent_session_id", parent)
}

// isTrue reports whether a member is there and true in Python's sense.
func isTrue(raw []byte) bool { return len(raw) > 0 && truthy(string(raw)) }
