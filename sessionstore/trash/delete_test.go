package trash

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/amplifier-go/sessionstorage/sessionstore/projects"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// odd are ids that make trouble.
var odd = []string{
	"plain", "a b", " lead", "line\nbreak", "-x", "..x", ".hidden", "ünï", "日本", "a:b", "*", "receipt.json", strings.Repeat("é", 127),
}

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	dir := newSessionsDir(t)
	st := open(t, dir, nil)
	before := map[string]map[string]string{}
	for _, id := range odd {
		put(t, st, id, "")
		before[id] = tree(filepath.Join(dir, id))
	}
	put(t, st, "stays", "")
	var steps []int
	p := plan(t, st, Options{Reason: "delete", Progress: func(done, total int) {
		require.Equal(t, len(odd), total)
		steps = append(steps, done)
	}}, odd...)
	res, err := p.Delete(t.Context())
	require.NoError(t, err)
	require.Empty(t, res.Failed)
	require.Len(t, steps, 2*len(odd))

	all, err := List(t.Context(), st)
	require.NoError(t, err)
	require.Len(t, all, 1)
	require.ElementsMatch(t, odd, ids(all[0].Sessions))
	require.Equal(t, res.Receipt.ID, all[0].ID)
	require.Equal(t, "delete", all[0].Reason)
	require.Equal(t, "p", all[0].Project)
	require.Equal(t, dir, all[0].From)
	require.WithinDuration(t, time.Now(), all[0].At, time.Hour)

	listed, err := st.List(t.Context(), &sessionstore.ListOptions{All: true})
	require.NoError(t, err)
	require.Len(t, listed, 1)
	ps, err := projects.Open(filepath.Dir(filepath.Dir(dir)), nil)
	require.NoError(t, err)
	found, err := ps.Find(t.Context(), projects.Query{})
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.NoError(t, ps.Close())

	restored, err := Restore(t.Context(), st, all[0], nil)
	require.NoError(t, err)
	require.Empty(t, restored.Failed)
	require.ElementsMatch(t, odd, ids(restored.Sessions))
	for _, id := range odd {
		require.Equal(t, before[id], tree(filepath.Join(dir, id)), id)
	}
	left, err := os.ReadDir(filepath.Join(dir, sessiondir.Trash))
	require.NoError(t, err)
	require.Empty(t, left, "a receipt without sessions goes")
}

func TestWrittenSince(t *testing.T) {
	t.Parallel()
	st := open(t, newSessionsDir(t), nil)
	put(t, st, "a", "")
	put(t, st, "gone", "")
	put(t, st, "b", "")
	p := plan(t, st, Options{}, "a", "gone", "b")
	f, err := os.OpenFile(filepath.Join(st.Dir(), "a", "context-intelligence", "events.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.WriteString("{}\n")
	require.NoError(t, err)
	require.NoError(t, f.Close())
	require.NoError(t, st.Delete(t.Context(), "gone"))
	res, err := p.Delete(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"b"}, ids(res.Receipt.Sessions))
	require.Len(t, res.Failed, 2)
	require.ErrorIs(t, res.Failed[0].Err, ErrWritten)
	require.ErrorIs(t, res.Failed[1].Err, sessionstore.ErrNotFound)
	require.True(t, st.Exists("a"))
}

func TestRunStops(t *testing.T) {
	t.Parallel()
	st := open(t, newSessionsDir(t), nil)
	for _, id := range []string{"a", "b", "c"} {
		put(t, st, id, "")
	}
	ctx, stop := context.WithCancel(t.Context())
	p := plan(t, st, Options{}, "a", "b", "c")
	p.opts.Progress = func(done, _ int) {
		if done == 2 {
			stop()
		}
	}
	res, err := p.Delete(ctx)
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, []string{"a", "b"}, ids(res.Receipt.Sessions))
	all, err := List(t.Context(), st)
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b"}, ids(all[0].Sessions))

	p = plan(t, st, Options{}, "c")
	_, err = p.Delete(ctx)
	require.ErrorIs(t, err, context.Canceled)
	all, err = List(t.Context(), st)
	require.NoError(t, err)
	require.Len(t, all, 1)
	res, err = plan(t, st, Options{}).Delete(t.Context())
	require.NoError(t, err)
	require.Empty(t, res.Receipt.ID, "nothing to do leaves nothing")
}

