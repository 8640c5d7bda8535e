package slice

import (
	"bytes"
	"fmt"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// builder builds a list of messages. It keeps the first error for done.
type builder struct {
	msgs []sessionstore.Message
	err  error
}

// keep adds a message as it is.
func (b *builder) keep(m sessionstore.Message) { b.msgs = append(b.msgs, m) }

// add adds a new message, given without its closing brace.
func (b *builder) add(open []byte) { b.parse(append(open, '}')) }

// parse adds the message of a line.
func (b *builder) parse(line []byte) {
	// A carriage return can only stand between members.
	m, err := sessionstore.ParseMessage(bytes.ReplaceAll(line, []byte{'\r'}, []byte{' '}))
	if err != nil && b.err == nil {
		b.err = fmt.Errorf("change messages: %w", err)
	}
	b.msgs = append(b.msgs, m)
}

// done returns the messages, or the first error.
func (b *builder) done() ([]sessionstore.Message, error) {
	if b.err != nil {
		return nil, b.err
	}
	return b.msgs, nil
}
