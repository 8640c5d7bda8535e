package sessionstore_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

var seedFlag = flag.Uint64("seed", 0, "seed of the random tests; 0: a new one each time")

// seed returns the seed of a random test, and tells it when the test fails.
func seed(t *testing.T) uint64 {
	n := *seedFlag
	if n == 0 {
		n = rand.Uint64()
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("-seed=%d", n)
		}
	})
	return n
}

var durabilities = map[string]sessionstore.Durability{
	"durable": sessionstore.Durable, "datasynced": sessionstore.DataSynced, "relaxed": sessionstore.Relaxed,
}

// TestWritersInTurn lets stores with caches of their own, a new store, and
// Python tools old and new change a session in turn. After every change all of
// them must read the same rows and counts, no matter who was killed when.
func TestWritersInTurn(t *testing.T) {
	t.Parallel()
	n := seed(t)
	for i := range uint64(6) {
		t.Run(fmt.Sprint("run=", i), func(t *testing.T) {
			t.Parallel()
			inTurn(t, rand.New(rand.NewPCG(n, i)), 120)
		})
	}
}

// turns is a session that several writers change in turn, and what they made
// of it.
type turns struct {
	t      *testing.T
	r      *rand.Rand
	dir    string
	stores []*sessionstore.Store
	old    oldPython
	new    newPython
	rows   []string
	counts map[string]int
	made   int // rows so far
}

const turnsID = "se-ssion_sub" // nobody owns a sub-session

func inTurn(t *testing.T, r *rand.Rand, steps int) {
	dir := t.TempDir()
	session := filepath.Join(dir, turnsID)
	w := &turns{t: t, r: r, dir: dir, old: oldPython(session), new: newPython(session), counts: map[string]int{}}
	for _, name := range []string{"durable", "datasynced", "relaxed"} {
		w.stores = append(w.stores, open(t, dir, &sessionstore.Options{Durability: durabilities[name]}))
	}
	require.NoError(t, os.Mkdir(session, 0o700))
	w.rows, w.counts["turn_count"] = w.more(1), 1
	require.NoError(t, w.old.save(w.rows, w.counts))
	steppers := []func() string{w.ourAppend, w.ourSave, w.ourReplace, w.ourCount, w.newAppend, w.newAppend, w.newSave, w.newDies,
		w.oldSave, w.oldSave, w.oldRewind, w.oldDies}
	var log []string
	for range steps {
		did := steppers[r.IntN(len(steppers))]()
		log = append(log, did)
		w.check(strings.Join(log[max(0, len(log)-6):], ", "))
		if t.Failed() {
			return
		}
	}
}

// more makes up to n new rows, at least one.
func (w *turns) more(n int) []string {
	rows := make([]string, 1+w.r.IntN(n))
	for i := range rows {
		w.made++
		rows[i] = fmt.Sprintf(`{"role": "user", "content": "%d %s"}`, w.made, strings.Repeat("ä€𝄞", w.r.IntN(20)))
	}
	return rows
}

// cut keeps the first of the rows; now and then none.
func (w *turns) cut() []string {
	n := 0
	if w.r.IntN(3) > 0 {
		n = w.r.IntN(len(w.rows) + 1)
	}
	return w.rows[:n:n]
}

func (w *turns) store() *sessionstore.Store { return w.stores[w.r.IntN(len(w.stores))] }

func (w *turns) ourAppend() string {
	rows := w.more(3)
	require.NoError(w.t, w.store().Append(w.t.Context(), turnsID, parse(w.t, rows...)...))
	w.rows = slices.Concat(w.rows, rows)
	return "our append"
}

func (w *turns) ourSave() string {
	did := "our save"
	st := w.store()
	s, err := st.Load(w.t.Context(), turnsID)
	require.NoError(w.t, err)
	if w.r.IntN(3) == 0 {
		w.rows = w.cut()
		did = fmt.Sprint("our rewind to ", len(w.rows))
	}
	rows := w.more(2)
	if len(w.rows) == 0 && w.r.IntN(2) == 0 {
		rows = nil
	}
	all := append(s.Messages[:len(w.rows):len(w.rows)], parse(w.t, rows...)...)
	w.rows = slices.Concat(w.rows, rows)
	w.counts["ours"]++
	w.counts["turn_count"] = len(w.rows)
	require.NoError(w.t, s.Metadata.Set("ours", w.counts["ours"]))
	require.NoError(w.t, s.Metadata.Set("turn_count", len(w.rows)))
	require.NoError(w.t, st.Save(w.t.Context(), turnsID, all, s.Metadata))
	return did
}

func (w *turns) ourReplace() string {
	st := w.store()
	revision, err := st.Revision(w.t.Context(), turnsID)
	require.NoError(w.t, err)
	rows := slices.Concat(w.cut(), w.more(2))
	_, err = st.Replace(w.t.Context(), turnsID, revision, parse(w.t, rows...))
	require.NoError(w.t, err)
	w.rows = rows
	return "our replace"
}

