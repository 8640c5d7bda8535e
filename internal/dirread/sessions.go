package dirread

import (
	"os"

	"github.com/amplifier-go/sessionstorage/internal/seam"
)

// Sessions reads what stands at the path of a sessions directory now, even if
// that is another directory than before. It is safe for concurrent use.
type Sessions struct {
	path   string
	plain  bool // no symlink is on the way there
	hooks  *seam.Seam
	handle func() (*os.File, error) // opens the directory, or finds it open
}

// New returns what reads the sessions directory with that absolute path.
// handle returns the directory that stands there now, open; whoever passes it
// closes that. hooks, which may be nil, tells the step of the clock.
func New(path string, hooks *seam.Seam, handle func() (*os.File, error)) *Sessions {
	return &Sessions{path: path, plain: isPlain(path), hooks: hooks, handle: handle}
}
