package picker

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore/projects"
)

// closings is a context that counts how often a file was closed between two looks at it.
type closings struct {
	context.Context
	path string
	open bool
	n    int
}

func (c *closings) Err() error {
	names, _ := filepath.Glob("/proc/self/fd/*")
	open := false
	for _, name := range names {
		if to, err := os.Readlink(name); err == nil && to == c.path {
			open = true
		}
	}
	if c.open && !open {
		c.n++
	}
	c.open = open
	return c.Context.Err()
}

// TestLookHoldsNoTranscript looks for a text that a long conversation does not have: the
// transcript is closed all the time, since an append writes all of one that stays open.
func TestLookHoldsNoTranscript(t *testing.T) {
	m, st, carry := longTest(t, 1000)
	carry(press(m, "tab"))
	path, err := filepath.EvalSymlinks(filepath.Join(st.Dir(), m.reader.key.ID, "transcript.jsonl"))
	require.NoError(t, err)
	p, err := projects.Open(filepath.Dir(filepath.Dir(st.Dir())), nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Close()) })
	for _, back := range []bool{false, true} {
		ctx := &closings{Context: t.Context(), path: path}
		e := store{projects: p}.look(ctx, Look{Key: m.reader.key, Text: "nobody at all", After: 700, Back: back}).(Looked)
		require.NoError(t, e.Err)
		require.Zero(t, e.Message)
		require.GreaterOrEqual(t, ctx.n, m.reader.total/lookRows)
	}
}
