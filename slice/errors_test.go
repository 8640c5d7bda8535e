package slice_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice"
)

// Every call is made with ids and names of files of any length. An error shows
// 64 bytes of an id, and of a name, which may be a path, no more than a path
// has.
func TestErrorsShowTheBeginningOfIDs(t *testing.T) {
	t.Parallel()
	st, err := sessionstore.Open(t.TempDir(), nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, st.Close()) })
	row, err := sessionstore.ParseMessage([]byte(`{"role": "user", "content": "q"}`))
	require.NoError(t, err)
	require.NoError(t, st.Append(t.Context(), "s", row))
	for _, n := range []int{65, 200, 1000, 1 << 20} {
		text := strings.Repeat("x", n)
		for name, err := range failedByIDs(t, st, text) {
			require.Error(t, err, name)
			require.NotContains(t, err.Error(), text[:65], name)
		}
	}
	path := strings.Repeat("x", 1<<20)
	_, err = slice.Undo(t.Context(), st, "s", path, nil)
	require.Error(t, err)
	require.NotContains(t, err.Error(), path[:4097])
	_, err = slice.Fork(t.Context(), st, "s", &slice.ForkOptions{Damaged: path})
	require.Error(t, err)
	require.NotContains(t, err.Error(), path[:4097])
}

// failedByIDs makes every call with an id of which there is no session.
func failedByIDs(t *testing.T, st *sessionstore.Store, id string) map[string]error {
	t.Helper()
	errs := map[string]error{}
	ctx := t.Context()
	_, errs["Fork"] = slice.Fork(ctx, st, id, nil)
	_, errs["Fork to"] = slice.Fork(ctx, st, "s", &slice.ForkOptions{NewID: id + "/"})
	_, errs["PreviewFork"] = slice.PreviewFork(ctx, st, id, new(1))
	_, errs["Backups"] = slice.Backups(ctx, st, id)
	_, errs["Healthy"] = slice.Healthy(ctx, st, id)
	_, errs["Broken"] = slice.Broken(ctx, st, id)
	_, errs["Trace"] = slice.Trace(ctx, st, id)
	_, errs["Inspect"] = slice.Inspect(ctx, st, id)
	_, errs["RepairSession"] = slice.RepairSession(ctx, st, id)
	_, errs["RewindSession"] = slice.RewindSession(ctx, st, id)
	_, errs["RewindSessionTo"] = slice.RewindSessionTo(ctx, st, id, 1, slice.Complete)
	_, errs["Undo"] = slice.Undo(ctx, st, id, "b", nil)
	return errs
}
