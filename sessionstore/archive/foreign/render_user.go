package foreign

import (
	"encoding/json"
	"strings"

	"github.com/amplifier-go/sessionstorage/internal/pyjson"
)

// user takes a line of the user. Its results go out with the calls.
func (r *rendering) user(at int32) error {
	l, err := r.read(at)
	if err != nil {
		return err
	}
	rec := r.t.records.at(at)
	p := l.user()
	for _, kind := range p.other {
		r.report.block(kind)
	}
	if len(p.said) == 0 && len(p.parts) == 0 {
		if rec.is(isUser) && !rec.is(hasResults) {
			r.numbers[at] = number(whyEmpty)
		}
		return nil
	}
	if err := r.flushAnswer(); err != nil {
		return err
	}
	s := said{p, []int32{at}, r.lastTime}
	if rec.is(isSummary) && r.prompt != nil {
		if err := r.unanswered(); err != nil {
			return err
		}
	}
	switch {
	case rec.is(isPerson) && r.prompt != nil:
		r.prompt.parts = append(r.prompt.parts, p.parts...)
		r.prompt.said = append(r.prompt.said, p.said...)
		r.prompt.lines = append(r.prompt.lines, at)
	case rec.is(isPerson):
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

// flushUser sends out the prompt and what the tool wrote behind it.
func (r *rendering) flushUser() error {
	if r.prompt == nil {
		return nil
	}
	if err := r.flushAnswer(); err != nil {
		return err
	}
	p := *r.prompt
	r.prompt = nil
	if err := r.emitUser(p); err != nil {
		return err
	}
	r.turns++
	r.called(p.said)
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

// called keeps by what the session may be called, of a prompt that goes out.
func (r *rendering) called(said []string) {
	typed, command := titleIn(said...)
	if r.first == "" {
		r.first = firstLine(strings.Join(said, "\n"))
	}
	if r.turns <= r.shared+1 {
		r.own, r.command = typed, command
	}
	r.own, r.command = firstOf(r.own, typed), firstOf(r.command, command)
}

func (r *rendering) emitUser(s said) error {
	o := r.origin(s.at, s.lines)
	only := strings.Join(s.said, "\n\n")
	var parts []json.RawMessage
	if len(s.parts) > 0 {
		parts = append(parts, s.parts...)
		if only != "" {
			parts = append(parts, textBlock(only))
		}
	}
	m, err := o.userMessage(parts, only)
	if err != nil && len(parts) > 0 { // what no file can hold, such as an endless number
		r.report.block("not-storable")
		m, err = o.userMessage(nil, strings.TrimSpace(only+"\n\n"+notText))
	}
	return r.send(m, err, s.lines)
}

func textBlock(s string) json.RawMessage {
	row := pyjson.AppendQuoted([]byte(`{"type": "text", "text": `), s, pyjson.Style{Replace: true})
	return append(row, '}')
}

// emitAside sends out what the tool wrote in the user's name.
func (r *rendering) emitAside(s said) error {
	for range s.parts {
		s.userParts.said = append(s.userParts.said, notText)
		r.report.block("tool-image")
	}
	m, err := r.origin(s.at, s.lines).userMessage(nil, reminder(strings.Join(s.said, "\n\n")))
	return r.send(m, err, s.lines)
}

// unanswered sends out the prompt before the summary of a compaction, which has
// what was answered.
func (r *rendering) unanswered() error {
	if err := r.flushUser(); err != nil {
		return err
	}
	r.owing = true
	return r.payAnswer()
}