func TestRestoreWhatIsThere(t *testing.T) {
	t.Parallel()
	st := open(t, newSessionsDir(t), nil)
	put(t, st, "a", "")
	put(t, st, "b", "")
	_, err := plan(t, st, Options{}, "a", "b").Delete(t.Context())
	require.NoError(t, err)
	require.NoError(t, os.Mkdir(filepath.Join(st.Dir(), "a"), 0o700)) // an empty one would be replaced by a mere rename
	all, err := List(t.Context(), st)
	require.NoError(t, err)
	restored, err := Restore(t.Context(), st, all[0], nil)
	require.NoError(t, err)
	require.Equal(t, []string{"b"}, ids(restored.Sessions))
	require.ErrorIs(t, restored.Failed[0].Err, fs.ErrExist)
	require.DirExists(t, filepath.Join(st.Dir(), "a"))

	require.NoError(t, os.Remove(filepath.Join(st.Dir(), "a")))
	all, err = List(t.Context(), st)
	require.NoError(t, err)
	require.Equal(t, []string{"a"}, ids(all[0].Sessions))
	restored, err = Restore(t.Context(), st, all[0], nil)
	require.NoError(t, err)
	require.Equal(t, []string{"a"}, ids(restored.Sessions))
	require.Empty(t, restored.Failed)
}

func TestSelect(t *testing.T) {
	t.Parallel()
	all := []Receipt{
		{ID: "20260102T000000Z-bbbbbb", Sessions: []Session{{ID: "one"}, {ID: "two"}}},
		{ID: "20260101T000000Z-aaaaaa", Sessions: []Session{{ID: "one"}, {ID: "oneself"}, {ID: "three"}}},
	}
	tests := []struct {
		ref, receipt string
		sessions     []string
	}{
		{"20260101", "20260101T000000Z-aaaaaa", []string{"one", "oneself", "three"}},
		{"one", "20260102T000000Z-bbbbbb", []string{"one"}},
		{"ones", "20260101T000000Z-aaaaaa", []string{"oneself"}},
		{"thr", "20260101T000000Z-aaaaaa", []string{"three"}},
	}
	for _, tt := range tests {
		r, err := Select(all, tt.ref)
		require.NoError(t, err, tt.ref)
		require.Equal(t, tt.receipt, r.ID, tt.ref)
		require.Equal(t, tt.sessions, ids(r.Sessions), tt.ref)
	}
	for _, ref := range []string{"2026", "t", "on"} {
		_, err := Select(all, ref)
		var ambiguous *sessionstore.AmbiguousError
		require.ErrorAs(t, err, &ambiguous, ref)
		require.Len(t, ambiguous.Matches, 2)
	}
	for _, ref := range []string{"", "x"} {
		_, err := Select(all, ref)
		require.ErrorIs(t, err, sessionstore.ErrNotFound, ref)
	}
}

func TestEmpty(t *testing.T) {
	t.Parallel()
	st := open(t, newSessionsDir(t), nil)
	for _, id := range []string{"a", "b"} {
		put(t, st, id, "")
		_, err := plan(t, st, Options{}, id).Delete(t.Context())
		require.NoError(t, err)
	}
	all, err := List(t.Context(), st)
	require.NoError(t, err)
	gone, err := Empty(t.Context(), st, all[:1])
	require.NoError(t, err)
	require.Equal(t, 1, gone)
	left, err := List(t.Context(), st)
	require.NoError(t, err)
	require.Equal(t, all[1:], left)
	require.Empty(t, places(st.Dir(), all[0].Sessions[0].ID))
}

