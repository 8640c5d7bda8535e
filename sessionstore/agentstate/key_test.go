package agentstate

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// TestNoKeyBeforeAnApproval: what only reads or keeps calls makes no key, and the first
// approval makes one for the owner alone.
func TestNoKeyBeforeAnApproval(t *testing.T) {
	t.Parallel()
	s, again := newState(t)
	ctx := t.Context()
	require.NoError(t, s.KeepPending(ctx, "1", oneCall))
	require.NoError(t, s.KeepPending(ctx, "2", oneCall))
	require.NoError(t, s.Decide(ctx, "2", Rejected))
	require.NoError(t, s.Import(ctx, json.RawMessage(`{}`)))
	require.ErrorIs(t, s.Claim(ctx, "1", oneCall), ErrNotApproved)
	_, err := s.ApprovedCommands(ctx)
	require.NoError(t, err)
	require.NoDirExists(t, filepath.Dir(keyPath(s)))

	require.NoError(t, s.Decide(ctx, "1", Approved))
	fi, err := os.Lstat(keyPath(s))
	require.NoError(t, err)
	require.EqualValues(t, keySize, fi.Size())
	if runtime.GOOS != "windows" {
		require.Equal(t, os.FileMode(0o600), fi.Mode())
	}
	was := string(read(t, s, "../"+sessiondir.Bookkeeping+"/"+keyDir+"/"+keyFile))
	require.NoError(t, again().AddApprovedCommand(ctx, "ls"))
	require.Equal(t, was, read(t, s, "../"+sessiondir.Bookkeeping+"/"+keyDir+"/"+keyFile))
	require.NoError(t, again().Claim(ctx, "1", oneCall))
}

// TestUnreadableKey has something else where the key is. What needs the key is refused and
// says what to do, and what does not need it goes on. Without the key, all is asked for anew.
func TestUnreadableKey(t *testing.T) {
	t.Parallel()
	elsewhere := func(t *testing.T, at string) {
		other := filepath.Join(filepath.Dir(at), "other")
		require.NoError(t, os.WriteFile(other, make([]byte, keySize), 0o600))
		testenv.Need(t, os.Symlink(other, at) == nil, "no symlinks here")
	}
	for name, spoil := range map[string]func(t *testing.T, at string){
		"empty":     func(t *testing.T, at string) { require.NoError(t, os.WriteFile(at, nil, 0o600)) },
		"too short": func(t *testing.T, at string) { require.NoError(t, os.WriteFile(at, make([]byte, keySize-1), 0o600)) },
		"too long":  func(t *testing.T, at string) { require.NoError(t, os.WriteFile(at, make([]byte, keySize+1), 0o600)) },
		"directory": func(t *testing.T, at string) { require.NoError(t, os.Mkdir(at, 0o700)) },
		"symlink":   elsewhere,
		"directory is a symlink": func(t *testing.T, at string) {
			dir := filepath.Dir(at)
			require.NoError(t, os.WriteFile(at, make([]byte, keySize), 0o600))
			require.NoError(t, os.Rename(dir, dir+"2"))
			testenv.Need(t, os.Symlink(filepath.Base(dir)+"2", dir) == nil, "no symlinks here")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, again := newState(t)
			ctx := t.Context()
			for _, id := range []string{"1", "2", "3"} {
				approve(t, s, id)
			}
			require.NoError(t, s.KeepPending(ctx, "waits", oneCall))
			require.NoError(t, s.AddApprovedCommand(ctx, "ls"))
			require.NoError(t, os.Remove(keyPath(s)))
			spoil(t, keyPath(s))

			s = again()
			call := json.RawMessage(`{"call": "1"}`)
			for what, err := range map[string]error{
				"Claim":             s.Claim(ctx, "1", call),
				"Decide":            s.Decide(ctx, "waits", Approved),
				"Approvals":         errorOf(s.Approvals(ctx)),
				"ApprovedCommands":  errorOf(s.ApprovedCommands(ctx)),
				"IsCommandApproved": errorOf(s.IsCommandApproved(ctx, "ls")),
				"AddCommand":        s.AddApprovedCommand(ctx, "rm"),
				"Export":            errorOf(s.Export(ctx)),
			} {
				require.ErrorContains(t, err, filepath.Join(sessiondir.Bookkeeping, keyDir, keyFile)+" readable, or remove it", what)
			}
			require.NoError(t, s.KeepPending(ctx, "4", oneCall))
			require.NoError(t, s.Decide(ctx, "3", Rejected))
			_, err := NewSession(s).Resolve(ctx, "2", Rejected)
			require.NoError(t, err)
			is, err := s.IsCommandApproved(ctx, "rm")
			require.NoError(t, err)
			require.False(t, is)

			if name == "directory is a symlink" {
				require.NoError(t, os.Remove(filepath.Dir(keyPath(s))))
			} else {
				require.NoError(t, os.RemoveAll(keyPath(s)))
			}
			require.ErrorIs(t, s.Claim(ctx, "1", call), ErrNotApproved)
			require.NoError(t, s.Decide(ctx, "1", Approved))
			require.NoError(t, s.Claim(ctx, "1", call))
			is, err = s.IsCommandApproved(ctx, "ls")
			require.NoError(t, err)
			require.False(t, is)
		})
	}
}

