package trash

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// odd are ids that make trouble.
var odd = []string{
	"plain", "a b", " lead", "line\nbreak", "-x", "..x", ".hidden", "ünï", "日本", "a:b", "*", "receipt.json", strings.Repeat("é", 127),
}

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	dir := sessionsDir(t)
	st := open(t, dir, nil)
	before := map[string]map[string]string{}
	for _, id := range odd {
		put(t, st, id, "")
		before[id] = tree(filepath.Join(dir, id))
	}
	put(t, st, "stays", "")
	var steps []int
	p := plan(t, st, Options{Why: "delete", Progress: func(done, total int) {
		require.Equal(t, len(odd), total)
		steps = append(steps, done)
	}}, odd...)
	res, err := p.Run(t.Context())
	require.NoError(t, err)
	require.Empty(t, res.Failed)
	require.Len(t, steps, 2*len(odd))

	all, err := List(t.Context(), st)
	require.NoError(t, err)
	require.Len(t, all, 1)
	require.ElementsMatch(t, odd, ids(all[0].Sessions))
	require.Equal(t, res.Receipt.ID, all[0].ID)
	require.Equal(t, "delete", all[0].Why)
	require.Equal(t, "p", all[0].Project)
	require.Equal(t, dir, all[0].From)
	require.WithinDuration(t, time.Now(), all[0].At, time.Hour)

	listed, err := st.List(t.Context(), &sessionstore.ListOptions{All: true})
	require.NoError(t, err)
	require.Len(t, listed, 1)
	ps, err := sessionstore.OpenProjects(filepath.Dir(filepath.Dir(dir)), nil)
	require.NoError(t, err)
	found, err := ps.Find(t.Context(), sessionstore.Query{})
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.NoError(t, ps.Close())

	restored, failed, err := Restore(t.Context(), st, all[0], nil)
	require.NoError(t, err)
	require.Empty(t, failed)
	require.ElementsMatch(t, odd, ids(restored))
	for _, id := range odd {
		require.Equal(t, before[id], tree(filepath.Join(dir, id)), id)
	}
	left, err := os.ReadDir(filepath.Join(dir, sessiondir.Trash))
	require.NoError(t, err)
	require.Empty(t, left, "a receipt without sessions goes")
}

func TestWrittenSince(t *testing.T) {
	t.Parallel()
	st := open(t, sessionsDir(t), nil)
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
	res, err := p.Run(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"b"}, ids(res.Receipt.Sessions))
	require.Len(t, res.Failed, 2)
	require.ErrorIs(t, res.Failed[0].Err, errWritten)
	require.ErrorIs(t, res.Failed[1].Err, sessionstore.ErrNotFound)
	require.True(t, st.Exists("a"))
}

func TestRunStops(t *testing.T) {
	t.Parallel()
	st := open(t, sessionsDir(t), nil)
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
	res, err := p.Run(ctx)
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, []string{"a", "b"}, ids(res.Receipt.Sessions))
	all, err := List(t.Context(), st)
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b"}, ids(all[0].Sessions))

	p = plan(t, st, Options{}, "c")
	_, err = p.Run(ctx)
	require.ErrorIs(t, err, context.Canceled)
	all, err = List(t.Context(), st)
	require.NoError(t, err)
	require.Len(t, all, 1)
	res, err = plan(t, st, Options{}).Run(t.Context())
	require.NoError(t, err)
	require.Empty(t, res.Receipt.ID, "nothing to do leaves nothing")
}

func TestRestoreWhatIsThere(t *testing.T) {
	t.Parallel()
	st := open(t, sessionsDir(t), nil)
	put(t, st, "a", "")
	put(t, st, "b", "")
	_, err := plan(t, st, Options{}, "a", "b").Run(t.Context())
	require.NoError(t, err)
	require.NoError(t, os.Mkdir(filepath.Join(st.Dir(), "a"), 0o700)) // an empty one would be replaced by a mere rename
	all, err := List(t.Context(), st)
	require.NoError(t, err)
	restored, failed, err := Restore(t.Context(), st, all[0], nil)
	require.NoError(t, err)
	require.Equal(t, []string{"b"}, ids(restored))
	require.ErrorIs(t, failed[0].Err, fs.ErrExist)
	require.DirExists(t, filepath.Join(st.Dir(), "a"))

	require.NoError(t, os.Remove(filepath.Join(st.Dir(), "a")))
	all, err = List(t.Context(), st)
	require.NoError(t, err)
	require.Equal(t, []string{"a"}, ids(all[0].Sessions))
	restored, failed, err = Restore(t.Context(), st, all[0], nil)
	require.NoError(t, err)
	require.Equal(t, []string{"a"}, ids(restored))
	require.Empty(t, failed)
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
	st := open(t, sessionsDir(t), nil)
	for _, id := range []string{"a", "b"} {
		put(t, st, id, "")
		_, err := plan(t, st, Options{}, id).Run(t.Context())
		require.NoError(t, err)
	}
	all, err := List(t.Context(), st)
	require.NoError(t, err)
	require.Empty(t, Before(all, time.Now().Add(-time.Hour)))
	require.Len(t, Before(all, time.Now().Add(time.Hour)), 2)
	n, bytes, err := Empty(t.Context(), st, all[:1])
	require.NoError(t, err)
	require.Equal(t, 1, n)
	require.Equal(t, Bytes(all[0].Sessions), bytes)
	left, err := List(t.Context(), st)
	require.NoError(t, err)
	require.Equal(t, all[1:], left)
	require.Empty(t, places(st.Dir(), all[0].Sessions[0].ID))
}

func TestDamagedReceipts(t *testing.T) {
	t.Parallel()
	st := open(t, sessionsDir(t), nil)
	put(t, st, "a", "")
	res, err := plan(t, st, Options{}, "a").Run(t.Context())
	require.NoError(t, err)
	path := filepath.Join(st.Dir(), sessiondir.Trash, res.Receipt.ID, receiptFile)
	for _, text := range []string{"", "{", `{"v":2}`, `[]`, "\x00"} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		all, err := List(t.Context(), st)
		require.ErrorContains(t, err, res.Receipt.ID)
		require.Equal(t, []string{"a"}, ids(all[0].Sessions))
		require.Equal(t, res.Receipt.At, all[0].At)
	}
	require.NoError(t, os.Remove(path))
	all, err := List(t.Context(), st)
	require.Error(t, err)
	restored, failed, err := Restore(t.Context(), st, all[0], nil)
	require.NoError(t, err)
	require.Empty(t, failed)
	require.Len(t, restored, 1)
	require.True(t, st.Exists("a"))
}

func TestLeftReceipts(t *testing.T) {
	t.Parallel()
	st := open(t, sessionsDir(t), nil)
	put(t, st, "a", "")
	bin := filepath.Join(st.Dir(), sessiondir.Trash)
	old, young := newID(time.Now().Add(-2*leftAfter)), newID(time.Now())
	for _, id := range []string{old, young, "something else"} {
		require.NoError(t, os.MkdirAll(filepath.Join(bin, id, shelf), 0o700))
	}
	all, err := List(t.Context(), st)
	require.NoError(t, err)
	require.Empty(t, all)
	_, err = plan(t, st, Options{}, "a").Run(t.Context())
	require.NoError(t, err)
	require.NoDirExists(t, filepath.Join(bin, old))
	require.DirExists(t, filepath.Join(bin, young))
	require.DirExists(t, filepath.Join(bin, "something else"))
}
