package syncplan

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
)

func TestOrderOfTests(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name                string
		local, base, remote history
		kind                Kind
		why                 Why
	}{
		{"1 equal", "abc", "ab", "abc", Idle, InStep},
		{"1 equal, nothing known", "abc", "-", "abc", Idle, InStep},
		{"1 equal, both empty", "", "-", "", Idle, InStep},
		{"2 remote added", "ab", "ab", "abc", Pull, RemoteChanged},
		{"2 remote rewound, idle device", "abcd", "abcd", "ab", Pull, RemoteChanged},
		{"2 remote rewound to nothing", "abcd", "abcd", "", Pull, RemoteChanged},
		{"2 remote rewrote", "abcd", "abcd", "axyz", Pull, RemoteChanged},
		{"3 local added", "abcd", "ab", "ab", Push, LocalAdded},
		{"3 local added to nothing", "abcd", "", "", Push, LocalAdded},
		{"3 local rewound", "ab", "abcd", "abcd", Rewrite, LocalRewrote},
		{"3 local rewound to nothing", "", "abcd", "abcd", Rewrite, LocalRewrote},
		{"3 local rewound and added", "abxyz", "abcd", "abcd", Rewrite, LocalRewrote},
		{"3 local edited", "aXcd", "abcd", "abcd", Rewrite, LocalRewrote},
		{"4 push of this device whose state was not saved", "abcd", "a", "abc", Push, LocalAdded},
		{"4 pull that was not noted, remote went on", "abc", "a", "abcd", Pull, RemoteChanged},
		{"4 both added", "abX", "ab", "abY", Diverge, Diverged},
		{"4 both rewrote", "Xb", "ab", "Yb", Diverge, Diverged},
		{"4 remote rewound, local added", "abcX", "abc", "a", Diverge, RemoteRewound},
		{"4 remote rewound to nothing, local added", "abcX", "abc", "", Diverge, RemoteRewound},
		{"4 local rewound, remote added", "a", "abc", "abcd", Pull, LocalRewound},
		{"4 local rewound to nothing, remote added", "", "abc", "abcd", Pull, LocalRewound},
		{"4 local rewound further than remote", "a", "abcd", "abc", Pull, LocalRewound},
		{"4 remote rewound further than local", "abc", "abcd", "a", Diverge, RemoteRewound},
		{"4 local rewound and added, remote added", "aX", "abc", "abcd", Diverge, Diverged},
		{"4 both rewound and added the same", "aX", "abc", "aX", Idle, InStep},
		{"5 local longer", "abc", "-", "ab", Push, LocalAdded},
		{"5 remote longer", "ab", "-", "abc", Pull, RemoteChanged},
		{"5 local empty", "", "-", "abc", Pull, RemoteChanged},
		{"5 remote empty", "abc", "-", "", Push, LocalAdded},
		{"5 another session of that name", "abc", "-", "xyz", Diverge, Diverged},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := Plan(input(c.local, c.base, c.remote))
			require.NoError(t, err)
			require.Equal(t, Action{Kind: c.kind, Why: c.why, Fork: c.kind == Diverge}, got)
		})
	}
}

func TestBaselessRewind(t *testing.T) {
	t.Parallel()
	in := input("abcd", "-", "ab")
	in.Remote.Replaced = history("abcd").has
	got, err := Plan(in)
	require.NoError(t, err)
	require.Equal(t, Action{Kind: Pull, Why: RemoteChanged}, got, "a former tip is followed to the new one")

	in = input("abc", "-", "ab")
	in.Remote.Replaced = history("abcd").has
	got, err = Plan(in)
	require.NoError(t, err)
	require.Equal(t, Action{Kind: Pull, Why: RemoteChanged}, got, "so is a part of a former history")

	in = input("abX", "-", "ab")
	in.Remote.Replaced = history("abcd").has
	got, err = Plan(in)
	require.NoError(t, err)
	require.Equal(t, Action{Kind: Push, Why: LocalAdded}, got, "new lines are not")
}

func TestPresence(t *testing.T) {
	t.Parallel()
	base := history("ab").tip()
	for _, c := range []struct {
		name   string
		change func(*Input)
		want   Action
	}{
		{"nowhere", func(in *Input) { in.Local.Present, in.Remote.Present = false, false }, Action{Kind: Idle, Why: Nowhere}},
		{"only here", func(in *Input) { in.Remote.Present, in.Base = false, nil }, Action{Kind: Create, Why: New}},
		{"the tip is gone", func(in *Input) { in.Remote.Present = false }, Action{Kind: Create, Why: Vanished}},
		{"only there", func(in *Input) { in.Local = Local{} }, Action{Kind: Pull, Why: New}},
		{"removed here", func(in *Input) { in.Local = Local{Removed: true} }, Action{Kind: Idle, Why: RemovedHere}},
		{"removed here, asked for", func(in *Input) { in.Local = Local{Removed: true, Asked: true} }, Action{Kind: Pull, Why: New}},
		{"deleted there, never here", func(in *Input) { in.Local, in.Remote.Deleted = Local{}, true }, Action{Kind: Idle, Why: DeletedThere}},
		{"deleted there", func(in *Input) { in.Remote.Deleted = true }, Action{Kind: Deleted, Why: AddedSince}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			in := input("abX", "ab", "abc")
			in.Base = &base
			c.change(&in)
			got, err := Plan(in)
			require.NoError(t, err)
			require.Equal(t, c.want, got)
		})
	}
}

func TestTombstones(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name                string
		local, base, remote history
		why                 Why
	}{
		{"in step", "abc", "abc", "abc", DeletedThere},
		{"in step, state lost", "abc", "-", "abc", DeletedThere},
		{"behind", "ab", "ab", "abc", DeletedThere},
		{"behind, state lost", "ab", "-", "abc", DeletedThere},
		{"rewound there before, nothing added", "abcd", "abcd", "ab", DeletedThere},
		{"added", "abcX", "abc", "abc", AddedSince},
		{"added, state lost", "abcX", "-", "abc", AddedSince},
		{"added while behind", "abX", "ab", "abc", AddedSince},
		{"empty", "", "-", "abc", DeletedThere},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			in := input(c.local, c.base, c.remote)
			in.Remote.Deleted = true
			in.Local.Redaction = "other" // does not matter
			got, err := Plan(in)
			require.NoError(t, err)
			require.Equal(t, Action{Kind: Deleted, Why: c.why}, got)
		})
	}
}

func TestErrorsOfQuestions(t *testing.T) {
	t.Parallel()
	broken := errors.New("cable cut")
	ask := func(segment.Point) (bool, error) { return false, broken }
	for _, base := range []history{"ab", "-"} {
		in := input("abX", base, "abYZ")
		in.Remote.Has = ask
		_, err := Plan(in)
		require.ErrorIs(t, err, broken)
		in.Remote.Deleted = true
		_, err = Plan(in)
		require.ErrorIs(t, err, broken)
		in = input("abXY", base, "abZ")
		in.Local.Has = ask
		_, err = Plan(in)
		require.ErrorIs(t, err, broken)
	}
}

func TestNoQuestionWithoutNeed(t *testing.T) {
	t.Parallel()
	in := input("abcX", "abc", "abc")
	in.Remote.Has = nil
	_, err := Plan(in)
	require.NoError(t, err)
	in = input("abcX", "ab", "abc")
	in.Remote.Has = nil
	_, err = Plan(in)
	require.NoError(t, err, "a push never asks the cloud for its history")
}
