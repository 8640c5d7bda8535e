package sessionstore

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// endingContext is a context that ends when it is looked at for the nth time.
type endingContext struct {
	context.Context
	left atomic.Int64
}

func (c *endingContext) Err() error {
	if c.left.Add(-1) <= 0 {
		return context.Canceled
	}
	return nil
}

// TestReadsEndInALargeTranscript ends the context at each look at it while a transcript is
// read as a whole. The reads end between two parts of it: they fail, and nothing of the
// part is kept for later calls, nor written.
func TestReadsEndInALargeTranscript(t *testing.T) {
	t.Parallel()
	const parts = 6
	st, err := Open(t.TempDir(), nil)
	require.NoError(t, err)
	defer st.Close()
	row, err := Text("user", strings.Repeat("x", parsedAtOnce/8), st.opts.Now())
	require.NoError(t, err)
	rows := make([]Message, 8*parts)
	for i := range rows {
		rows[i] = row
	}
	require.NoError(t, st.Save(t.Context(), "s", rows, Metadata{}))
	now, err := st.Revision(t.Context(), "s")
	require.NoError(t, err)
	for name, read := range map[string]func(ctx context.Context, st *Store) error{
		"load": func(ctx context.Context, st *Store) error {
			s, err := st.Load(ctx, "s")
			if err == nil {
				require.Len(t, s.Messages, len(rows))
			}
			return err
		},
		"strictly": func(ctx context.Context, st *Store) error {
			_, _, err := st.LoadStrict(ctx, "s")
			return err
		},
		"replace": func(ctx context.Context, st *Store) error {
			_, err := st.Replace(ctx, "s", now, rows)
			return err
		},
	} {
		looks := int64(0)
		for done := false; !done; looks++ {
			st, err := Open(st.Dir(), nil)
			require.NoError(t, err)
			ctx := &endingContext{Context: t.Context()}
			ctx.left.Store(looks)
			if err = read(ctx, st); err != nil {
				require.ErrorIs(t, err, context.Canceled, name)
			}
			done = err == nil
			whole, err := st.Load(t.Context(), "s")
			require.NoError(t, err)
			require.Len(t, whole.Messages, len(rows), name)
			require.NoError(t, st.Close())
		}
		require.Greater(t, looks, int64(parts), name)
	}
}
