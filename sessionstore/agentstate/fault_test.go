package agentstate

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/fault"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// TestEveryFault fails each operation of each writer in turn: afterwards the
// files hold what was acknowledged, and the same call works.
func TestEveryFault(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	call := json.RawMessage(`1`)
	for _, w := range []struct {
		name  string
		write func(s *State) error
		done  func(s *State) (bool, error)
	}{
		{
			"record items", func(s *State) error { return s.RecordItems(t.Context(), items(`{"b": 2}`, `{"c": 3}`)...) },
			func(s *State) (bool, error) {
				got, err := s.History(t.Context())
				require.Equal(t, `{"a": 1}`, string(got[0]))
				return len(got) >= 3, err
			},
		},
		{
			"approve command", func(s *State) error { return s.AddApprovedCommand(t.Context(), "y") },
			func(s *State) (bool, error) {
				x, err := s.IsCommandApproved(t.Context(), "x")
				require.True(t, x)
				y, err2 := s.IsCommandApproved(t.Context(), "y")
				return y, errors.Join(err, err2)
			},
		},
		{
			"keep pending approval", func(s *State) error {
				err := s.KeepPending(t.Context(), "2", call)
				if errors.Is(err, ErrPending) { // it was stored although its call failed
					return nil
				}
				return err
			},
			func(s *State) (bool, error) {
				list, err := s.Kept(t.Context())
				return slices.ContainsFunc(list, func(k Kept) bool { return k.ID == "2" }), err
			},
		},
	} {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			for k := 0; ; k++ {
				st, err := sessionstore.Open(t.TempDir(), nil)
				require.NoError(t, err)
				require.NoError(t, st.Create(t.Context(), id, sessionstore.Metadata{}))
				seam := &fault.Seam{}
				s, err := open(st, id, nil, seam)
				require.NoError(t, err)
				require.NoError(t, s.RecordItems(t.Context(), items(`{"a": 1}`)...))
				require.NoError(t, s.AddApprovedCommand(t.Context(), "x"))
				require.NoError(t, s.KeepPending(t.Context(), "1", call))
				failer := &fault.Failer{At: k, Err: broken, Part: 50}
				seam.Before = failer.Before
				err = w.write(s)
				_, failed := failer.Failed()
				seam.Before = nil
				done, derr := w.done(s)
				require.NoError(t, derr)
				if err == nil {
					require.True(t, done, "acknowledged, operation %d", k)
				} else {
					require.ErrorIs(t, err, broken)
					require.NoError(t, w.write(s))
					done, derr = w.done(s)
					require.NoError(t, derr)
					require.True(t, done)
				}
				require.NoError(t, s.Close())
				require.NoError(t, st.Close())
				if !failed {
					require.Greater(t, k, 3)
					return
				}
			}
		})
	}
}
