package thread

import (
	"bufio"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// Maker makes the lines of one tool.
type Maker interface {
	// Begin writes the beginning of a file.
	Begin() error

	// Join goes on behind the tool's own lines: from the record with the id parent, or,
	// where that is "", without the conversation before. whole says that all of it is part
	// of the conversation.
	Join(parent string, whole bool) error

	Message(m Made) error

	// File returns the name of the file that was written, for tools with a folder for each
	// session with that and a slash.
	File() string

	// Further returns the files that belong into the folder of a new file, by their names.
	Further() (map[string][]byte, error)
}

// Made is a message that lines are made of.
type Made struct {
	sessionstore.Message
	At       time.Time
	Key      string            // differs for each line of each message
	Mark     string            // names the message in its lines, see ExportMember
	Seal     string            // see SealMember; "" for a message as it is
	Reminder bool              // no person wrote it
	Said     string            // its texts
	Blocks   []json.RawMessage // its texts and images
}

// Pictured returns the texts and images of a result that has an image, nil for another one:
// then its texts are all of it.
func (m Made) Pictured() []json.RawMessage {
	is := func(kind string) func(b json.RawMessage) bool {
		return func(b json.RawMessage) bool { return Text(Members(b, "type")[0]) == kind }
	}
	if !slices.ContainsFunc(m.Blocks, is("image")) {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(m.Blocks), func(b json.RawMessage) bool { // no provider takes blank ones
		return is("text")(b) && strings.TrimSpace(Text(Members(b, "text")[0])) == ""
	})
}

// About describes the session in the lines.
type About struct {
	ID, Dir, Model string
	Name           string // of the session; "" where it has none
	Home           string // the directory of the tool on this machine
	Began          time.Time
}

// LineWriter writes lines, and knows whether the last one ended.
type LineWriter struct {
	Out  *bufio.Writer // not embedded: all bytes go through Write
	open bool
}

// Write is the method of io.Writer.
func (w *LineWriter) Write(b []byte) (int, error) {
	if len(b) > 0 {
		w.open = b[len(b)-1] != '\n'
	}
	return w.Out.Write(b)
}

// Flush writes the bytes that are still in memory.
func (w *LineWriter) Flush() error { return w.Out.Flush() }

// Row writes a value as a line of its own.
func (w *LineWriter) Row(v any) error {
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

// Stamp returns a time as the tools write it.
func Stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
