package conformance

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/amplifier-go/sessionstorage/internal/jsonl"
	"github.com/amplifier-go/sessionstorage/internal/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/pytime"
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
			if line := pyjson.TrimSpace(part.Bytes); pyjson.Check(line, pyjson.Tolerant) == nil {
				c.sum(line, &o, f)
				c.cut(line, &o, f)
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
		if o.First == "" {
			o.First = timeText(at)
		}
		o.Last = timeText(at)
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
	line = pyjson.Splice(line, "session_id", pyjson.AppendQuoted(nil, c.NewID, pyjson.Style{}))
	if !isTrue(was) {
		return line
	}
	parent := was
	if c.Parent != "" {
		parent = pyjson.AppendQuoted(nil, c.Parent, pyjson.Style{})
	}
	return pyjson.Splice(line, "parent_session_id", parent)
}

// isTrue reports whether a member is there and true in Python's sense.
func isTrue(raw []byte) bool { return len(raw) > 0 && truthy(string(raw)) }
