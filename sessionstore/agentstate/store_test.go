package agentstate

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// TestOnChange holds that the store tells of each file that was written.
func TestOnChange(t *testing.T) {
	t.Parallel()
	var files []string
	st, err := sessionstore.Open(t.TempDir(), &sessionstore.Options{OnChange: func(c sessionstore.Change) { files = append(files, c.ID+" "+c.File) }})
	require.NoError(t, err)
	defer st.Close()
	require.NoError(t, st.Create(t.Context(), id, sessionstore.Metadata{}))
	s, err := Open(st, id, nil)
	require.NoError(t, err)
	files = nil
	require.NoError(t, s.RecordItems(t.Context(), items(`{"type": "a"}`)...))
	require.NoError(t, s.AddTokenUsage(t.Context(), 1))
	require.NoError(t, s.KeepPending(t.Context(), "1", oneCall))
	require.Error(t, s.KeepPending(t.Context(), "1", oneCall))
	_, err = s.History(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"s1 state.json", "s1 state_history.jsonl", "s1 state.json", "s1 pending_approvals.json"}, files)
}

// TestClose has calls under way while the store is closed: each is done or
// refused, and what was acknowledged is there.
func TestClose(t *testing.T) {
	t.Parallel()
	st := newStore(t, nil)
	s, err := Open(st, id, nil)
	require.NoError(t, err)
	var wg sync.WaitGroup
	var mu sync.Mutex
	done := 0
	started := make(chan struct{}, 3)
	for range 3 {
		wg.Go(func() {
			for i := 0; ; i++ {
				err := s.RecordItems(t.Context(), items(`{"type": "a"}`)...)
				if i == 0 {
					started <- struct{}{}
				}
				if err != nil {
					if !errors.Is(err, sessionstore.ErrClosed) {
						t.Error(err)
					}
					return
				}
				mu.Lock()
				done++
				mu.Unlock()
			}
		})
	}
	for range 3 {
		<-started
	}
	require.NoError(t, st.Close())
	wg.Wait()
	for name, err := range map[string]error{
		"History":     errorOf(s.History(t.Context())),
		"AddCommand":  s.AddApprovedCommand(t.Context(), "x"),
		"KeepPending": s.KeepPending(t.Context(), "1", oneCall),
		"Import":      s.Import(t.Context(), json.RawMessage(`{}`)),
	} {
		require.ErrorIs(t, err, sessionstore.ErrClosed, name)
	}
	again, err := sessionstore.Open(st.Dir(), nil)
	require.NoError(t, err)
	defer again.Close()
	s, err = Open(again, id, nil)
	require.NoError(t, err)
	history, err := s.History(t.Context())
	require.NoError(t, err)
	require.Len(t, history, done)
	require.NoError(t, s.Close())
	require.NoError(t, s.Close(), "twice is fine")
	require.ErrorIs(t, s.AddTokenUsage(t.Context(), 1), sessionstore.ErrClosed)
	require.ErrorIs(t, errorOf(s.Export(t.Context())), sessionstore.ErrClosed)
}

func errorOf[T any](_ T, err error) error { return err }

// TestDurability counts what is synced: nothing when the store or the state is
// relaxed, and names only when they are new or lead to another file.
func TestDurability(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name         string
		store, state sessionstore.Durability
		want         []string
	}{
		{"durable", sessionstore.Durable, sessionstore.Durable, []string{"sync state.json", "sync state_history.jsonl", "syncdir"}},
		{"relaxed store", sessionstore.Relaxed, sessionstore.Durable, nil},
		{"relaxed state", sessionstore.Durable, sessionstore.Relaxed, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			hooks := &seam.Seam{}
			st, err := core.Open(t.TempDir(), &sessionstore.Options{Durability: c.store}, hooks)
			require.NoError(t, err)
			defer st.Close()
			require.NoError(t, st.Create(t.Context(), id, sessionstore.Metadata{}))
			s, err := Open(st, id, &Options{Durability: c.state})
			require.NoError(t, err)
			require.NoError(t, s.RecordItems(t.Context(), items(`{"type": "a"}`)...))
			var synced []string
			hooks.After = func(op seam.Op) {
				switch op.Kind {
				case seam.Sync:
					name := op.Name
					if name != historyFile { // a temporary one
						name = stateFile
					}
					synced = append(synced, "sync "+name)
				case seam.SyncDir:
					synced = append(synced, "syncdir")
				}
			}
			require.NoError(t, s.RecordItems(t.Context(), items(`{"type": "a"}`)...))
			require.Equal(t, c.want, synced)
			require.FileExists(t, filepath.Join(st.Dir(), id, historyFile))
		})
	}
}
