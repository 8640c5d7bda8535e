package slice_test

import (
	"context"
	"maps"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice"
)

// endingContext is a context that ends when it is looked at for the nth time.
type endingContext struct {
	context.Context
	left atomic.Int64
}

func (c *endingContext) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// TestUndoThatIsInterrupted ends the context at some looks at it, in the soak at each, with
// transcripts that are read in several parts: the undo is done, or the session has the files
// that it had.
func TestUndoThatIsInterrupted(t *testing.T) {
	t.Parallel()
	st := openStore(t, "")
	broken(t, st)
	row := `{"role": "user", "content": "` + strings.Repeat("x", 1<<20) + "\"}\n"
	large := strings.Repeat(row, 5) + brokenRows
	put(t, st, parentID, map[string]string{transcriptFile: large})
	_, err := slice.RepairSession(t.Context(), st, parentID)
	require.NoError(t, err)
	before := get(t, st, parentID)
	looks, r := int64(0), testenv.Rand(t)
	for {
		again, err := sessionstore.Open(st.Dir(), nil)
		require.NoError(t, err)
		ctx := &endingContext{Context: t.Context()}
		ctx.left.Store(looks)
		_, err = slice.Undo(ctx, again, parentID, repairBackup, nil)
		require.NoError(t, again.Close())
		if err == nil {
			break
		}
		require.ErrorIs(t, err, context.Canceled)
		require.True(t, maps.Equal(before, get(t, st, parentID)), "after %d looks", looks)
		looks += 1 + r.Int64N(testenv.Share[int64](5, 5, 1))
	}
	require.Greater(t, looks, int64(30), "it looks at the context while it reads")
	require.True(t, get(t, st, parentID)[transcriptFile] == large)
}
