package foreign

import (
	"bufio"
	"encoding/json"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/pyjson"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// lineMaker makes the lines of one tool.
type lineMaker interface {
	// begin writes what a file begins with.
	begin() error

	// join goes on behind the tool's own lines: from the record with the id parent,
	// or, where that is "", without what stands there. whole tells that all of it
	// is part of the conversation.
	join(parent string, whole bool) error

	message(m made) error

	// file returns the name of the file that was written.
	file() string
}

// made is a message that lines are made of.
type made struct {
	sessionstore.Message
	at       time.Time
	key      string            // differs for each line of each message
	mark     string            // what its lines tell of it, see exportMember
	reminder bool              // no person wrote it
	said     string            // its texts
	blocks   []json.RawMessage // its texts and images
}

// about is what lines tell of the session.
type about struct {
	id, dir, model string
	began          time.Time
}

// lineWriter writes lines, and knows whether the last one ended.
type lineWriter struct {
	out  *bufio.Writer // not embedded: all bytes go through Write
	open bool
}

// Write is that of io.Writer.
func (w *lineWriter) Write(b []byte) (int, error) {
	if len(b) > 0 {
		w.open = b[len(b)-1] != '\n'
	}
	return w.out.Write(b)
}

// Flush writes what is left in memory.
func (w *lineWriter) Flush() error { return w.out.Flush() }

// row writes a value as a line of its own.
func (w *lineWriter) row(v any) error {
	b, err := pyjson.Encode(v)
	if err != nil {
		return err
	}
	if w.open {
		b = append([]byte{'\n'}, b...)
	}
	_, err = w.Write(append(b, '\n'))
	return err
}

// stamp returns a time as the tools write it.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
