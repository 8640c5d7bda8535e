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

// TestUndoOfOlderPrograms has copies that other programs made: each counts as a change, also
// what was an undo for them. A copy of which the change was never made counts as none.
func TestUndoOfOlderPrograms(t *testing.T) {
	t.Parallel()
	turn := func(n int) string { return said("user", "q", n) + said("assistant", "a", n+1) }
	two, four, eight := turn(1), turn(1)+turn(3), turn(1)+turn(3)+turn(5)+turn(7)
	kept := func(label, second string) string { return transcriptFile + ".bak-" + label + "-202611180000" + second }
	for _, c := range []struct {
		name  string
		files map[string]string
		undo  []string // what each undo brings; then there is nothing to undo
	}{
		{"undo that swung", map[string]string{
			kept("pre-rewind", "01"): eight, kept("pre-rewind", "02"): four, kept("pre-undo", "03"): two, kept("pre-undo", "03-2"): four, transcriptFile: two,
		}, []string{four, two, four, eight}},
		{"the reference", map[string]string{kept("pre-repair", "01"): eight, kept("pre-rewind", "02"): four, transcriptFile: two}, []string{four, eight}},
		{"killed before the change", map[string]string{kept("pre-rewind", "01"): eight, kept("pre-rewind", "02"): four, transcriptFile: four}, []string{eight}},
		{"killed before the undo", map[string]string{kept("pre-rewind", "01"): eight, kept("pre-undo-step", "02"): four, transcriptFile: four}, []string{eight}},
		{"killed, and killed again", map[string]string{
			kept("pre-rewind", "01"): eight, kept("pre-undo-step", "02"): four, kept("pre-undo-step", "03"): four, transcriptFile: four,
		}, []string{eight}},
		{"a copy was removed", map[string]string{kept("pre-rewind", "01"): eight, kept("pre-undo-step", "03"): two, transcriptFile: four}, []string{eight}},
	} {
		st := openStore(t, "")
		put(t, st, parentID, c.files)
		for _, want := range c.undo {
			undo(t, st, "")
			require.Equal(t, want, get(t, st, parentID)[transcriptFile], c.name)
		}
		_, err := slice.Undo(t.Context(), st, parentID, "", nil)
		require.ErrorIs(t, err, fs.ErrNotExist, c.name)
		for i := range c.undo {
			_, err := slice.Redo(t.Context(), st, parentID)
			require.NoError(t, err, c.name)
			if n := len(c.undo) - 2 - i; n >= 0 {
				require.Equal(t, c.undo[n], get(t, st, parentID)[transcriptFile], c.name)
			}
		}
		require.Equal(t, c.files[transcriptFile], get(t, st, parentID)[transcriptFile], c.name)
		_, err = slice.Redo(t.Context(), st, parentID)
		require.ErrorIs(t, err, fs.ErrNotExist, c.name)
	}
}

// TestRedoEndsWithAnotherWrite appends to a session, and writes it anew, after an undo: there
// is nothing to redo, and what was undone is still listed. A step that was killed before
// the session went on was never made.
func TestRedoEndsWithAnotherWrite(t *testing.T) {
	t.Parallel()
	for _, write := range []func(st *sessionstore.Store){
		func(st *sessionstore.Store) {
			require.NoError(t, st.Append(t.Context(), parentID, parse(t, strings.TrimSpace(said("user", "x", 9)))...))
		},
		func(st *sessionstore.Store) {
			put(t, st, parentID, map[string]string{transcriptFile: strings.ReplaceAll(brokenRows, "eins", "zwei")})
		},
	} {
		st := openStore(t, "")
		broken(t, st)
		for turn := 2; turn > 0; turn-- {
			_, err := slice.RewindSessionTo(t.Context(), st, parentID, turn, slice.Complete)
			require.NoError(t, err)
		}
		undo(t, st, "")
		undo(t, st, "")
		write(st)
		_, err := slice.Redo(t.Context(), st, parentID)
		require.ErrorIs(t, err, fs.ErrNotExist)
		all, err := slice.Backups(t.Context(), st, parentID)
		require.NoError(t, err)
		require.Len(t, all, 4)
		_, redo, err := slice.Steps(t.Context(), st, parentID)
		require.NoError(t, err)
		require.Empty(t, redo)
	}
	st := openStore(t, "")
	broken(t, st)
	_, err := slice.RewindSession(t.Context(), st, parentID)
	require.NoError(t, err)
	put(t, st, parentID, map[string]string{undoBackup: firstTwo})
	require.NoError(t, st.Append(t.Context(), parentID, parse(t, strings.TrimSpace(said("user", "x", 9)))...))
	_, err = slice.Undo(t.Context(), st, parentID, "", nil)
	require.ErrorIs(t, err, slice.ErrWentOn)
	_, err = slice.Undo(t.Context(), st, parentID, "", &slice.UndoOptions{Force: true})
	require.NoError(t, err)
	require.Equal(t, brokenRows, get(t, st, parentID)[transcriptFile])
}