func (w *turns) ourCount() string {
	w.counts["ours"]++
	_, err := w.store().UpdateMetadata(w.t.Context(), turnsID, func(md *sessionstore.Metadata) error {
		n, _ := md.Int("ours")
		return md.Set("ours", n+1)
	})
	require.NoError(w.t, err)
	return "our count"
}

func (w *turns) newAppend() string {
	rows := w.more(3)
	require.NoError(w.t, w.new.locked(w.t.Context(), func() error {
		return errors.Join(w.new.append(rows, ""), w.new.count("new"))
	}))
	w.rows = slices.Concat(w.rows, rows)
	w.counts["new"]++
	return "new Python appends"
}

func (w *turns) newSave() string {
	rows := slices.Concat(w.cut(), w.more(2))
	require.NoError(w.t, w.new.locked(w.t.Context(), func() error { return w.new.save(rows) }))
	w.rows = rows
	return "new Python saves"
}

// newDies leaves the state before, behind a marker.
func (w *turns) newDies() string {
	if w.new.marked() {
		return "nothing"
	}
	death := []string{"marked", "torn", "written"}[w.r.IntN(3)]
	require.ErrorIs(w.t, w.new.locked(w.t.Context(), func() error { return w.new.append(w.more(3), death) }), errDied)
	return "new Python dies: " + death
}

// oldSave, like all that the old tools do, spares a session with a marker:
// they do not know it, and destroy what it protects.
func (w *turns) oldSave() string {
	if w.new.marked() {
		return "nothing"
	}
	did := "old Python saves"
	rows, err := w.old.load()
	require.NoError(w.t, err)
	require.True(w.t, slices.Equal(w.rows, rows))
	if w.r.IntN(3) == 0 {
		rows = w.cut()
		did = fmt.Sprint("old Python rewinds to ", len(rows))
	}
	if len(rows) > 0 || w.r.IntN(2) == 0 {
		rows = slices.Concat(rows, w.more(2))
	}
	w.rows = append([]string{}, rows...)
	w.counts["old"]++
	w.counts["turn_count"] = len(rows)
	require.NoError(w.t, w.old.save(rows, w.counts))
	return did
}

func (w *turns) oldRewind() string {
	if w.new.marked() {
		return "nothing"
	}
	w.rows = w.cut()
	require.NoError(w.t, w.old.rewind(len(w.rows)))
	return fmt.Sprint("repair tool rewinds to ", len(w.rows))
}

// oldDies leaves a backup torn in the middle of its copy.
func (w *turns) oldDies() string {
	if w.new.marked() {
		return "nothing"
	}
	w.old.copyBackup(transcriptFile, int64(w.r.IntN(200)))
	return "old Python dies in its copy"
}

func (w *turns) check(log string) {
	w.t.Helper()
	want := append([]string{}, w.rows...)
	for i, st := range append(w.stores, open(w.t, w.dir, nil)) {
		s, err := st.Load(w.t.Context(), turnsID)
		require.NoError(w.t, err, log)
		require.Equal(w.t, want, lines(s.Messages), "store %d after %s", i, log)
		streamed := []string{}
		for m, err := range st.Messages(w.t.Context(), turnsID) {
			require.NoError(w.t, err, log)
			streamed = append(streamed, string(m.AppendTo(nil)))
		}
		require.Equal(w.t, want, streamed, "messages of store %d after %s", i, log)
		for name, n := range w.counts {
			have, _ := s.Metadata.Int(name)
			require.Equal(w.t, n, have, "%s of store %d after %s", name, i, log)
		}
	}
	rows, err := w.new.load()
	require.NoError(w.t, err, log)
	require.Equal(w.t, want, append([]string{}, rows...), "new Python after %s", log)
	if w.new.marked() {
		return
	}
	rows, err = w.old.load()
	require.NoError(w.t, err, log)
	require.Equal(w.t, want, append([]string{}, rows...), "old Python after %s", log)
}

// TestWritersAtOnceWithLocks lets stores and a Python tool that honours the
// lock append and count at once: nothing is lost.
func TestWritersAtOnceWithLocks(t *testing.T) {
	t.Parallel()
	const each = 100
	dir := t.TempDir()
	python := newPython(filepath.Join(dir, turnsID))
	write(t, user("first")+"\n", string(python), transcriptFile)
	write(t, "{}", string(python), metadataFile)
	var all sync.WaitGroup
	errs := make(chan error, 3*each)
	for name, durability := range durabilities {
		st := open(t, dir, &sessionstore.Options{Durability: durability})
		all.Go(func() {
			for i := range each {
				errs <- appendAndCount(t.Context(), st, turnsID, name, i)
			}
		})
	}
	for i := range each {
		require.NoError(t, python.locked(t.Context(), func() error {
			return errors.Join(python.append([]string{numbered("python", i)}, ""), python.count("python"))
		}))
	}
	all.Wait()
	close(errs)
	for err := range errs {
		require.NoError(t, err)
	}
	requireAll(t, dir, []string{"durable", "datasynced", "relaxed", "python"}, each)
}

