package agentstate

import (
	"encoding/json"
	"io/fs"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
)

func TestKeptApprovalIsBoundToItsCall(t *testing.T) {
	t.Parallel()
	s, again := newState(t)
	ctx := t.Context()
	call := json.RawMessage(`{"tool": "bash", "n": 1.50}`)
	require.NoError(t, s.KeepPending(ctx, "1", call))
	require.ErrorIs(t, s.KeepPending(ctx, "1", call), ErrPending)
	require.ErrorIs(t, s.KeepPending(ctx, "2", json.RawMessage(`{`)), ErrInvalid)
	require.ErrorIs(t, s.Claim(ctx, "1", call), ErrNotApproved)
	require.ErrorIs(t, s.Decide(ctx, "1", Ran), ErrInvalid)
	require.ErrorIs(t, s.Decide(ctx, "9", Approved), ErrNotPending)

	s = again()
	kept, err := s.Kept(ctx)
	require.NoError(t, err)
	require.Equal(t, []Kept{{"1", call, digest(call), Undecided}}, kept)
	require.NoError(t, s.Decide(ctx, "1", Approved))
	require.NoError(t, s.Decide(ctx, "1", Approved), "the same verdict again")
	require.ErrorIs(t, s.Claim(ctx, "1", json.RawMessage(`{"tool": "bash", "n": 1.5}`)), ErrOtherCall)
	require.NoError(t, s.Claim(ctx, "1", call))
	require.ErrorIs(t, again().Claim(ctx, "1", call), ErrRan)
	require.ErrorIs(t, s.Decide(ctx, "1", Rejected), ErrRan)
	require.ErrorIs(t, s.KeepPending(ctx, "1", call), ErrPending, "an id is used once")

	require.NoError(t, s.KeepPending(ctx, "2", json.RawMessage(`null`)))
	session := NewSession(s)
	require.NoError(t, session.StartTurn())
	require.NoError(t, session.RequestApproval("2", json.RawMessage(`null`)))
	_, err = session.Resolve(ctx, "2", Rejected)
	require.NoError(t, err)
	require.ErrorIs(t, s.Claim(ctx, "2", json.RawMessage(`null`)), ErrNotApproved)
	golden(t, "pending_approvals.json", read(t, s, pendingFile))
}

func TestClaimIsGivenOnce(t *testing.T) {
	t.Parallel()
	s, again := newState(t)
	require.NoError(t, s.KeepPending(t.Context(), "1", json.RawMessage(`1`)))
	require.NoError(t, s.Decide(t.Context(), "1", Approved))
	var wg sync.WaitGroup
	var ran atomic.Int32
	for range 6 {
		other := again()
		wg.Go(func() {
			if other.Claim(t.Context(), "1", json.RawMessage(`1`)) == nil {
				ran.Add(1)
			}
		})
	}
	wg.Wait()
	require.EqualValues(t, 1, ran.Load())
}

func TestClaimsAreNotForgotten(t *testing.T) {
	t.Parallel()
	s, _ := newState(t)
	ctx := t.Context()
	require.NoError(t, s.KeepPending(ctx, "1", json.RawMessage(`1`)))
	require.NoError(t, s.Decide(ctx, "1", Approved))
	require.NoError(t, s.Claim(ctx, "1", json.RawMessage(`1`)))
	write(t, s, pendingFile, "")
	require.ErrorIs(t, s.Claim(ctx, "1", json.RawMessage(`1`)), ErrDamaged, "the backup has it approved still")
}

// TestReaderBesideFirstWrites has others make a file, and its backup by the next
// change, after a reader found no file.
func TestReaderBesideFirstWrites(t *testing.T) {
	t.Parallel()
	for _, name := range []string{pendingFile, stateFile} {
		looks := 0
		found, err := readObjectBy(func(at string) ([]byte, sessiondir.Stamp, error) {
			looks++
			switch {
			case looks == 1:
				return nil, sessiondir.Stamp{}, fs.ErrNotExist
			case at == name:
				return []byte(`{"n": 2}`), sessiondir.Stamp{}, nil
			default:
				return []byte(`{"n": 1}`), sessiondir.Stamp{}, nil
			}
		}, name)
		require.NoError(t, err, name)
		require.JSONEq(t, `{"n": 2}`, string(found.raw), name)
		require.True(t, found.main, name)
	}
}

func TestTamperedCallDoesNotRun(t *testing.T) {
	t.Parallel()
	s, _ := newState(t)
	write(t, s, pendingFile, `{"v": 1, "approvals": [{"id": "1", "digest": "`+digest([]byte(`1`))+`", "call": 2, "verdict": "approved"}]}`)
	for _, call := range []string{`1`, `2`} {
		require.ErrorIs(t, s.Claim(t.Context(), "1", json.RawMessage(call)), ErrOtherCall)
	}
}
