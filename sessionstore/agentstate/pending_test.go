package agentstate

import (
	"encoding/json"
	"io/fs"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

func TestKeptApprovalIsBoundToItsCall(t *testing.T) {
	t.Parallel()
	s, again := newState(t)
	ctx := t.Context()
	writeKey(t, s, strings.Repeat("k", keySize))
	call := json.RawMessage(`{"tool": "bash", "n": 1.50}`)
	require.NoError(t, s.KeepPending(ctx, "1", call))
	require.ErrorIs(t, s.KeepPending(ctx, "1", call), ErrPending)
	require.ErrorIs(t, s.KeepPending(ctx, "2", json.RawMessage(`{`)), ErrInvalid)
	require.ErrorIs(t, s.Claim(ctx, "1", call), ErrNotApproved)
	require.ErrorIs(t, s.Decide(ctx, "1", Ran), ErrInvalid)
	require.ErrorIs(t, s.Decide(ctx, "9", Approved), ErrNotPending)

	s = again()
	kept, err := s.Approvals(ctx)
	require.NoError(t, err)
	require.Equal(t, []Approval{{ID: "1", Call: call, Verdict: Undecided, digest: digest(call)}}, kept)
	require.NoError(t, s.Decide(ctx, "1", Approved))
	require.NoError(t, s.Decide(ctx, "1", Approved), "the same verdict again")
	require.ErrorIs(t, s.Claim(ctx, "1", json.RawMessage(`{"tool": "bash", "n": 1.51}`)), ErrOtherCall)
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
	require.ErrorIs(t, s.Claim(ctx, "2", json.RawMessage(`null`)), ErrRejected)
	require.NoError(t, s.KeepPending(ctx, "3", call))
	require.NoError(t, s.Decide(ctx, "3", Approved))
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

// TestClaimDecided writes what the three calls write that it stands for, and asks of a call what
// they ask.
func TestClaimDecided(t *testing.T) {
	t.Parallel()
	one, _ := newState(t)
	three, _ := newState(t)
	ctx, call := t.Context(), json.RawMessage(`{"n": 1.50}`)
	require.NoError(t, one.ClaimDecided(ctx, "1", call, Approved))
	require.ErrorIs(t, one.ClaimDecided(ctx, "2", nil, Rejected), ErrRejected)
	require.NoError(t, three.KeepPending(ctx, "1", call))
	require.NoError(t, three.Decide(ctx, "1", Approved))
	require.NoError(t, three.Claim(ctx, "1", call))
	require.NoError(t, three.KeepPending(ctx, "2", nil))
	require.NoError(t, three.Decide(ctx, "2", Rejected))
	require.Equal(t, read(t, three, pendingFile), read(t, one, pendingFile))
	require.NoFileExists(t, keyPath(one), "nothing is approved beyond the call")

	require.ErrorIs(t, one.ClaimDecided(ctx, "1", json.RawMessage(`{"n": 1.5}`), Approved), ErrRan)
	require.ErrorIs(t, one.ClaimDecided(ctx, "1", json.RawMessage(`{"n": 1.51}`), Approved), ErrOtherCall)
	require.ErrorIs(t, one.ClaimDecided(ctx, "2", nil, Approved), ErrRejected)
	require.NoError(t, one.KeepPending(ctx, "3", call))
	require.ErrorIs(t, one.ClaimDecided(ctx, "3", nil, Approved), ErrOtherCall)
	require.ErrorIs(t, one.ClaimDecided(ctx, "3", call, Undecided), ErrInvalid)
	require.NoError(t, one.ClaimDecided(ctx, "3", call, Approved))
	require.ErrorIs(t, one.ClaimDecided(ctx, "", call, Approved), ErrInvalid)
	require.ErrorIs(t, one.ClaimDecided(ctx, "4", json.RawMessage(`{`), Approved), ErrInvalid)
	require.ErrorIs(t, one.Claim(ctx, "4", nil), ErrNotPending)
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

// TestCallFromTheTranscript claims the call of a transcript that was kept as the provider
// sent it: the store writes it by other rules.
func TestCallFromTheTranscript(t *testing.T) {
	t.Parallel()
	for i, sent := range []string{
		`{"city":"Zürich"}`, `{"city": "Z\u00fcrich"}`, "{\n  \"n\": 1e2,\n  \"n\": 1.50\n}", `{"a": null, "b": [1, null, "\ud83d"]}`, `{}`, ``,
		`{"deep": ` + strings.Repeat("[", 60) + strings.Repeat("]", 60) + `}`,
	} {
		st, err := sessionstore.Open(t.TempDir(), nil)
		require.NoError(t, err)
		asked, err := sessionstore.ToolCallMessage("", time.Time{}, sessionstore.ToolCall{ID: "c", Name: "weather", Arguments: json.RawMessage(sent)})
		require.NoError(t, err)
		require.NoError(t, st.Append(t.Context(), "s", asked))
		before, err := Open(st, "s", nil)
		require.NoError(t, err)
		require.NoError(t, before.KeepPending(t.Context(), "c", json.RawMessage(sent)))
		require.NoError(t, before.Decide(t.Context(), "c", Approved))
		require.NoError(t, before.Close())

		stored, err := st.Load(t.Context(), "s")
		require.NoError(t, err)
		call := stored.Messages[0].ToolCalls()[0]
		after, err := Open(st, "s", nil)
		require.NoError(t, err)
		for _, other := range []string{`{"city":"Zurich"}`, `{"n": "1.5"}`, `{"n": 15}`, sent + "x", sent + `}], "x": [{"y": 1`} {
			require.ErrorIs(t, after.Claim(t.Context(), "c", json.RawMessage(other)), ErrOtherCall, other)
		}
		require.NoError(t, after.Claim(t.Context(), call.ID, call.Arguments), i)
		require.ErrorIs(t, after.Claim(t.Context(), "c", json.RawMessage(sent)), ErrRan)
		require.NoError(t, after.Close())
		require.NoError(t, st.Close())
	}
}

// TestCallThatRanIsRefused reads files with a call that ran, in each form in which it can be
// stored, also after another program changed it. Every way to it says that it ran, before
// and after this program writes the file.
func TestCallThatRanIsRefused(t *testing.T) {
	t.Parallel()
	dropped := `"ran": "` + digestRan(oneCall) + `"`
	whole := `"digest": "` + digest(oneCall) + `", "call": ` + string(oneCall)
	for _, members := range []string{
		dropped,
		whole + `, "verdict": "ran"`,
		dropped + `, "verdict": "approved"`,
		dropped + `, "verdict": "pending", ` + whole,
		dropped + `, "verdict": "rejected", "mark": "m"`,
	} {
		s, again := newState(t)
		ctx := t.Context()
		write(t, s, pendingFile, `{"v": 1, "approvals": [{"id": "1", "x": 1.50, `+members+`}]}`)
		for _, s := range []*State{s, again()} {
			lost := testenv.Lost(t)
			require.ErrorIs(lost, s.KeepPending(ctx, "1", oneCall), ErrPending, members)
			require.ErrorIs(lost, s.Claim(ctx, "1", json.RawMessage(`{ "rm":1}`)), ErrRan, members)
			require.ErrorIs(lost, s.Claim(ctx, "1", json.RawMessage(`{"rm": 2}`)), ErrOtherCall, members)
			require.ErrorIs(lost, s.Claim(ctx, "1", json.RawMessage(`{`)), ErrOtherCall, members)
			for _, v := range []Verdict{Approved, Rejected} {
				require.ErrorIs(lost, s.Decide(ctx, "1", v), ErrRan, members)
				_, err := NewSession(s).Resolve(ctx, "1", v)
				require.ErrorIs(lost, err, ErrRan, members)
			}
			list, err := s.Approvals(ctx)
			require.NoError(t, err)
			require.Equal(lost, Approval{ID: "1", Verdict: Ran, digest: digestRan(oneCall)}, list[0], members)
			if len(list) == 1 {
				require.NoError(t, s.KeepPending(ctx, "2", oneCall))
			}
		}
		require.Contains(t, read(t, s, pendingFile), `[{"id": "1", "x": 1.50, `+dropped)
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
