package crashsim

import (
	"fmt"
	"maps"
	"slices"
)

// Verify replays the log and compares it with the tree at the base directory:
// names, contents and hard links. A difference means that the store did
// something that it did not announce, or announced something else. Paths for
// which ignore, if not nil, returns true are left out.
func (r *Recorder) Verify(ignore func(path string) bool) error {
	log, err := r.Log()
	if err != nil {
		return err
	}
	d := log.start.clone()
	for _, s := range log.Steps {
		if err := d.step(s); err != nil {
			return err
		}
	}
	found, err := snapshot(r.base)
	if err != nil {
		return fmt.Errorf("verify log: %w", err)
	}
	want, got := d.describe(ignore), found.describe(ignore)
	all := maps.Clone(want)
	maps.Copy(all, got)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if got[name] != want[name] {
			return fmt.Errorf("verify log: %s is %q, by the log %q", name, got[name], want[name])
		}
	}
	return nil
}
