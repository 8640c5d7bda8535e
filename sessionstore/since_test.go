package sessionstore_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice"
)

// reader follows a transcript: it holds what it was told, and between two
// calls nothing but that and the text of its cursor.
type reader struct {
	rows   []string
	cursor string
}

// read reads on, at most so many entries, and returns the From that it was told.
func (r *reader) read(t *testing.T, st *sessionstore.Store, id string, most int) (from int, err error) {
	t.Helper()
	var c sessionstore.Cursor
	require.NoError(t, c.UnmarshalText([]byte(r.cursor)))
	told := 0
	for e, err := range st.Since(t.Context(), id, c) {
		if err != nil {
			return from, err
		}
		if e.N > 0 {
			require.Equal(t, len(r.rows)+1, e.N)
			require.Zero(t, e.From)
			r.rows = append(r.rows, lines([]sessionstore.Message{e.Message})[0])
		} else {
			require.Positive(t, e.From)
			require.LessOrEqual(t, e.From, len(r.rows))
			require.Zero(t, told, "it comes first")
			require.Zero(t, e.Message)
			from, r.rows = e.From, r.rows[:e.From-1]
		}
		r.cursor = e.Next.String()
		if told++; told == most {
			break
		}
	}
	return from, nil
}

// differ returns the number of the first message that is another one in now, or
// is not there; len(was)+1 if there is none.
func differ(was, now []string) int {
	n := 0
	for n < len(was) && n < len(now) && was[n] == now[n] {
		n++
	}
	return n + 1
}

// follow reads to the end, and compares what the reader has with what Load
// reads, and From with the row that changed.
func (r *reader) follow(t *testing.T, st *sessionstore.Store, after string) {
	t.Helper()
	s, err := st.Load(t.Context(), "s")
	require.NoError(t, err, after)
	want, was := lines(s.Messages), slices.Clone(r.rows)
	if len(want)%2 == 0 { // as a new process
		st = open(t, st.Dir(), nil)
	}
	var c sessionstore.Cursor
	require.NoError(t, c.UnmarshalText([]byte(r.cursor)))
	v, err := st.View(t.Context(), "s")
	require.NoError(t, err, after)
	n, same, err := v.Begins(t.Context(), c)
	require.NoError(t, err, after)
	require.Equal(t, len(was), n, after)
	require.Equal(t, differ(was, want) > len(was), same, after)
	require.NoError(t, v.Close())
	from, err := r.read(t, st, "s", -1)
	require.NoError(t, err, after)
	require.Equal(t, want, r.rows, after)
	changed := differ(was, want)
	back := len(was) - changed + 1
	switch {
	case back == 0:
		require.Zero(t, from, after)
	case back <= 16:
		require.Equal(t, changed, from, after)
	default:
		require.Equal(t, 1, from, after)
	}
	more, err := r.read(t, st, "s", -1)
	require.NoError(t, err, after)
	require.Zero(t, more, after)
	require.Equal(t, want, r.rows, after)
}

// TestSinceModel follows a session that is changed at random, by this library
// and by others, and repaired, while its index is damaged. What the reader has
// is compared with what Load reads.
func TestSinceModel(t *testing.T) {
	t.Parallel()
	for _, size := range []int{20, 600} { // small, and larger than a megabyte
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			t.Parallel()
			m := &indexModel{t: t, r: testenv.Rand(t), dir: t.TempDir()}
			m.path = filepath.Join(m.dir, "s", transcriptFile)
			m.st = open(t, m.dir, &sessionstore.Options{Durability: sessionstore.Relaxed})
			require.NoError(t, m.st.Save(t.Context(), "s", append(parse(t, user("the first")), m.rows(size)...), metadata(t, `{"created": "2026-11-18T12:00:00+00:00"}`)))
			readers := [3]reader{}
			for step := range testenv.Share(8, 20, 200) {
				did := m.change()
				if m.r.IntN(4) == 0 {
					did = m.changeMore()
				}
				if m.r.IntN(3) == 0 {
					time.Sleep(25 * time.Millisecond) // the stamp is believed from now on
				}
				after := fmt.Sprintf("step %d: %s", step, did)
				for i := range readers {
					switch m.r.IntN(3) {
					case 0: // it is away
					case 1:
						readers[i].follow(t, m.st, after)
					case 2: // it stops somewhere
						_, err := readers[i].read(t, m.st, "s", 1+m.r.IntN(40))
						require.NoError(t, err, after)
					}
				}
			}
			for i := range readers {
				readers[i].follow(t, m.st, "at the end")
			}
		})
	}
}

