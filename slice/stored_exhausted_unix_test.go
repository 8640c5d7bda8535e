//go:build unix

package slice_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice"
)

func init() { children["exhausted"] = undoWithoutDescriptors }

// TestNoDescriptorsLeft lists backups and undoes a repair in a process that has
// no more descriptors than a few: with each number of them a call fails at
// another step. A backup that could not be looked for is not missing.
func TestNoDescriptorsLeft(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "sessions")
	broken(t, openStore(t, dir))
	testenv.Spawn(t, "exhausted", dir, "").End(t)
	require.Equal(t, brokenRows, findAll(t, dir).rows)
}

// undoWithoutDescriptors repairs a session and undoes that, until it succeeds
// with the fewest descriptors that suffice.
func undoWithoutDescriptors(dir, _ string) error {
	if err := testenv.LimitDescriptors(); err != nil {
		return err
	}
	ctx := context.Background()
	st, err := sessionstore.Open(dir, &sessionstore.Options{Workspace: "/w"})
	if err != nil {
		return err
	}
	r, err := slice.RepairSession(ctx, st, parentID)
	if err != nil {
		return err
	}
	for few := range 30 {
		fresh, err := sessionstore.Open(dir, &sessionstore.Options{Workspace: "/w"})
		if err != nil {
			return err
		}
		leave, err := testenv.TakeDescriptors(few)
		if err != nil {
			return err
		}
		found, listed := slice.Backups(ctx, fresh, parentID)
		_, undone := slice.Undo(ctx, fresh, parentID, r.BackupPath, nil)
		leave()
		if err := errors.Join(ofDescriptors(listed), ofDescriptors(undone), fresh.Close()); err != nil {
			return fmt.Errorf("with %d descriptors: %w", few, err)
		}
		if listed == nil && len(found) == 0 {
			return fmt.Errorf("with %d descriptors: no backup was found", few)
		}
		if undone == nil {
			return st.Close()
		}
	}
	return errors.New("no undo succeeded")
}

// ofDescriptors returns err, unless it says that there are no descriptors left.
func ofDescriptors(err error) error {
	if errors.Is(err, syscall.EMFILE) {
		return nil
	}
	return err
}
