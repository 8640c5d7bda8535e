package slice_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice"
)

const childID = "child"

// A scene is a call of which the operations fail, and what may be there then.
type scene struct {
	name    string
	prepare func(t *testing.T, st *sessionstore.Store)
	act     func(ctx context.Context, st *sessionstore.Store) error

	// The transcript and the log of the session before and after, and where the
	// call keeps what was before. A fork changes none.
	rows, events             [2]string
	rowsBackup, eventsBackup string
}

func scenes() []scene {
	rewound := func(t *testing.T, st *sessionstore.Store) {
		broken(t, st)
		_, err := slice.RewindSession(t.Context(), st, parentID)
		require.NoError(t, err)
	}
	rewind := func(ctx context.Context, st *sessionstore.Store) error {
		_, err := slice.RewindSession(ctx, st, parentID)
		return err
	}
	return []scene{
		{
			name: "fork", prepare: func(t *testing.T, st *sessionstore.Store) { broken(t, st) },
			act: func(ctx context.Context, st *sessionstore.Store) error {
				_, err := slice.Fork(ctx, st, parentID, &slice.ForkOptions{Events: true, NewID: childID, Turn: new(2)})
				return err
			},
			rows: [2]string{brokenRows, brokenRows}, events: [2]string{allEvents, allEvents},
		},
		{
			name: "repair", prepare: func(t *testing.T, st *sessionstore.Store) { broken(t, st) },
			act: func(ctx context.Context, st *sessionstore.Store) error {
				_, err := slice.RepairSession(ctx, st, parentID)
				return err
			},
			rows: [2]string{brokenRows, repairedRows}, events: [2]string{allEvents, allEvents}, rowsBackup: repairBackup,
		},
		{
			name: "rescue", prepare: func(t *testing.T, st *sessionstore.Store) {
				broken(t, st)
				put(t, st, parentID, map[string]string{transcriptFile: brokenRows + half})
			},
			act: func(ctx context.Context, st *sessionstore.Store) error {
				_, err := slice.RescueSession(ctx, st, parentID, nil)
				return err
			},
			rows: [2]string{brokenRows + half, repairedRows}, events: [2]string{allEvents, allEvents}, rowsBackup: repairBackup,
		},
		{
			name: "rewind", prepare: func(t *testing.T, st *sessionstore.Store) { broken(t, st) }, act: rewind,
			rows: [2]string{brokenRows, firstTwo}, events: [2]string{allEvents, twoEvents}, rowsBackup: rewindBackup, eventsBackup: rewindEvents,
		},
		{
			name: "rewind of what was saved", prepare: func(t *testing.T, st *sessionstore.Store) {
				broken(t, st)
				require.NoError(t, st.Append(t.Context(), parentID, parse(t, strings.TrimSpace(said("user", "x", 9)))...))
				put(t, st, parentID, map[string]string{eventsFile: allEvents, metadataFile: parentMeta}) // without the count of the append
			}, act: rewind,
			rows: [2]string{brokenRows + said("user", "x", 9), firstTwo}, events: [2]string{allEvents, twoEvents}, rowsBackup: rewindBackup, eventsBackup: rewindEvents,
		},
		{
			name: "undo", prepare: rewound,
			act: func(ctx context.Context, st *sessionstore.Store) error {
				_, err := slice.Undo(ctx, st, parentID, rewindBackup, nil)
				return err
			},
			rows: [2]string{firstTwo, brokenRows}, events: [2]string{twoEvents, allEvents}, rowsBackup: undoBackup, eventsBackup: undoEvents,
		},
	}
}

// forked are the files of the fork.
func forked(t *testing.T) map[string]string {
	t.Helper()
	st := openStore(t, "")
	broken(t, st)
	_, err := slice.Fork(t.Context(), st, parentID, &slice.ForkOptions{Events: true, NewID: childID, Turn: new(2)})
	require.NoError(t, err)
	return get(t, st, childID)
}

// found is what is there after a call that may have failed.
type found struct {
	parent, child map[string]string
	rows          string // as the store reads them
}

func findAll(t *testing.T, dir string) found {
	t.Helper()
	st, err := sessionstore.Open(dir, nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, st.Close()) }()
	s, err := st.Load(t.Context(), parentID)
	f := found{parent: filesIn(t, filepath.Join(dir, parentID)), child: filesIn(t, filepath.Join(dir, childID))}
	if errors.Is(err, sessionstore.ErrCorrupt) { // as before a rescue
		f.rows = f.parent[transcriptFile]
		return f
	}
	require.NoError(t, err)
	for _, m := range s.Messages {
		f.rows += string(m.AppendTo(nil)) + "\n"
	}
	return f
}

// wrong tells why what is there is neither before nor after the call: both may
// be, unless done tells that it was acknowledged.
func (s scene) wrong(f found, fork map[string]string, done bool) string {
	after := f.rows == s.rows[1]
	switch {
	case !after && f.rows != s.rows[0]:
		return "transcript of neither"
	case f.parent[eventsFile] != s.events[0] && f.parent[eventsFile] != s.events[1]:
		return "log of neither"
	case f.parent[metadataFile] != parentMeta:
		return "other metadata"
	case done && (!after || f.parent[eventsFile] != s.events[1]):
		return "what was acknowledged is gone"
	case len(f.parent[eventsFile]) < len(s.events[0]) && !after, len(f.parent[eventsFile]) < len(s.events[1]) && after:
		return "the log has less than the transcript"
	}
	for i, name := range []string{s.rowsBackup, s.eventsBackup} {
		want := [2]string{s.rows[0], s.events[0]}[i]
		if got, ok := f.parent[name]; ok && got != want && i == 0 || after && name != "" && got != want {
			return fmt.Sprintf("%s is %q", name, got)
		}
	}
	if s.name != "fork" {
		return ""
	}
	switch {
	case f.child == nil && done:
		return "the fork is gone"
	case f.child != nil && !equalFiles(f.child, fork):
		return fmt.Sprintf("the fork is not whole: %v", f.child)
	}
	return ""
}

func equalFiles(a, b map[string]string) bool {
	if len(a) != len(b) {
		return false
	}
	for name, data := range a {
		if b[name] != data {
			return false
		}
	}
	return true
}

// leftovers are the temporary files in a session.
func leftovers(files map[string]string) []string {
	return slices.DeleteFunc(keys(files), func(name string) bool { return !strings.HasPrefix(name, ".") })
}

// openFaulty opens a store with a seam.
func openFaulty(t testing.TB, dir string, d sessionstore.Durability, hooks *seam.Seam) *sessionstore.Store {
	t.Helper()
	st, err := core.Open(dir, &sessionstore.Options{Now: noon, Workspace: "/w", Durability: d}, hooks)
	require.NoError(t, err)
	return st
}
