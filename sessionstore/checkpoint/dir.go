package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

const (
	primaryName    = ".scientific-analysis-session"           // of a session directory in an output directory
	fallbackPrefix = "scientific-analysis-architect-session-" // of the names of session directories in the temporary directory
)

// maxAgeByDefault is how old a session may be to be resumed, and is before it is
// cleaned up.
const maxAgeByDefault = 72 * time.Hour

// Options are the settings of a [Dir]. The zero value is ready for use.
type Options struct {
	Durability sessionstore.Durability // zero: Durable
	Now        func() time.Time        // nil: time.Now
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
	if o.Now == nil {
		o.Now = time.Now
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

// Found is the result of [Dir.FindResumable].
type Found struct {
	Runs       []*Run  // newest first
	Unreadable []error // one for each directory whose state cannot be read; it names the directory
}

// FindResumable finds the sessions of outputDir, and those in the temporary
// directory, that are in progress or interrupted and were updated within
// maxAge; 0 is 72 hours. Archives are no sessions.
//
// The example Resume of package slice/accept shows how an agent goes on with a
// session.
func (d *Dir) FindResumable(ctx context.Context, outputDir string, maxAge time.Duration) (Found, error) {
	all, err := d.readAll(ctx, outputDir)
	if err != nil {
		return Found{}, fmt.Errorf("find sessions: %w", err)
	}
	cutoff := d.cutoff(maxAge)
	all.Runs = slices.DeleteFunc(all.Runs, func(s *Run) bool {
		return !resumable(s.state.Status()) || !s.state.LastUpdated().After(cutoff)
	})
	return all, nil
}

func (d *Dir) cutoff(maxAge time.Duration) time.Time {
	if maxAge == 0 {
		maxAge = maxAgeByDefault
	}
	return d.opts.Now().Add(-maxAge)
}

// readAll reads every session of outputDir and of the temporary directory, newest
// first.
func (d *Dir) readAll(ctx context.Context, outputDir string) (Found, error) {
	output, err := sessiondir.Abs(outputDir)
	if err != nil {
		return Found{}, err
	}
	dirs := []string{filepath.Join(output, primaryName)}
	entries, err := os.ReadDir(d.opts.TempDir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Found{}, err
	}
	for _, e := range entries {
		if rest, ours := strings.CutPrefix(e.Name(), fallbackPrefix); ours && !strings.Contains(rest, ".archive") {
			dirs = append(dirs, filepath.Join(d.opts.TempDir, e.Name()))
		}
	}
	var all Found
	for _, dir := range dirs {
		if err := ctx.Err(); err != nil {
			return Found{}, err
		}
		s, err := d.read(dir)
		switch {
		case err == nil:
			all.Runs = append(all.Runs, &Run{parent: d, dir: dir, state: s})
		case !errors.Is(err, fs.ErrNotExist): // nothing there, or no state yet
			all.Unreadable = append(all.Unreadable, fmt.Errorf("read session %q: %w", dir, err))
		}
	}
	slices.SortStableFunc(all.Runs, func(a, b *Run) int {
		return b.state.LastUpdated().Compare(a.state.LastUpdated())
	})
	return all, nil
}

// moveOut moves outputs from the session directory to the directory that it lies in. It
// replaces nothing. Each output has its new name for good before it loses the old one. If a
// killed process left an output with both names, the old name goes.
func (d *Dir) moveOut(dir string, rels []string) error {
	for _, rel := range rels {
		if err := d.moveOne(dir, rel); err != nil {
			return fmt.Errorf("move output: %w", err)
		}
	}
	return nil
}

func (d *Dir) moveOne(dir, rel string) error {
	out := filepath.Dir(dir)
	if err := d.makeParents(out, rel); err != nil {
		return err
	}
	folder, err := d.openDir(out)
	if err != nil {
		return err
	}
	defer folder.Close()
	from := filepath.Join(filepath.Base(dir), rel)
	err = folder.Link(from, rel)
	if errors.Is(err, fs.ErrExist) && sameFile(filepath.Join(out, rel), filepath.Join(dir, rel)) {
		err = nil
	}
	if err != nil {
		return err
	}
	if d.sync() {
		if err := d.syncDir(filepath.Join(out, filepath.Dir(rel))); err != nil {
			return err
		}
	}
	return folder.Remove(from)
}

// makeParents makes the directories of rel in out, and their names durable: the process
// that made them may have been killed before they were.
func (d *Dir) makeParents(out, rel string) error {
	folder, err := d.openDir(out)
	if err != nil {
		return err
	}
	defer folder.Close()
	for i := range len(rel) {
		if !os.IsPathSeparator(rel[i]) {
			continue
		}
		if err := folder.Mkdir(rel[:i]); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		if d.sync() {
			if err := d.syncDir(filepath.Join(out, filepath.Dir(rel[:i]))); err != nil {
				return err
			}
		}
	}
	return nil
}

// sameFile reports whether both paths lead to one file or directory.
func sameFile(a, b string) bool {
	fa, err := os.Stat(a)
	if err != nil {
		return false
	}
	fb, err := os.Stat(b)
	return err == nil && os.SameFile(fa, fb)
}
