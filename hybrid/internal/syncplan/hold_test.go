package syncplan

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPolicies(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name                string
		local, base, remote history
		want                [3]Action // KeepBoth, Ours, Theirs
	}{
		{"both added", "abX", "ab", "abY", [3]Action{
			{Kind: Diverge, Why: Diverged, Fork: true},
			{Kind: Rewrite, Why: Diverged, KeepRemote: true},
			{Kind: Diverge, Why: Diverged},
		}},
		{"remote rewound", "abX", "ab", "a", [3]Action{
			{Kind: Diverge, Why: RemoteRewound, Fork: true},
			{Kind: Push, Why: RemoteRewound},
			{Kind: Diverge, Why: RemoteRewound},
		}},
		{"local rewound", "a", "ab", "abY", [3]Action{
			{Kind: Pull, Why: LocalRewound},
			{Kind: Rewrite, Why: LocalRewound, KeepRemote: true},
			{Kind: Pull, Why: LocalRewound},
		}},
		{"no conflict", "abX", "ab", "ab", [3]Action{
			{Kind: Push, Why: LocalAdded}, {Kind: Push, Why: LocalAdded}, {Kind: Push, Why: LocalAdded},
		}},
		{"nothing new here", "ab", "ab", "a", [3]Action{
			{Kind: Pull, Why: RemoteChanged}, {Kind: Pull, Why: RemoteChanged}, {Kind: Pull, Why: RemoteChanged},
		}},
	} {
		for p, want := range c.want {
			t.Run(fmt.Sprint(c.name, "/", p), func(t *testing.T) {
				t.Parallel()
				in := input(c.local, c.base, c.remote)
				in.Policy = Policy(p)
				got, err := Plan(in)
				require.NoError(t, err)
				require.Equal(t, want, got)
			})
		}
	}
}

// TestHeldBack: a file is not changed under a live program, and with other
// redaction rules nothing is rewritten or forked. What needs neither goes on.
func TestHeldBack(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name                string
		local, base, remote history
		live, other         Action
	}{
		{"in step", "ab", "ab", "ab", Action{Kind: Idle, Why: InStep}, Action{Kind: Idle, Why: InStep}},
		{"local added", "abX", "ab", "ab", Action{Kind: Push, Why: LocalAdded}, Action{Kind: Push, Why: LocalAdded}},
		{
			"local rewrote", "aX", "ab", "ab",
			Action{Kind: Rewrite, Why: LocalRewrote},
			Action{Kind: Blocked, Why: OtherRules, Reason: LocalRewrote},
		},
		{
			"remote added", "ab", "ab", "abY",
			Action{Kind: Behind, Why: LiveWriter, Reason: RemoteChanged},
			Action{Kind: Pull, Why: RemoteChanged},
		},
		{
			"local rewound", "a", "ab", "abY",
			Action{Kind: Behind, Why: LiveWriter, Reason: LocalRewound},
			Action{Kind: Pull, Why: LocalRewound},
		},
		{
			"diverged", "abX", "ab", "abY",
			Action{Kind: Record, Why: LiveWriter, Reason: Diverged},
			Action{Kind: Blocked, Why: OtherRules, Reason: Diverged},
		},
		{
			"remote rewound", "abX", "ab", "a",
			Action{Kind: Record, Why: LiveWriter, Reason: RemoteRewound},
			Action{Kind: Blocked, Why: OtherRules, Reason: RemoteRewound},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			in := input(c.local, c.base, c.remote)
			in.Local.Live = true
			got, err := Plan(in)
			require.NoError(t, err)
			require.Equal(t, c.live, got)
			in.Local.Live = false
			in.Remote.Redaction = "2"
			got, err = Plan(in)
			require.NoError(t, err)
			require.Equal(t, c.other, got)
		})
	}
}

