package thread

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// user takes a line of the user. Its results go out with the calls.
func (r *Rendering) user(at int32) error {
	l, err := r.read(at)
	if err != nil {
		return err
	}
	rec := r.f.Table.Records.At(at)
	p := l.User()
	for _, kind := range p.Other {
		r.notes.block(kind)
	}
	if len(p.Said) == 0 && len(p.Parts) == 0 {
		if rec.Is(IsUser) && !rec.Is(HasResults) {
			r.Numbers[at] = whyEmpty
		}
		return nil
	}
	if err := r.flushAnswer(); err != nil {
		return err
	}
	s := said{p, []int32{at}, r.LastTime}
	if rec.Is(IsSummary) && r.prompt != nil {
		if err := r.unanswered(); err != nil {
			return err
		}
	}
	switch {
	case rec.Is(IsPerson) && r.prompt != nil:
		if len(r.prompt.Said) > 0 && !r.isEarly() { // texts of the tool between, as where a person interrupted
			for _, a := range r.asides {
				r.prompt.Said, r.prompt.lines = append(r.prompt.Said, r.aside(a)), append(r.prompt.lines, a.lines...)
			}
			r.asides = nil
		}
		r.prompt.join(p)
		r.prompt.lines = append(r.prompt.lines, at)
	case rec.Is(IsPerson):
		r.owing = r.owing || r.open // the answer had nothing to show
		if err := r.payAnswer(); err != nil {
			return err
		}
		r.prompt = &s
	case r.prompt != nil:
		r.asides = append(r.asides, s)
	default:
		return r.emitAside(s)
	}
	return nil
}

// flush sends out what is kept back: the answer, or the prompt and the texts that the tool
// wrote behind it.
func (r *Rendering) flush() error {
	if r.prompt == nil {
		return r.flushAnswer()
	}
	p := *r.prompt
	r.prompt = nil
	only := strings.Join(p.Said, "\n\n")
	m, err := sessionstore.Text("user", only, p.at)
	if len(p.Parts) > 0 {
		m, err = sessionstore.NewMessage(struct {
			Role    string            `json:"role"`
			Content []json.RawMessage `json:"content"`
		}{"user", p.blocks("\n\n")})
		if err != nil { // parts that no file can hold, such as an endless number
			r.notes.block("not-storable")
			m, err = sessionstore.Text("user", strings.TrimSpace(only+"\n\n"+NotText), p.at)
		}
	}
	if err := r.send(m, err, p.at, p.lines); err != nil {
		return err
	}
	r.Turns++
	r.called(p.Said)
	r.open = true
	asides := r.asides
	r.asides = nil
	for _, s := range asides {
		if err := r.emitAside(s); err != nil {
			return err
		}
	}
	return nil
}

// called keeps the names that a prompt that goes out would give the session.
func (r *Rendering) called(said []string) {
	typed, command := TitleIn(said...)
	if r.First == "" {
		r.First = firstLine(strings.Join(said, "\n"))
	}
	if r.Turns <= r.shared+1 {
		r.Own, r.Command = typed, command
	}
	r.Own, r.Command = cmp.Or(r.Own, typed), cmp.Or(r.Command, command)
}

// emitAside sends out texts that the tool wrote in the user's name.
func (r *Rendering) emitAside(s said) error {
	m, err := sessionstore.Text("user", r.aside(s), s.at)
	return r.send(m, err, s.at, s.lines)
}

func (r *Rendering) aside(s said) string {
	for range s.Parts {
		s.UserParts.Said = append(s.UserParts.Said, NotText)
		r.notes.block("tool-image")
	}
	return reminder(strings.Join(s.Said, "\n\n"))
}

// unanswered sends out the prompt before the summary of a compaction. The summary has the
// answer.
func (r *Rendering) unanswered() error {
	if err := r.flush(); err != nil {
		return err
	}
	r.owing = true
	return r.payAnswer()
}

// gather adds the lines of one response to the answer. Lines beside the chain add
// calls only: the others are repetitions.
func (r *Rendering) gather(lines []int32) error {
	a, most, model := r.answer, Usage{}, ""
	for _, at := range lines {
		l, err := r.read(at)
		if err != nil {
			return err
		}
		p := l.Answer()
		if a.at.IsZero() {
			a.at = r.LastTime
		}
		took := false
		if r.f.Table.Records.At(at).Is(onLine) {
			a.Said, a.Thought, took = append(a.Said, p.Said...), append(a.Thought, p.Thought...), true
			for _, kind := range p.Other {
				r.notes.block(kind)
			}
		}
		for _, c := range p.Calls {
			took = r.call(c) || took
		}
		r.Numbers[at] = whyRepeated // it is taken; a line of the answer gets its number when that goes out
		if took {
			a.lines = append(a.lines, at)
		}
		named, used := l.Spent()
		most.Most(used)
		if named != "" {
			model = named
		}
	}
	if model != "" {
		r.Model = model
		r.spend(most)
	}
	return nil
}

