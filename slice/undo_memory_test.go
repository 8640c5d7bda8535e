package slice_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice"
)

func init() { children["memory"] = undoInMemory }

const largeTurns = 4000

// TestUndoCostsWhatTheChangeCost rewinds a large session in a process of its own, and takes
// that back in a fresh store: undo and redo allocate little more than the transcript once, as
// the rewind does.
func TestUndoCostsWhatTheChangeCost(t *testing.T) {
	t.Parallel()
	for _, keep := range []int{1, largeTurns / 2, largeTurns - 1} {
		dir := filepath.Join(testenv.Scratch(t), "sessions")
		var b strings.Builder
		for n := range largeTurns {
			b.WriteString(said("user", strings.Repeat("question ", 30), n) + said("assistant", strings.Repeat("answer ", 600), n))
		}
		put(t, openStore(t, dir), parentID, map[string]string{transcriptFile: b.String(), metadataFile: parentMeta})
		var rewind, undo, redo float64
		_, err := fmt.Sscan(testenv.Spawn(t, "memory", dir, fmt.Sprint(keep)).End(t)[0], &rewind, &undo, &redo)
		require.NoError(t, err)
		size := float64(b.Len())
		require.Less(t, undo, 1.35*size, "keep %d: rewind %v", keep, rewind/size)
		require.Less(t, redo, 1.35*size)
		require.NoError(t, os.RemoveAll(dir))
	}
}

func undoInMemory(dir, argument string) error {
	keep, ctx := 0, context.Background()
	if _, err := fmt.Sscan(argument, &keep); err != nil {
		return err
	}
	for _, do := range []func(*sessionstore.Store) error{
		func(st *sessionstore.Store) error {
			_, err := slice.RewindSessionTo(ctx, st, parentID, keep, slice.Complete)
			return err
		},
		func(st *sessionstore.Store) error { _, err := slice.Undo(ctx, st, parentID, "", nil); return err },
		func(st *sessionstore.Store) error { _, err := slice.Redo(ctx, st, parentID); return err },
	} {
		st, err := sessionstore.Open(dir, &sessionstore.Options{Workspace: "/w"})
		if err != nil {
			return err
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if err := do(st); err != nil {
			return err
		}
		runtime.ReadMemStats(&after)
		fmt.Print(after.TotalAlloc-before.TotalAlloc, " ")
		if err := st.Close(); err != nil {
			return err
		}
	}
	fmt.Println()
	return nil
}
