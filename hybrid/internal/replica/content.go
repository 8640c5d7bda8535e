package replica

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"maps"

	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
)

// Session is the known state of a session's files.
type Session struct {
	ID       string `json:"id"`
	State    State  `json:"state,omitempty"`
	Revision int64  `json:"rev,omitempty"` // of the head that the files are in step with
	N        int64  `json:"n,omitempty"`   // messages here
	Remote   int64  `json:"r,omitempty"`   // messages there
	Logs     bool   `json:"logs,omitempty"`
	Stat     Stat   `json:"stat,omitzero"`
}

// State is the reason why a session needs no sync while its files do not change, or
// [Open] when there is none.
type State string

// The states.
const (
	InStep  State = ""        // the files match the head; with Logs other devices' logs are here, too
	Deleted State = "deleted" // the cloud deleted it, and the files stay
	Private State = "denied"  // a rule keeps it here
	Gone    State = "gone"    // it was here, and was removed
	Open    State = "open"    // it needs a sync
)

// Entry is an entry of the catalogue as it was read last.
type Entry struct {
	SID      string `json:"sid"`
	Session  string `json:"id"`
	Parent   string `json:"parent,omitempty"`
	Name     string `json:"name,omitempty"`
	Revision int64  `json:"rev"`
	Version  string `json:"v,omitempty"`
	Written  int64  `json:"w,omitempty"` // by the remote's clock, in seconds since 1970; 0: an earlier program read it
	Updated  int64  `json:"at"`          // in nanoseconds since 1970
	N        int64  `json:"n,omitempty"`
	Turns    int    `json:"turns,omitempty"`
	Deleted  bool   `json:"deleted,omitempty"`
	Conflict bool   `json:"conflict,omitempty"`
	Round    int    `json:"round"` // in which it was read
}

// Cursor records how far the catalogue was read.
type Cursor struct {
	Round int    `json:"round"`          // how often reading began anew; 0: it never began
	Began int64  `json:"began"`          // when the round began, in seconds by this machine's clock
	Since int64  `json:"since"`          // all entries written before that are known, in seconds by the service's clock
	Next  string `json:"next,omitempty"` // the last key that was read of a list that was interrupted
	List  int64  `json:"list,omitempty"` // when that list began, by the service's clock
	New   int64  `json:"new,omitempty"`  // when its newest entry was written
	Whole bool   `json:"whole"`          // the round has come to the end of the catalogue

	Last     string `json:"last,omitempty"` // the entry that was read last, which shows that the catalogue is still the same
	Revision int64  `json:"rev,omitempty"`  // its revision
}

// content is the content of a table.
type content struct {
	sessions map[string]Session // by id
	entries  map[string]Entry   // by SID
	cursor   Cursor
}

func empty() content { return content{sessions: map[string]Session{}, entries: map[string]Entry{}} }

// batch are changes that are made together: a line of the file. A Save writes
// one; a file of the former name has several.
type batch struct {
	Void     bool      `json:"void,omitempty"` // all earlier lines are void
	Sessions []Session `json:"s,omitempty"`
	Entries  []Entry   `json:"e,omitempty"`
	Cursor   *Cursor   `json:"c,omitempty"`
}

// apply makes the changes of a batch.
func (c *content) apply(b *batch) {
	if b.Void {
		*c = empty()
	}
	for _, s := range b.Sessions {
		c.sessions[s.ID] = s
	}
	for _, e := range b.Entries {
		if was, ok := c.entries[e.SID]; !ok || was.Revision <= e.Revision {
			c.entries[e.SID] = e
		}
	}
	if b.Cursor == nil {
		return
	}
	ended := b.Cursor.Whole && !(c.cursor.Whole && c.cursor.Round == b.Cursor.Round)
	if c.cursor = *b.Cursor; ended {
		maps.DeleteFunc(c.entries, func(_ string, e Entry) bool { return e.Round < b.Cursor.Round-1 })
	}
}

// header is the first line.
type header struct {
	V        int    `json:"v"`
	Identity string `json:"for"`
	Name     string `json:"name"`            // drawn for each file
	Voids    int    `json:"voids,omitempty"` // how often everything was void
}

const (
	version = 1
	largest = 1 << 30      // bytes of a file that is read
	sumSize = 8 + len(" ") // bytes before the text of a line
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// appendLine appends a line.
func appendLine(to []byte, v any) ([]byte, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return fmt.Appendf(to, "%08x %s\n", crc32.Checksum(text, castagnoli), text), nil
}

// cutLine reads the first line of data into v. n is its length; 0: the line is not whole.
func cutLine(data []byte, v any) (n int) {
	n = bytes.IndexByte(data, '\n') + 1
	if n <= sumSize {
		return 0
	}
	text := data[sumSize : n-1]
	if string(data[:sumSize]) != fmt.Sprintf("%08x ", crc32.Checksum(text, castagnoli)) || json.Unmarshal(text, v) != nil {
		return 0
	}
	return n
}

// readAll returns the content of a file, nothing when there is none.
func readAll(dir *vfs.Dir, name string) (data []byte, err error) {
	f, err := dir.OpenRead(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	data, err = io.ReadAll(io.LimitReader(f, largest))
	return data, errors.Join(err, f.Close())
}
