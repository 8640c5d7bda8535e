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

// Maker makes the lines of one tool. One whose files have the name of their session has a method
// Name(name string, byPerson bool) error, too, which writes it; one with a folder for each session has
// Further() (map[string][]byte, error), which returns the files that belong beside a new one, by their names.
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

// Sign adds the marks of an export to a line.
func (m Made) Sign(row map[string]any) {
	row[ExportMember] = m.Mark
	if m.Seal != "" {
		row[SealMember] = m.Seal
	}
}

// Shown is a text of a message, or an image in base64.
type Shown struct {
	Text        json.RawMessage // the block of a text; nil: it is an image
	Media, Data string
}

// Shown returns the texts and images of a message. An image that is only named is a text.
func (m Made) Shown() (all []Shown) {
	for _, b := range m.Blocks {
		f := Members(b, "type", "source")
		source := Members(f[1], "media_type", "data", "url")
		switch {
		case Text(f[0]) != "image":
			all = append(all, Shown{Text: b})
		case Text(source[2]) != "":
			all = append(all, Shown{Text: TextBlock(Text(source[2]))})
		default:
			all = append(all, Shown{Media: Text(source[0]), Data: Text(source[1])})
		}
	}
	if len(all) == 0 {
		all = append(all, Shown{Text: TextBlock(m.Said)})
	}
	return all
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
	Named          time.Time // when it got its name; zero: not known
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
