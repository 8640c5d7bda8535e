package accept

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// fixer fixes a conversation step by step.
type fixer struct {
	rules
	scale       Scaler
	given       []sessionstore.Message
	pieces      []piece
	dropReasons map[int][]Reason // why given messages are dropped or moved
	err         error            // the first
}

// piece is a message of the conversation as far as it is mended.
type piece struct {
	msg     sessionstore.Message
	row     int // of the given message that it is or replaces, or -1
	changed bool
	moved   bool
	why     []Reason
}

func (m *fixer) start() {
	m.dropReasons = map[int][]Reason{}
	m.pieces = make([]piece, len(m.given))
	for i, msg := range m.given {
		m.pieces[i] = piece{msg: msg, row: i}
	}
}

// parse returns the message of a line.
func (m *fixer) parse(line []byte) sessionstore.Message {
	msg, err := sessionstore.ParseMessage(bytes.ReplaceAll(line, []byte{'\r'}, []byte{' '})) // it can only be between members
	if err != nil && m.err == nil {
		m.err = fmt.Errorf("change messages: %w", err)
	}
	return msg
}

// replace gives piece i another line, for those reasons.
func (m *fixer) replace(i int, line []byte, why ...Reason) {
	p := &m.pieces[i]
	p.msg, p.changed = m.parse(line), true
	p.addReasons(why...)
}

// addReasons adds the reasons why a piece was changed, each once.
func (p *piece) addReasons(why ...Reason) {
	for _, reason := range why {
		if !slices.Contains(p.why, reason) {
			p.why = append(p.why, reason)
		}
	}
}

// noteDrop notes why a given message may be dropped.
func (m *fixer) noteDrop(row int, why Reason) {
	if !slices.Contains(m.dropReasons[row], why) {
		m.dropReasons[row] = append(m.dropReasons[row], why)
	}
}

func (m *fixer) messages() []sessionstore.Message {
	msgs := make([]sessionstore.Message, len(m.pieces))
	for i, p := range m.pieces {
		msgs[i] = p.msg
	}
	return msgs
}

// rows returns the parts of the pieces that are sent.
func (m *fixer) rows() []sent {
	rows, _, _ := m.read(each(m.messages())) // no error: they are read
	return rows
}
