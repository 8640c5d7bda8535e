package slice_test

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice"
)

// state is what undo and redo bring back of a session.
type state struct{ rows, name string }

// moved is the state from before a change or a step, which had the number at.
type moved struct {
	state
	at int
}

// walker changes a session, and knows what undo and redo are to bring.
type walker struct {
	*testing.T
	rand       *rand.Rand
	st         *sessionstore.Store
	now        state
	undo, redo []moved
	wentOn     bool // once; then undo may have to be forced
	moves      int
	rowsMoved  int // the number of the last step of the transcript
	said       int
	names      int
}

func (w *walker) state() state {
	w.Helper()
	md, err := w.st.Metadata(w.Context(), parentID)
	require.NoError(w, err)
	return state{get(w, w.st, parentID)[transcriptFile], md.Text("name")}
}

// changed notes that a change was made, unless it changed nothing.
func (w *walker) changed() {
	if now := w.state(); now != w.now {
		w.moves++
		w.undo, w.redo, w.now = append(w.undo, moved{w.now, w.moves}), nil, now
	}
}

func (w *walker) turn() string {
	w.said += 2
	return said("user", fmt.Sprint("q", w.said), w.said) + said("assistant", "a", w.said+1)
}

// step takes back or makes again what is the last of from. Of the other file, each step leaves
// what was written since.
func (w *walker) step(from, to *[]moved, do func() error) {
	err := do()
	if len(*from) == 0 {
		require.ErrorIs(w, err, fs.ErrNotExist)
		return
	}
	require.NoError(w, err)
	was, want := w.now, (*from)[len(*from)-1].state
	if w.now = w.state(); w.now.rows == was.rows {
		want.rows = was.rows
	} else {
		want.name = was.name
	}
	require.Equal(w, want, w.now)
	w.moves++
	if was.rows != w.now.rows {
		w.rowsMoved = w.moves
	}
	*from = (*from)[:len(*from)-1]
	*to = append(*to, moved{was, w.moves})
}

func (w *walker) act() string {
	turns := strings.Count(w.now.rows, `"role": "user"`)
	switch kind := w.rand.IntN(14); kind {
	case 0, 1, 2, 3, 4:
		w.step(&w.undo, &w.redo, func() error {
			_, err := slice.Undo(w.Context(), w.st, parentID, "", &slice.UndoOptions{Force: w.wentOn})
			return err
		})
		return "undo"
	case 5, 6, 7:
		w.step(&w.redo, &w.undo, func() error { _, err := slice.Redo(w.Context(), w.st, parentID); return err })
		return "redo"
	case 8, 9:
		if turns > 1 {
			_, err := slice.RewindSessionTo(w.Context(), w.st, parentID, 1+w.rand.IntN(turns), slice.Complete)
			require.NoError(w, err)
		}
	case 10:
		w.names++
		_, err := slice.RenameSession(w.Context(), w.st, parentID, fmt.Sprint("name ", w.names))
		require.NoError(w, err)
	case 11: // a copy that is named; it may be what undo or redo brings
		all, err := slice.Backups(w.Context(), w.st, parentID)
		require.NoError(w, err)
		undo, redo, err := slice.Steps(w.Context(), w.st, parentID)
		require.NoError(w, err)
		ways := append(slices.Clone(undo[:min(1, len(undo))]), redo[:min(1, len(redo))]...)
		all = slices.DeleteFunc(all, func(b slice.Backup) bool {
			return slices.ContainsFunc(ways, func(s slice.Backup) bool { return s.Name == b.Name })
		})
		if len(all) == 0 {
			return ""
		}
		_, err = slice.Undo(w.Context(), w.st, parentID, all[w.rand.IntN(len(all))].Name, &slice.UndoOptions{Force: true})
		require.NoError(w, err)
	case 12, 13: // the session goes on, or another program writes it anew
		if kind == 12 {
			require.NoError(w, w.st.Append(w.Context(), parentID, parse(w, strings.Split(strings.TrimSpace(w.turn()), "\n")...)...))
		} else {
			put(w, w.st, parentID, map[string]string{transcriptFile: w.now.rows + " " + w.turn()})
		}
		w.redo = slices.DeleteFunc(w.redo, func(m moved) bool { return m.at <= w.rowsMoved })
		w.now, w.wentOn = w.state(), true
		return "written"
	}
	w.changed()
	return "changed"
}

// TestUndoAndRedo changes sessions at random, and compares each undo and redo with a model
// that keeps all states in two stacks.
func TestUndoAndRedo(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(testenv.Seed(t), 9))
	met := map[string]int{}
	for range testenv.Share(10, 40, 600) {
		w := &walker{T: t, rand: r, st: openStore(t, filepath.Join(testenv.Scratch(t), "s"))}
		put(t, w.st, parentID, map[string]string{transcriptFile: w.turn() + w.turn() + w.turn() + w.turn(), metadataFile: `{"session_id": "parent"}`})
		w.now = w.state()
		for range 25 {
			met[w.act()]++
			undo, redo, err := slice.Steps(t.Context(), w.st, parentID)
			require.NoError(t, err)
			require.Len(t, undo, len(w.undo))
			require.Len(t, redo, len(w.redo))
		}
	}
	require.Greater(t, min(met["undo"], met["redo"], met["changed"], met["written"]), 20)
}