func TestDamagedReceipts(t *testing.T) {
	t.Parallel()
	st := open(t, newSessionsDir(t), nil)
	put(t, st, "a", "")
	res, err := plan(t, st, Options{}, "a").Delete(t.Context())
	require.NoError(t, err)
	path := filepath.Join(st.Dir(), sessiondir.Trash, res.Receipt.ID, receiptFile)
	for _, text := range []string{"", "{", `{"v":2}`, `[]`, "\x00"} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		all, err := List(t.Context(), st)
		require.ErrorContains(t, err, "read receipt "+res.Receipt.ID)
		require.Equal(t, []string{"a"}, ids(all[0].Sessions))
		require.Equal(t, res.Receipt.At, all[0].At)
	}
	require.NoError(t, os.Remove(path))
	all, err := List(t.Context(), st)
	require.Error(t, err)
	restored, err := Restore(t.Context(), st, all[0], nil)
	require.NoError(t, err)
	require.Empty(t, restored.Failed)
	require.Len(t, restored.Sessions, 1)
	require.True(t, st.Exists("a"))
}

func TestLeftReceipts(t *testing.T) {
	t.Parallel()
	st := open(t, newSessionsDir(t), nil)
	put(t, st, "a", "")
	bin := filepath.Join(st.Dir(), sessiondir.Trash)
	old, young := newID(time.Now().Add(-2*staleAfter)), newID(time.Now())
	for _, id := range []string{old, young, "something else"} {
		require.NoError(t, os.MkdirAll(filepath.Join(bin, id, sessionsDir), 0o700))
	}
	all, err := List(t.Context(), st)
	require.NoError(t, err)
	require.Empty(t, all)
	_, err = plan(t, st, Options{}, "a").Delete(t.Context())
	require.NoError(t, err)
	require.NoDirExists(t, filepath.Join(bin, old))
	require.DirExists(t, filepath.Join(bin, young))
	require.DirExists(t, filepath.Join(bin, "something else"))
}

// undo takes back the removal that ref means to Select; "" means the newest.
func undo(ctx context.Context, st *sessionstore.Store, ref string) (Restored, error) {
	all, damaged := List(ctx, st)
	if len(all) == 0 && damaged != nil {
		return Restored{}, damaged
	}
	if ref == "" && len(all) > 0 {
		return Restore(ctx, st, all[0], nil)
	}
	r, err := Select(all, ref)
	if err != nil {
		return Restored{}, err
	}
	return Restore(ctx, st, r, nil)
}

func TestUndo(t *testing.T) {
	t.Parallel()
	st := open(t, newSessionsDir(t), nil)
	_, err := undo(t.Context(), st, "")
	require.ErrorIs(t, err, sessionstore.ErrNotFound)
	for _, id := range []string{"a", "b", "c"} {
		put(t, st, id, "")
	}
	recent, err := Delete(t.Context(), st, []string{"a", "b", "c"}, &Options{Quiet: 100 * time.Hour})
	require.NoError(t, err)
	require.Len(t, recent.Kept, 3)
	require.Empty(t, recent.Receipt.ID)
	_, err = Delete(t.Context(), st, []string{"a", "b"}, nil)
	require.NoError(t, err)
	restored, err := undo(t.Context(), st, "")
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b"}, ids(restored.Sessions))
	_, err = Delete(t.Context(), st, []string{"a", "b"}, nil)
	require.NoError(t, err)
	restored, err = undo(t.Context(), st, "b")
	require.NoError(t, err)
	require.Equal(t, []string{"b"}, ids(restored.Sessions))
	_, err = undo(t.Context(), st, "c")
	require.ErrorIs(t, err, sessionstore.ErrNotFound)
}

// TestForeignReceipts gives the trash receipts that lead out of it.
func TestForeignReceipts(t *testing.T) {
	t.Parallel()
	st := open(t, newSessionsDir(t), nil)
	put(t, st, "a", "")
	for _, id := range []string{"", ".", "..", "../a", "a", "20260101T000000Z-aaaaaa/../../a"} {
		_, err := Empty(t.Context(), st, []Receipt{{ID: id, Sessions: []Session{{ID: "a"}}}})
		require.ErrorIs(t, err, sessionstore.ErrNotFound, id)
		_, err = Restore(t.Context(), st, Receipt{ID: id, Sessions: []Session{{ID: "a"}}}, nil)
		require.ErrorIs(t, err, sessionstore.ErrNotFound, id)
	}
	_, err := Restore(t.Context(), st, Receipt{ID: newID(time.Now()), Sessions: []Session{{ID: "../a"}}}, nil)
	require.NoError(t, err)
	require.Len(t, places(st.Dir(), "a"), 1)
}
