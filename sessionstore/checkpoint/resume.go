package checkpoint

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/amplifier-go/sessionstorage/internal/pyjson"
)

// A Missing is an output of a completed phase that is not there.
type Missing struct {
	Phase int
	Output
}

// Resume takes up a session that is in progress or interrupted, else the error
// Is [ErrNotResumable]. A completed phase whose outputs are not all there has
// to be done again: it is completed no more, and the current phase becomes the
// first such phase if that comes before. What is missing is returned.
//
// A relative path is looked for in the output directory, then in the session
// directory; one that leads out of both is missing, and so is a null.
func (s *Session) Resume(ctx context.Context) ([]Missing, error) {
	var gone []Missing
	err := s.change(ctx, "resume", func(old State) ([]byte, error) {
		if !resumable(old.Status()) {
			return nil, fmt.Errorf("%w: status is %s", ErrNotResumable, old.Status())
		}
		gone = s.missing(old)
		current, done := old.CurrentPhase(), old.CompletedPhases()
		for _, m := range gone {
			current = min(current, m.Phase)
			done = slices.DeleteFunc(done, func(p int) bool { return p == m.Phase })
		}
		raw := withPhases(old.raw, current, done)
		return pyjson.Splice(raw, "status", quote(string(InProgress))), nil
	})
	if err != nil {
		return nil, err
	}
	return gone, nil
}

func resumable(s Status) bool { return s == InProgress || s == Interrupted }

// missing returns the outputs of completed phases that are not there.
func (s *Session) missing(state State) (gone []Missing) {
	for _, phase := range state.CompletedPhases() {
		for _, out := range state.Outputs(phase) {
			if !s.has(state, out.Path) {
				gone = append(gone, Missing{phase, out})
			}
		}
	}
	return gone
}

func (s *Session) has(state State, path string) bool {
	if filepath.IsAbs(path) {
		_, err := os.Stat(path)
		return err == nil
	}
	if !filepath.IsLocal(path) {
		return false
	}
	for _, dir := range []string{state.OutputDirectory(), s.dir} {
		if dir == "" {
			continue
		}
		if _, err := os.Stat(filepath.Join(dir, path)); err == nil {
			return true
		}
	}
	return false
}
