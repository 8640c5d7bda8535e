package dirread

import (
	"os"
	"sync/atomic"

	"github.com/amplifier-go/sessionstorage/internal/seam"
)

// Sessions reads what stands at the path of a sessions directory now, even if
// that is another directory than before. It is safe for concurrent use.
type Sessions struct {
	path    string
	plain   bool // no symlink is on the way there
	hooks   *seam.Seam
	handle  func() (*os.File, error) // opens the directory, or finds it open
	listing atomic.Pointer[listing]

	maxListing int // up to how many bytes the names of a listing are kept; they take some 40 bytes a session
}

// New returns what reads the sessions directory with that absolute path.
// handle returns the directory that stands there now, open; whoever passes it
// closes that. hooks, which may be nil, tells the step of the clock.
func New(path string, hooks *seam.Seam, handle func() (*os.File, error)) *Sessions {
	return &Sessions{path: path, plain: isPlain(path), hooks: hooks, handle: handle, maxListing: maxListing}
}

// LimitListing sets how many bytes the names of a listing may take to be kept.
// It must be called before anything is listed.
func (s *Sessions) LimitListing(bytes int) { s.maxListing = bytes }
