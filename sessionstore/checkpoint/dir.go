package checkpoint

import (
	"errors"
	"log/slog"
	"os"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// The names of session directories unless [Options] say otherwise.
const (
	DefaultPrimary  = ".scientific-analysis-session"
	DefaultFallback = "scientific-analysis-architect-session-"
)

// DefaultMaxAge is how old a session may be to be resumed, and is before it is
// cleaned up.
const DefaultMaxAge = 72 * time.Hour

// Options are the settings of a [Dir]. The zero value is ready for use.
type Options struct {
	Logger     *slog.Logger            // nil: silent
	Durability sessionstore.Durability // zero: Durable
	Now        func() time.Time        // nil: time.Now
	Primary    string                  // name of the session directory in an output directory; "": DefaultPrimary
	Fallback   string                  // the beginning of names in TempDir; "": DefaultFallback
	TempDir    string                  // where sessions go whose output directory takes none; "": os.TempDir

	seam *seam.Seam
}

// A Dir finds and makes sessions. It holds nothing open.
type Dir struct {
	opts Options
}

// New returns a store. It touches no disk; opts may be nil.
func New(opts *Options) *Dir {
	var o Options
	if opts != nil {
		o = *opts
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Primary == "" {
		o.Primary = DefaultPrimary
	}
	if o.Fallback == "" {
		o.Fallback = DefaultFallback
	}
	if o.TempDir == "" {
		o.TempDir = os.TempDir()
	}
	return &Dir{o}
}

func (d *Dir) sync() bool { return d.opts.Durability != sessionstore.Relaxed }

// openDir opens the directory path for changes.
func (d *Dir) openDir(path string) (*vfs.Dir, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	return vfs.New(root, d.opts.seam), nil
}

// syncDir makes the names in the directory path durable.
func (d *Dir) syncDir(path string) error {
	folder, err := d.openDir(path)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
