package hybrid

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/hybridtest"
	"github.com/amplifier-go/sessionstorage/hybrid/remote"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore/agentstate"
)

var approvedCall = json.RawMessage(`{"command": "rm -rf build"}`)

func (r *testDevice) agent(id string) *agentstate.State {
	r.t.Helper()
	s, err := agentstate.Open(r.Store.Store, id, nil)
	require.NoError(r.t, err)
	return s
}

func (r *testDevice) approvedCommands(id string) []string {
	r.t.Helper()
	list, err := r.agent(id).ApprovedCommands(r.t.Context())
	require.NoError(r.t, err)
	return list
}

// approves makes a session with an approved call and an approved command.
func approves(t *testing.T, r remote.Remote) *testDevice {
	t.Helper()
	a := at(t, r, filepath.Join(t.TempDir(), "a"), "a")
	a.say("s", "one")
	s := a.agent("s")
	for _, id := range []string{"1", "ran"} {
		require.NoError(t, s.KeepPending(t.Context(), id, approvedCall))
		require.NoError(t, s.Decide(t.Context(), id, agentstate.Approved))
	}
	require.NoError(t, s.Claim(t.Context(), "ran", approvedCall))
	require.NoError(t, s.AddApprovedCommand(t.Context(), "make"))
	a.sync()
	return a
}

// TestApprovalsOfAnotherDevice brings a session with approvals to another device in each way.
// The device asks anew, and its answers and those of the first device do not disturb each
// other.
func TestApprovalsOfAnotherDevice(t *testing.T) {
	t.Parallel()
	for name, bring := range map[string]func(t *testing.T, a *testDevice, r remote.Remote) remote.Remote{
		"pull": func(_ *testing.T, _ *testDevice, r remote.Remote) remote.Remote { return r },
		"recreate": func(_ *testing.T, a *testDevice, r remote.Remote) remote.Remote {
			a.recreate("s")
			return r
		},
		"copy": func(t *testing.T, _ *testDevice, r remote.Remote) remote.Remote {
			to := hybridtest.New()
			_, err := Copy(t.Context(), r, to, "ada", "demo", nil)
			require.NoError(t, err)
			return to
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lost, r := testenv.Lost(t), hybridtest.New()
			a := approves(t, r)
			to := bring(t, a, r)
			b := at(t, to, filepath.Join(t.TempDir(), "b"), "b")
			b.pull()
			require.Equal(t, a.file("s", "state.json"), b.file("s", "state.json"), "a pull changes no byte")
			require.Empty(lost, b.approvedCommands("s"))
			require.ErrorIs(lost, b.agent("s").Claim(t.Context(), "1", approvedCall), agentstate.ErrNotPending)

			// Also where the files that stay on a device come by another tool.
			b.put("s", "pending_approvals.json", a.file("s", "pending_approvals.json"))
			require.ErrorIs(lost, b.agent("s").Claim(t.Context(), "1", approvedCall), agentstate.ErrNotApproved)
			require.ErrorIs(lost, b.agent("s").KeepPending(t.Context(), "ran", approvedCall), agentstate.ErrPending)
			require.ErrorIs(lost, b.agent("s").Claim(t.Context(), "ran", approvedCall), agentstate.ErrRan)
			require.NoError(t, b.agent("s").Decide(t.Context(), "1", agentstate.Approved))
			require.NoError(t, b.agent("s").Claim(t.Context(), "1", approvedCall))

			require.NoError(t, b.agent("s").AddApprovedCommand(t.Context(), "make"))
			require.NoError(t, b.agent("s").AddApprovedCommand(t.Context(), "test"))
			b.sync()
			if to == r {
				requireClosed(t, a.Store)
				a = at(t, r, a.Dir(), "a")
				a.pull()
				require.Equal(t, b.file("s", "state.json"), a.file("s", "state.json"))
			}
			require.Equal(lost, []string{"make"}, a.approvedCommands("s"))
			require.Equal(lost, []string{"make", "test"}, b.approvedCommands("s"))
			require.NoError(lost, a.agent("s").Claim(t.Context(), "1", approvedCall))
			require.ErrorIs(lost, a.agent("s").Claim(t.Context(), "1", approvedCall), agentstate.ErrRan)
		})
	}
}

// TestOwnApprovalsComeBack: a session that was deleted and pulled again is the same, in the
// same directory. Its commands are approved, also where the rules for secrets apply.
func TestOwnApprovalsComeBack(t *testing.T) {
	t.Parallel()
	r := hybridtest.New()
	a := approves(t, r)
	dir := a.Dir()
	requireClosed(t, a.Store)
	s, err := open(t.Context(), dir, &Options{Remote: r, Project: "demo", User: "ada", Device: "a", Manual: true, Redact: Secrets()}, nil)
	require.NoError(t, err)
	testenv.Cleanup(t, func() { requireClosed(t, s) })
	a = &testDevice{s, t}
	require.NoError(t, a.agent("s").AddApprovedCommand(t.Context(), "test"))
	a.sync()
	before := a.file("s", "state.json")
	require.NoError(t, a.Delete(t.Context(), "s"))
	a.pull("s")
	require.JSONEq(t, before, a.file("s", "state.json"))
	require.Equal(t, []string{"make", "test"}, a.approvedCommands("s"))
	require.ErrorIs(t, a.agent("s").Claim(t.Context(), "1", approvedCall), agentstate.ErrNotPending)
}

// TestApprovalsInAConflict: the session that keeps a device's own way is another one, also
// on the device on which its commands were approved.
func TestApprovalsInAConflict(t *testing.T) {
	t.Parallel()
	r := hybridtest.New()
	a := approves(t, r)
	b := at(t, r, filepath.Join(t.TempDir(), "b"), "b")
	b.pull()
	b.say("s", "b's way")
	b.sync()
	requireClosed(t, a.Store)
	a = at(t, r, a.Dir(), "a")
	a.say("s", "a's way")
	kept := a.sync().Conflicts[0].KeptAs
	require.Empty(testenv.Lost(t), a.approvedCommands(kept))
	require.ErrorIs(testenv.Lost(t), a.agent(kept).Claim(t.Context(), "1", approvedCall), agentstate.ErrNotPending)
	require.Equal(t, []string{"make"}, a.approvedCommands("s"))
	require.NoError(t, a.agent("s").Claim(t.Context(), "1", approvedCall))
}