func TestBranchesAreContinued(t *testing.T) {
	t.Parallel()
	listed := func(all ...history) (out []Branch) {
		for _, h := range all {
			out = append(out, Branch{ID: string(h), Tip: h.tip(), Has: h.has})
		}
		return out
	}
	for _, c := range []struct {
		name     string
		local    history
		branches []Branch
		replaces []string
		stored   bool
	}{
		{"none", "abX", nil, nil, false},
		{"one", "abXX", listed("abX"), []string{"abX"}, false},
		{"several", "abXXX", listed("abX", "abXX", "abZ"), []string{"abX", "abXX"}, false},
		{"one that went elsewhere", "abXX", listed("abZ"), nil, false},
		{"one that is longer", "abX", listed("abXX"), nil, true},
		{"one that left before", "abX", listed("aXXX", "abZZ"), nil, false},
		{"stored already", "abX", listed("abX"), []string{"abX"}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			in := input(c.local, "ab", "abY")
			in.Remote.Branches = func() ([]Branch, error) { return c.branches, nil }
			got, err := Plan(in)
			require.NoError(t, err)
			require.Equal(t, Action{Kind: Diverge, Why: Diverged, Fork: true, Replaces: c.replaces, Stored: c.stored}, got)

			in.Local.Live = true
			want := Action{Kind: Record, Why: LiveWriter, Reason: Diverged, Replaces: c.replaces}
			if c.stored {
				want = Action{Kind: Behind, Why: LiveWriter, Reason: Diverged}
			}
			got, err = Plan(in)
			require.NoError(t, err)
			require.Equal(t, want, got)
		})
	}
}

func TestLogs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name          string
		local, remote history
		want, unknown LogAction // where the base is that of the cloud, and another one
	}{
		{"nothing", "", "", LogIdle, LogIdle},
		{"no file", "", "ab", LogIdle, LogIdle},
		{"in step", "ab", "ab", LogIdle, LogIdle},
		{"first", "ab", "", LogPush, LogPush},
		{"added", "abc", "ab", LogPush, LogPush},
		{"cut", "a", "ab", LogRewind, LogAnew},
		{"another file", "xyz", "ab", LogRewind, LogAnew},
		{"another file, shorter", "x", "ab", LogRewind, LogAnew},
		{"cut and added", "aX", "ab", LogRewind, LogAnew},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := PlanLog(c.local.tip(), c.local.has, c.remote.tip(), c.remote.tip())
			require.NoError(t, err)
			require.Equal(t, c.want, got)
			got, err = PlanLog(c.local.tip(), c.local.has, c.remote.tip(), history("a").tip())
			require.NoError(t, err)
			require.Equal(t, c.unknown, got)
		})
	}
}

// TestPrefixesAreNoConflicts: of 92 pairs of copies of a session, as one
// user's devices really had them (claude-sync, issue 69), 91 are a history and
// its beginning, and one went two ways.
func TestPrefixesAreNoConflicts(t *testing.T) {
	t.Parallel()
	const lines = "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrst"
	count := map[Kind]int{}
	for i := range 91 {
		long, short := history(lines[:i%90+2]), history(lines[:(i%90+2)*(i%10)/10])
		local, remote, want := long, short, Push
		if i%2 == 0 {
			local, remote, want = short, long, Pull
		}
		got, err := Plan(input(local, "-", remote))
		require.NoError(t, err)
		require.Equal(t, want, got.Kind, "pair %d", i)
		count[got.Kind]++
	}
	got, err := Plan(input(history(lines[:40]+"X"), "-", history(lines[:40]+"YZ")))
	require.NoError(t, err)
	require.Equal(t, Action{Kind: Diverge, Why: Diverged, Fork: true}, got)
	require.Equal(t, 91, count[Push]+count[Pull])
}

// TestOursStoresNoBranchTwice: the remote history becomes a branch where none holds it.
func TestOursStoresNoBranchTwice(t *testing.T) {
	t.Parallel()
	for branch, kept := range map[history]bool{"": true, "abZ": true, "abY": false, "abYY": false} {
		in := input("abX", "ab", "abY")
		in.Policy = Ours
		in.Remote.Branches = func() ([]Branch, error) { return []Branch{{string(branch), branch.tip(), branch.has}}, nil }
		got, err := Plan(in)
		require.NoError(t, err)
		require.Equal(t, Rewrite, got.Kind)
		require.Equal(t, kept, got.KeepRemote, branch)
	}
}
