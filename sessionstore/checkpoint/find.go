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
)

// Found is the result of [Dir.FindResumable].
type Found struct {
	Runs       []*Run  // newest first
	Unreadable []error // one for each directory whose state cannot be read; it names the directory
}

// FindResumable finds the sessions of outputDir, and those in the temporary
// directory, that are in progress or interrupted and were updated within
// maxAge; 0 is [DefaultMaxAge]. Archives are no sessions.
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
		maxAge = DefaultMaxAge
	}
	return d.opts.Now().Add(-maxAge)
}

// readAll reads every session of outputDir and of the temporary directory, newest
// first.
func (d *Dir) readAll(ctx context.Context, outputDir string) (Found, error) {
	output, err := filepath.Abs(outputDir)
	if err != nil {
		return Found{}, err
	}
	dirs := []string{filepath.Join(output, d.opts.Primary)}
	entries, err := os.ReadDir(d.opts.TempDir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Found{}, err
	}
	for _, e := range entries {
		if rest, ours := strings.CutPrefix(e.Name(), d.opts.Fallback); ours && !strings.Contains(rest, ".archive") {
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
			all.Runs = append(all.Runs, &Run{in: d, dir: dir, state: s})
		case !errors.Is(err, fs.ErrNotExist): // nothing there, or no state yet
			all.Unreadable = append(all.Unreadable, fmt.Errorf("read session %q: %w", dir, err))
		}
	}
	slices.SortStableFunc(all.Runs, func(a, b *Run) int {
		return b.state.LastUpdated().Compare(a.state.LastUpdated())
	})
	return all, nil
}
