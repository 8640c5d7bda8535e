package crashsim

import (
	"fmt"
	"io/fs"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
)

// A Step is a recorded operation. Paths are relative to the recorder's base
// and slash-separated; the base itself is ".".
type Step struct {
	Kind   seam.Kind
	Path   string
	To     string // Rename, Exchange, Link
	Off    int64  // Write: offset; Truncate: size
	Data   []byte // Write
	Mode   fs.FileMode
	Failed bool // a Sync or SyncDir that was refused

	// Modification times after the operation.
	Time            time.Time // of Path, where the operation changes its content or time
	DirTime, ToTime time.Time // of the directories that hold Path and To
}

// String names the operation and its paths, without data.
func (s Step) String() string {
	text := s.Kind.String() + " " + s.Path
	if s.To != "" {
		text += " to " + s.To
	}
	if s.Kind == seam.Write {
		text = fmt.Sprintf("%s at %d, %d bytes", text, s.Off, len(s.Data))
	}
	if s.Failed {
		text += ", refused"
	}
	return text
}