// TestMarksOfOtherDevicesStay: writing here keeps the marks by which another device approved
// its calls and commands, and both count by their own.
func TestMarksOfOtherDevicesStay(t *testing.T) {
	t.Parallel()
	here, _ := newState(t)
	there, _ := newState(t)
	ctx := t.Context()
	for _, id := range []string{"1", "2"} {
		approve(t, here, id)
	}
	require.NoError(t, here.AddApprovedCommand(ctx, "ls"))
	carry := func(from, to *State) {
		for _, name := range []string{pendingFile, stateFile} {
			write(t, to, name, read(t, from, name))
		}
	}
	carry(here, there)
	require.NoError(t, there.Decide(ctx, "2", Approved))
	require.NoError(t, there.KeepPending(ctx, "3", oneCall))
	require.NoError(t, there.AddApprovedCommand(ctx, "ls"))
	require.NoError(t, there.AddApprovedCommand(ctx, "make"))
	list, err := there.ApprovedCommands(ctx)
	require.NoError(t, err)
	require.Equal(t, []string{"ls", "make"}, list)
	require.ErrorIs(t, there.Claim(ctx, "1", json.RawMessage(`{"call": "1"}`)), ErrNotApproved)
	carry(there, here)
	list, err = here.ApprovedCommands(ctx)
	require.NoError(t, err)
	require.Equal(t, []string{"ls"}, list)
	require.NoError(t, here.Claim(ctx, "1", json.RawMessage(`{"call": "1"}`)))
	require.ErrorIs(t, here.Claim(ctx, "2", json.RawMessage(`{"call": "2"}`)), ErrNotApproved)
}

// TestMadeUpMarks writes marks without the key. None counts, with or without a key here.
func TestMadeUpMarks(t *testing.T) {
	t.Parallel()
	byNoKey := key{}.mark("call", id, "1", digest(oneCall))
	for _, has := range []string{"", strings.Repeat("k", keySize)} {
		for _, mark := range []string{`""`, `null`, `1`, `["x"]`, `"` + byNoKey + `"`, `"` + strings.Repeat("0", 64) + `"`} {
			s, _ := newState(t)
			if has != "" {
				writeKey(t, s, has)
			}
			write(t, s, pendingFile, `{"v": 1, "approvals": [{"id": "1", "digest": "`+digest(oneCall)+`", "call": `+string(oneCall)+`, "verdict": "approved", "mark": `+mark+`}]}`)
			write(t, s, stateFile, `{"v": 1, "approvedCommands": ["ls"], "approvedMarks": [`+mark+`, `+`"`+key{}.mark("command", id, "ls")+`"`+`]}`)
			require.ErrorIs(t, s.Claim(t.Context(), "1", oneCall), ErrNotApproved, mark)
			is, err := s.IsCommandApproved(t.Context(), "ls")
			require.NoError(t, err)
			require.False(t, is, mark)
		}
	}
}

// TestMarksAreOfOneApproval: no two approvals have the same mark, however their parts join.
func TestMarksAreOfOneApproval(t *testing.T) {
	t.Parallel()
	k, seen := key(strings.Repeat("k", keySize)), map[string][]string{}
	for _, parts := range [][]string{
		{"call", "s", "a", "b"},
		{"call", "s", "ab", ""},
		{"call", "sa", "", "b"},
		{"calls", "a", "", "b"},
		{"call", "s", "a\x00b"},
		{"command", "s", "a"},
		{"command", "sa", ""},
		{"command", "s", "", "a"},
		{"command"},
		{},
	} {
		mark := k.mark(parts...)
		require.Len(t, mark, 64)
		require.Nil(t, seen[mark], "%q", parts)
		seen[mark] = parts
	}
}