// changeMore changes the session in ways that index tests need not.
func (m *indexModel) changeMore() string {
	t, ctx := m.t, m.t.Context()
	s, err := m.st.Load(ctx, "s")
	require.NoError(t, err)
	n := len(s.Messages)
	if n == 0 || len(read(t, m.path)) < 10 {
		return "nothing is left"
	}
	switch m.r.IntN(5) {
	case 0:
		if _, err := slice.RepairSession(ctx, m.st, "s"); !errors.Is(err, sessionstore.ErrCorrupt) { // while the backup stands in
			require.NoError(t, err)
		}
		return "repair"
	case 1: // one of the last messages is another one
		at := n - 1 - m.r.IntN(min(n, 20))
		require.NoError(t, m.st.Save(ctx, "s", slices.Concat(s.Messages[:at], m.rows(1), s.Messages[at+1:]), s.Metadata))
		return "changed near the end"
	case 2:
		require.NoError(t, m.st.Save(ctx, "s", s.Messages[:n-m.r.IntN(min(n, 20))], s.Metadata))
		return "rewound a little"
	case 3: // the backup stands in
		data := read(t, m.path)
		require.NoError(t, os.WriteFile(m.path, []byte(data[:len(data)-m.r.IntN(5)-2]), 0o600))
		if _, err := m.st.Load(ctx, "s"); err != nil {
			require.NoError(t, os.WriteFile(m.path, []byte(data), 0o600))
		}
		return "torn"
	}
	data := read(t, m.path)
	require.NoError(t, os.WriteFile(m.path, []byte(strings.Replace(data, "\n", "\n\n", 1)), 0o600))
	return "a blank line"
}

// TestSinceDamaged tells what can be read of a damaged transcript, and what is
// wrong with it.
func TestSinceDamaged(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, user("a")+"\n{damaged\n"+user("b")+"\n", dir, "s", transcriptFile)
	st := open(t, dir, nil)
	var r reader
	for range 2 {
		_, err := r.read(t, st, "s", -1)
		require.ErrorIs(t, err, sessionstore.ErrCorrupt)
		require.Equal(t, []string{user("a"), user("b")}, r.rows)
	}
	write(t, user("a")+"\n"+user("mended")+"\n"+user("b")+"\n", dir, "s", transcriptFile)
	from, err := r.read(t, st, "s", -1)
	require.NoError(t, err)
	require.Equal(t, 2, from)
	require.Equal(t, []string{user("a"), user("mended"), user("b")}, r.rows)
}

// TestSinceGone follows a session that is removed and made anew.
func TestSinceGone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, user("a")+"\n"+user("b")+"\n", dir, "s", transcriptFile)
	st := open(t, dir, nil)
	var r reader
	_, err := r.read(t, st, "s", -1)
	require.NoError(t, err)
	require.NoError(t, st.Delete(t.Context(), "s"))
	_, err = r.read(t, st, "s", -1)
	require.ErrorIs(t, err, sessionstore.ErrNotFound)
	write(t, user("c")+"\n", dir, "s", transcriptFile)
	from, err := r.read(t, st, "s", -1)
	require.NoError(t, err)
	require.Equal(t, 1, from)
	require.Equal(t, []string{user("c")}, r.rows)
	write(t, "", dir, "s", transcriptFile)
	from, err = r.read(t, st, "s", -1)
	require.NoError(t, err)
	require.Equal(t, 1, from)
	require.Empty(t, r.rows)
	require.Empty(t, r.cursor)
	for _, id := range []string{"../s", "nowhere"} {
		_, err = r.read(t, st, id, -1)
		require.Error(t, err)
	}
}

// TestSinceWhileChanging lets the loop change what it reads: a message that is
// appended to a large transcript comes with the next call, a rewrite in the
// middle of a call is noticed.
func TestSinceWhileChanging(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "s", transcriptFile)
	write(t, strings.Repeat(user(strings.Repeat("old ", 500))+"\n", 1000), dir, "s", transcriptFile)
	time.Sleep(50 * time.Millisecond)
	st := open(t, dir, nil)
	var rows []string
	told := 0
	for e, err := range st.Since(t.Context(), "s", sessionstore.Cursor{}) {
		require.NoError(t, err)
		if e.From > 0 {
			told = e.From
			rows = rows[:e.From-1]
			continue
		}
		rows = append(rows, lines([]sessionstore.Message{e.Message})[0])
		if e.N == 500 && told == 0 {
			require.NoError(t, os.WriteFile(path, []byte(strings.ReplaceAll(read(t, path), "old", "new")), 0o600))
		}
	}
	require.Equal(t, 1, told)
	require.Len(t, rows, 1000)
	require.NotContains(t, strings.Join(rows, ""), "old")

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var got error
	for e, err := range st.Since(ctx, "s", sessionstore.Cursor{}) {
		if got = err; e.N == 3 {
			cancel()
		}
	}
	require.ErrorIs(t, got, context.Canceled)
}

func ExampleStore_Since() {
	ctx, id := context.Background(), sessionstore.NewID()
	store, done := exampleStore(ctx, id)
	defer done()

	saved := "" // keep it where it survives a restart; "" is the beginning
	readOn := func() {
		var from sessionstore.Cursor
		check(from.UnmarshalText([]byte(saved)))
		for e, err := range store.Since(ctx, id, from) {
			check(err)
			if e.From > 0 { // these messages were replaced or removed
				fmt.Println("forget messages from", e.From)
			} else {
				fmt.Println(e.N, e.Message.Content())
			}
			saved = e.Next.String()
		}
	}
	readOn()

	// Another program replaces the answer.
	session, err := store.Load(ctx, id)
	check(err)
	answer, err := sessionstore.Text("assistant", "Yes.", time.Unix(1_800_000_001, 0))
	check(err)
	check(store.Save(ctx, id, append(session.Messages[:1:1], answer), session.Metadata))
	readOn()
	// Output:
	// 1 Will it rain?
	// 2 No.
	// forget messages from 2
	// 2 Yes.
}