// call adds a call to the answer, and reports whether it was not there yet.
func (r *Rendering) call(c sessionstore.ToolCall) bool {
	a, h := r.answer, Hash(c.ID)
	if c.ID != "" && slices.Contains(a.hashes, h) {
		return false
	}
	c.ID = r.callID(c.ID, h)
	c.Name = clean(c.Name, "tool")
	a.Calls, a.hashes = append(a.Calls, c), append(a.hashes, h)
	return true
}

// callID returns an id that all providers allow and no other call has.
func (r *Rendering) callID(id string, h uint64) string {
	fit := clean(id, "call")
	if fit == id && !r.f.Table.repeated[h] {
		return id
	}
	r.used[fit]++
	return fit[:min(len(fit), 44)] + "-" + strconv.Itoa(r.used[fit]) + "-" + strconv.FormatUint(h%(1<<32), 36)
}

// clean returns a name of at most 64 letters, digits, _ and -.
func clean(s, empty string) string {
	b := []byte(s)
	for i, c := range b {
		if !isName(string(c)) {
			b[i] = '_'
		}
	}
	if len(b) == 0 {
		return empty
	}
	return string(b[:min(len(b), 64)])
}

// flushAnswer sends out the answer and the results of its calls.
func (r *Rendering) flushAnswer() error {
	a := r.answer
	if a == nil {
		return nil
	}
	r.answer = nil
	if len(a.Said) == 0 && len(a.Calls) == 0 {
		why := whyEmpty
		if len(a.Thought) > 0 {
			why = whyThinking
		}
		for _, at := range a.lines {
			r.Numbers[at] = why
		}
		return nil
	}
	if r.messages == 0 {
		if err := r.add("user", reminder(noBeginning)); err != nil {
			return err
		}
	}
	text, thought := strings.Join(a.Said, "\n\n"), strings.Join(a.Thought, "\n\n")
	m, err := sessionstore.Text("assistant", text, a.at)
	if len(a.Calls) > 0 {
		if m, err = sessionstore.ToolCallMessage(text, a.at, a.Calls...); err != nil { // arguments that no file can hold, such as an endless number
			for i := range a.Calls {
				a.Calls[i].Arguments = nil
			}
			r.notes.block("not-storable")
			m, err = sessionstore.ToolCallMessage(text, a.at, a.Calls...)
		}
	}
	if err == nil && thought != "" {
		m, err = m.With("thinking_text", thought)
	}
	if err := r.send(m, err, a.at, a.lines); err != nil {
		return err
	}
	r.owing, r.open = false, false
	for i, c := range a.Calls {
		if err := r.result(c, a.hashes[i], a.at); err != nil {
			return err
		}
		r.owing = true
	}
	return nil
}

// result sends out the result of a call: the first on the line, else the first
// beside it.
func (r *Rendering) result(c sessionstore.ToolCall, h uint64, asked time.Time) error {
	best := int32(-1)
	for _, res := range r.f.Table.ResultsOf(h) {
		rec := r.f.Table.Records.At(res.At)
		if rec.Is(IsRepeated) || r.Numbers[res.At] > 0 && r.f.Table.repeated[h] {
			continue
		}
		if best < 0 || rec.Is(onLine) && !r.f.Table.Records.At(best).Is(onLine) {
			best = res.At
		}
	}
	if best >= 0 {
		l, err := r.read(best)
		if err != nil {
			return err
		}
		if p, found := l.Result(h, r.isEarly()); found {
			m, err := resultMessage(c, p, r.LastTime)
			if err != nil && len(p.Parts) > 0 { // parts that no file can hold
				r.notes.block("not-storable")
				p, _ = l.Result(h, true)
				m, err = resultMessage(c, p, r.LastTime)
			}
			for _, kind := range p.Other {
				r.notes.block("result-" + kind)
			}
			return r.send(m, err, r.LastTime, []int32{best})
		}
	}
	m, err := resultMessage(c, UserParts{Said: Texts{noResult}}, asked)
	return r.send(m, err, asked, nil)
}