// appendAndCount appends row i of the writer name, and counts it in metadata.
func appendAndCount(ctx context.Context, st *sessionstore.Store, id, name string, i int) error {
	m, err := sessionstore.ParseMessage([]byte(numbered(name, i)))
	if err != nil {
		return err
	}
	if err := st.Append(ctx, id, m); err != nil {
		return err
	}
	_, err = st.UpdateMetadata(ctx, id, func(md *sessionstore.Metadata) error {
		n, _ := md.Int(name)
		return md.Set(name, n+1)
	})
	return err
}

func numbered(name string, i int) string { return user(fmt.Sprint(name, " ", i)) }

// requireAll requires each row and each count of each writer, and each
// writer's rows in its own order.
func requireAll(t *testing.T, dir string, names []string, each int) {
	t.Helper()
	s, err := open(t, dir, nil).Load(t.Context(), turnsID)
	require.NoError(t, err)
	require.Nil(t, s.Recovered)
	require.Len(t, s.Messages, 1+len(names)*each)
	for _, name := range names {
		n, _ := s.Metadata.Int(name)
		require.Equal(t, each, n, name)
		next := 0
		for _, m := range s.Messages {
			if strings.HasPrefix(m.Content(), name+" ") {
				require.Equal(t, fmt.Sprint(name, " ", next), m.Content())
				next++
			}
		}
		require.Equal(t, each, next, name)
	}
	rows, err := newPython(filepath.Join(dir, turnsID)).load()
	require.NoError(t, err)
	require.Equal(t, lines(s.Messages), rows)
}

// span is the time that one call of a writer took, and the row that it wrote.
type span struct {
	row        string
	begin, end time.Time
}

// TestWritersAtOnceWithoutLocks lets a store and an old Python tool, which
// knows no lock, write at once. The reference loses what is written between
// its load and its rename, and so does whoever writes beside it. So: a row is
// missing at the end only if a call of the other was under way at some time
// while it was written; every other row is there, and every row that is there
// is whole. And once the tool is still, nothing is lost any more.
func TestWritersAtOnceWithoutLocks(t *testing.T) {
	t.Parallel()
	n := seed(t)
	for name, durability := range durabilities {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			python := oldPython(filepath.Join(dir, turnsID))
			write(t, user("first")+"\n", string(python), transcriptFile)
			write(t, "{}", string(python), metadataFile)
			st := open(t, dir, &sessionstore.Options{Durability: durability})
			var ours, theirs []span
			var both sync.WaitGroup
			both.Go(func() {
				r := rand.New(rand.NewPCG(n, 1))
				ours = writeSpans("ours", 150, r, func(row string) error {
					return st.Append(t.Context(), turnsID, parse(t, row)...)
				}, t.Errorf)
			})
			both.Go(func() {
				r := rand.New(rand.NewPCG(n, 2))
				theirs = writeSpans("theirs", 150, r, func(row string) error {
					rows, err := python.load()
					if err != nil {
						return err
					}
					return python.replace(transcriptFile, fileOf(append(rows, row)))
				}, t.Errorf)
			})
			both.Wait()
			require.NoError(t, st.Append(t.Context(), turnsID, parse(t, user("last"))...))
			rows, err := python.load()
			require.NoError(t, err)
			s, err := st.Load(t.Context(), turnsID)
			require.NoError(t, err)
			require.Nil(t, s.Recovered)
			require.Equal(t, lines(s.Messages), rows)
			require.Equal(t, user("last"), rows[len(rows)-1])
			lostOurs := requireExcused(t, rows, ours, theirs)
			lostTheirs := requireExcused(t, rows, theirs, ours)
			t.Logf("lost by the tool's saves: %d of our %d rows; by ours: %d of its %d", lostOurs, len(ours), lostTheirs, len(theirs))
		})
	}
}

// writeSpans writes n rows with pauses between.
func writeSpans(name string, n int, r *rand.Rand, do func(row string) error, failed func(string, ...any)) []span {
	spans := make([]span, 0, n)
	for i := range n {
		s := span{row: numbered(name, i), begin: time.Now()}
		if err := do(s.row); err != nil {
			failed("write of %s: %v", name, err)
			continue
		}
		s.end = time.Now()
		spans = append(spans, s)
		time.Sleep(time.Duration(r.IntN(4_000)) * time.Microsecond)
	}
	return spans
}

// requireExcused counts the spans whose row is missing, each of which must
// overlap one of others.
func requireExcused(t *testing.T, rows []string, spans, others []span) (lost int) {
	t.Helper()
	for _, s := range spans {
		if slices.Contains(rows, s.row) {
			continue
		}
		lost++
		require.True(t, slices.ContainsFunc(others, func(o span) bool { return o.begin.Before(s.end) && s.begin.Before(o.end) }), "lost: %s", s.row)
	}
	return lost
}
