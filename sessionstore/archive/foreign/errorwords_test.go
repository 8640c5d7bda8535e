package foreign

import (
	"context"
	"io"
	"io/fs"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// An export of a session that is not there does not speak of a file: package fs has the kind
// of the error, and not its text. It says the same of a nil store and a nil context as the
// packages beside it.
func TestErrorsOfAnExport(t *testing.T) {
	t.Parallel()
	st, err := openProjects(t).Store("-w")
	require.NoError(t, err)
	_, err = Export(t.Context(), st, "none", Claude, io.Discard, nil)
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.NotContains(t, err.Error(), "file ")
	call := func(st *sessionstore.Store, ctx context.Context) {
		_, _ = Export(ctx, st, "s", Claude, io.Discard, nil)
	}
	require.PanicsWithValue(t, "sessionstore: nil *Store", func() { call(nil, t.Context()) })
	require.PanicsWithValue(t, "sessionstore: nil Context", func() { call(st, nil) }) //nolint:staticcheck // what a mistaken caller gives
}