// TestUndoOfARename brings a name back and nothing else, unless another program named the
// session since.
func TestUndoOfARename(t *testing.T) {
	t.Parallel()
	st := openStore(t, "")
	broken(t, st)
	for _, name := range []string{"one", "two"} {
		r, err := slice.RenameSession(t.Context(), st, parentID, name)
		require.NoError(t, err)
		require.Equal(t, slice.Renamed, r.Status)
	}
	r, err := slice.RenameSession(t.Context(), st, parentID, " two ")
	require.NoError(t, err)
	require.Equal(t, slice.RenameReport{Status: slice.NoRenameNeeded}, r)
	_, err = st.UpdateMetadata(t.Context(), parentID, func(md *sessionstore.Metadata) error { return md.Set("more", 1) })
	require.NoError(t, err)
	for _, want := range []string{"one", ""} {
		u := undo(t, st, "")
		require.Equal(t, want, *u.Name)
		md, err := st.Metadata(t.Context(), parentID)
		require.NoError(t, err)
		require.Equal(t, want, md.Text("name"))
		_, has := md.Lookup("name")
		require.Equal(t, want != "", has)
		more, _ := md.Int("more")
		require.Equal(t, 1, more)
	}
	u, err := slice.Redo(t.Context(), st, parentID)
	require.NoError(t, err)
	require.Equal(t, "one", *u.Name)
	_, _, err = st.SetName(t.Context(), parentID, sessionstore.Naming{Name: "theirs", Source: "manual"})
	require.NoError(t, err)
	_, err = slice.Redo(t.Context(), st, parentID)
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = slice.Undo(t.Context(), st, parentID, "", nil)
	require.ErrorIs(t, err, slice.ErrWentOn)
	undone, err := slice.Undo(t.Context(), st, parentID, "", &slice.UndoOptions{Force: true})
	require.NoError(t, err)
	require.Empty(t, *undone.Name)
}

// TestDropBackups removes the copies of a session: nothing of it comes back after that.
func TestDropBackups(t *testing.T) {
	t.Parallel()
	st := openStore(t, "")
	broken(t, st)
	_, err := slice.RenameSession(t.Context(), st, parentID, "x")
	require.NoError(t, err)
	_, err = slice.RewindSession(t.Context(), st, parentID)
	require.NoError(t, err)
	undo(t, st, "")
	want, err := slice.Backups(t.Context(), st, parentID)
	require.NoError(t, err)
	slices.Reverse(want)
	dropped, err := slice.DropBackups(t.Context(), st, parentID)
	require.NoError(t, err)
	require.Equal(t, want, dropped)
	require.Equal(t, int64(len(allEvents)), dropped[1].Log)
	require.NotContains(t, strings.Join(keys(get(t, st, parentID)), " "), ".bak-")
	_, err = slice.Undo(t.Context(), st, parentID, "", nil)
	require.ErrorIs(t, err, fs.ErrNotExist)

	_, err = slice.RewindSession(t.Context(), st, parentID)
	require.NoError(t, err)
	put(t, st, parentID, map[string]string{transcriptFile: ""})
	dropped, err = slice.DropBackups(t.Context(), st, parentID)
	require.NoError(t, err)
	require.Empty(t, dropped, "they tell that it was emptied on purpose")
}

// TestForkWithAName names a fork as a rename does, or makes none.
func TestForkWithAName(t *testing.T) {
	t.Parallel()
	st := openStore(t, "")
	broken(t, st)
	f, err := slice.Fork(t.Context(), st, parentID, &slice.ForkOptions{Name: " a name "})
	require.NoError(t, err)
	md, err := st.Metadata(t.Context(), f.ID)
	require.NoError(t, err)
	require.Equal(t, []string{"a name", "manual"}, []string{md.Text("name"), md.Text("name_source")})
	_, err = slice.Fork(t.Context(), st, parentID, &slice.ForkOptions{Name: strings.Repeat("x", 201), NewID: "long"})
	require.ErrorIs(t, err, sessionstore.ErrUnstorable)
	require.False(t, st.Exists("long"))
}
