package sessionstore_test

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/agentstate"
)

// observed notes what a store does.
type observed struct {
	mu           sync.Mutex // guards what follows
	calls        []sessionstore.Call
	bytes, syncs int
}

func (o *observed) Called(_ context.Context, c sessionstore.Call) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.calls = append(o.calls, c)
}

func (o *observed) Wrote(bytes int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.bytes += bytes
}

func (o *observed) Synced() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.syncs++
}

// take returns what was noted since it was last called.
func (o *observed) take() (calls []sessionstore.Call, bytes, syncs int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	calls, bytes, syncs = o.calls, o.bytes, o.syncs
	o.calls, o.bytes, o.syncs = nil, 0, 0
	return calls, bytes, syncs
}

// TestObserverIsToldOfEveryCall runs each call once and compares what the
// observer was told with what it returned.
func TestObserverIsToldOfEveryCall(t *testing.T) {
	t.Parallel()
	o := &observed{}
	st, err := sessionstore.Open(t.TempDir(), &sessionstore.Options{Observer: o, Workspace: t.TempDir()})
	require.NoError(t, err)
	defer func() { require.NoError(t, st.Close()) }()
	const id = "0000000000000000-1111111111111111_a"
	m, err := sessionstore.Text("user", "hi", time.Now())
	require.NoError(t, err)
	ctx := t.Context()
	var revision sessionstore.Revision
	for _, call := range []struct {
		op, id string
		do     func() error
		writes bool
	}{
		{"create", id, func() error { return st.Create(ctx, id, sessionstore.Metadata{}) }, true},
		{"create", id, func() error { return st.Create(ctx, id, sessionstore.Metadata{}) }, false},
		{"append to", id, func() error { return st.Append(ctx, id, m) }, true},
		{"append to", id, func() error { return st.Append(ctx, id, sessionstore.Message{}) }, false},
		{"save", id, func() error { return st.Save(ctx, id, []sessionstore.Message{m, m}, sessionstore.Metadata{}) }, true},
		{"load", id, func() error {
			s, err := st.Load(ctx, id)
			revision = s.Revision
			return err
		}, false},
		{"load", id, func() error { _, _, err := st.LoadStrict(ctx, id); return err }, false},
		{"load", "none", func() error { _, err := st.Load(ctx, "none"); return err }, false},
		{"replace transcript of", id, func() error { _, err := st.Replace(ctx, id, revision, []sessionstore.Message{m}); return err }, true},
		{"replace transcript of", id, func() error { _, err := st.Replace(ctx, id, revision, nil); return err }, false},
		{"update metadata of", id, func() error {
			_, err := st.UpdateMetadata(ctx, id, func(md *sessionstore.Metadata) error { return md.Set("a", 1) })
			return err
		}, true},
		{"change", id, func() error {
			s, err := agentstate.Open(st, id, nil)
			if err != nil {
				return err
			}
			return s.AddApprovedCommand(ctx, "make")
		}, true},
		{"list", "", func() error { _, err := st.List(ctx, nil); return err }, false},
		{"delete", id, func() error { return st.Delete(ctx, id) }, false},
		{"delete", "../x", func() error { return st.Delete(ctx, "../x") }, false},
	} {
		o.take()
		start := time.Now()
		err := call.do()
		calls, bytes, syncs := o.take()
		require.Len(t, calls, 1, call.op)
		require.Equal(t, call.op, calls[0].Op)
		require.Equal(t, call.id, calls[0].Session)
		if call.op != "change" { // which wraps its error once more
			require.Equal(t, err, calls[0].Err, call.op)
		}
		require.False(t, calls[0].Start.Before(start))
		require.False(t, calls[0].Recovered)
		if call.writes {
			require.NoError(t, err)
			require.Positive(t, bytes, call.op)
			require.Positive(t, syncs, call.op)
		} else {
			require.Zero(t, bytes, call.op)
		}
	}
}

func TestObserverIsToldOfRecoveries(t *testing.T) {
	t.Parallel()
	o := &observed{}
	dir := t.TempDir()
	st, err := sessionstore.Open(dir, &sessionstore.Options{Observer: o})
	require.NoError(t, err)
	defer func() { require.NoError(t, st.Close()) }()
	m, err := sessionstore.Text("user", "hi", time.Now())
	require.NoError(t, err)
	require.NoError(t, st.Append(t.Context(), "s", m))
	require.NoError(t, st.Append(t.Context(), "s", m))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "s", "transcript.jsonl"), []byte("{\n"), 0o600))
	o.take()
	_, err = st.Load(t.Context(), "s")
	require.NoError(t, err)
	calls, _, _ := o.take()
	require.Len(t, calls, 1)
	require.True(t, calls[0].Recovered)
}