// TestOneKeyForAll lets many states of several sessions, stores and processes approve for the
// first time at once. All their approvals count.
func TestOneKeyForAll(t *testing.T) {
	t.Parallel()
	for range testenv.Share(3, 5, 50) {
		dir := newStore(t, nil).Dir()
		children := []*testenv.Process{testenv.Spawn(t, "first", dir, "p1"), testenv.Spawn(t, "first", dir, "p2")}
		var wg sync.WaitGroup
		for i := range 4 {
			wg.Go(func() {
				if err := firstAsChild(dir, fmt.Sprint("g", i)); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		for _, c := range children {
			c.End(t)
		}
		st, err := sessionstore.Open(dir, nil)
		require.NoError(t, err)
		for _, id := range []string{"p1", "p2", "g0", "g1", "g2", "g3"} {
			s, err := Open(st, id, nil)
			require.NoError(t, err)
			require.NoError(testenv.Lost(t), s.Claim(t.Context(), "1", oneCall), id)
			is, err := s.IsCommandApproved(t.Context(), "ls")
			require.NoError(t, err)
			require.True(testenv.Lost(t), is)
		}
		require.NoError(t, st.Close())
	}
}

// firstAsChild approves a call and a command of a new session.
func firstAsChild(dir, id string) error {
	ctx := context.Background()
	st, err := core.Open(dir, nil, nil)
	if err != nil {
		return err
	}
	defer st.Close()
	if err := st.Create(ctx, id, sessionstore.Metadata{}); err != nil {
		return err
	}
	s, err := Open(st, id, nil)
	if err != nil {
		return err
	}
	if err := s.KeepPending(ctx, "1", oneCall); err != nil {
		return err
	}
	if err := s.Decide(ctx, "1", Approved); err != nil {
		return err
	}
	return s.AddApprovedCommand(ctx, "ls")
}

// TestKeyIsDurableBeforeTheApproval: the first approval syncs the key and the names on the
// way to it before the file changes. The later ones change nothing but that file.
func TestKeyIsDurableBeforeTheApproval(t *testing.T) {
	t.Parallel()
	var ops []string
	hooks := &seam.Seam{}
	st := newStore(t, hooks)
	s, err := Open(st, id, nil)
	require.NoError(t, err)
	for _, id := range []string{"1", "2"} {
		require.NoError(t, s.KeepPending(t.Context(), id, oneCall))
	}
	hooks.After = func(op seam.Op) {
		rel, err := filepath.Rel(st.Dir(), op.Dir)
		require.NoError(t, err)
		if op.Kind == seam.Sync || op.Kind == seam.SyncDir || op.To == keyFile {
			ops = append(ops, op.Kind.String()+" "+filepath.ToSlash(rel))
		}
	}
	require.NoError(t, s.Decide(t.Context(), "1", Approved))
	const at = sessiondir.Bookkeeping + "/" + keyDir
	first := []string{"sync " + at, "rename " + at, "syncdir " + at, "syncdir " + sessiondir.Bookkeeping, "syncdir ."}
	require.Equal(t, first, ops[:len(first)])
	rest := slices.Clone(ops[len(first):])
	ops = nil
	require.NoError(t, s.Decide(t.Context(), "2", Approved))
	require.Equal(t, rest, ops)
}

// TestSecondKeyIsNotMade has another store find no key, and begin to make one, while the
// first one makes it.
func TestSecondKeyIsNotMade(t *testing.T) {
	t.Parallel()
	began, done := make(chan struct{}), make(chan error, 1)
	second := &seam.Seam{Before: func(op seam.Op) error {
		if op.Kind == seam.Mkdir && filepath.Base(op.Name) == keyDir {
			close(began)
		}
		return nil
	}}
	var other *State
	first := &seam.Seam{Before: func(op seam.Op) error {
		if op.Kind == seam.Create && filepath.Base(op.Dir) == keyDir {
			go func() { done <- other.AddApprovedCommand(t.Context(), "ls") }()
			<-began
		}
		return nil
	}}
	st := newStore(t, first)
	s, err := Open(st, id, nil)
	require.NoError(t, err)
	beside, err := core.Open(st.Dir(), nil, second)
	require.NoError(t, err)
	defer beside.Close()
	require.NoError(t, beside.Create(t.Context(), "s2", sessionstore.Metadata{}))
	other, err = Open(beside, "s2", nil)
	require.NoError(t, err)
	approve(t, s, "1")
	require.NoError(t, <-done)
	require.NoError(testenv.Lost(t), s.Claim(t.Context(), "1", json.RawMessage(`{"call": "1"}`)))
	is, err := other.IsCommandApproved(t.Context(), "ls")
	require.NoError(t, err)
	require.True(t, is)
}
