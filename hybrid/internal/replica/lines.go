package replica

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"iter"

	"github.com/amplifier-go/sessionstorage/internal/vfs"
)

// header is the first line.
type header struct {
	V        int    `json:"v"`
	Identity string `json:"for"`
	Name     string `json:"name"`
}

const (
	version = 1
	largest = 1 << 30      // bytes of a file that is read
	atOnce  = 500          // changes of a line
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

// cutLine reads the first line of data into v. n is its length; 0: it is not
// whole.
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

// batches yields all that c holds. The cursor comes last.
func (c *content) batches() iter.Seq[batch] {
	return func(yield func(batch) bool) {
		var b batch
		full := func() bool { return b.changes() > atOnce }
		for _, s := range c.sessions {
			if b.Sessions = append(b.Sessions, s); full() {
				if !yield(b) {
					return
				}
				b = batch{}
			}
		}
		for _, e := range c.entries {
			if b.Entries = append(b.Entries, e); full() {
				if !yield(b) {
					return
				}
				b = batch{}
			}
		}
		b.Cursor = &c.cursor
		yield(b)
	}
}

// joined yields changes in few lines: those of sessions that follow each other go
// into one.
func joined(all []batch) iter.Seq[batch] {
	return func(yield func(batch) bool) {
		var sessions []Session
		flush := func() bool {
			ok := len(sessions) == 0 || yield(batch{Sessions: sessions})
			sessions = nil
			return ok
		}
		for _, b := range all {
			if b.Cursor == nil && !b.Void && len(b.Entries) == 0 && len(sessions) < atOnce {
				sessions = append(sessions, b.Sessions...)
			} else if !flush() || !yield(b) {
				return
			}
		}
		flush()
	}
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
