package sessionstore_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/internal/test/writertest"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

var durabilities = map[string]sessionstore.Durability{
	"durable": sessionstore.Durable, "relaxed": sessionstore.Relaxed,
}

// TestWritersInTurn lets stores with caches of their own, a new store, and
// Python tools old and new change a session in turn. After every change all of
// them must read the same rows and counts, no matter who was killed when.
func TestWritersInTurn(t *testing.T) {
	t.Parallel()
	n := testenv.Seed(t)
	steps := testenv.Share(15, 25, 80) // a transcript that was emptied a moment ago is waited for at each
	for i := range uint64(6) {
		t.Run(fmt.Sprint("run=", i), func(t *testing.T) {
			t.Parallel()
			inTurn(t, rand.New(rand.NewPCG(n, i)), steps, imitated)
		})
	}
}

// TestWritersInTurnPython is TestWritersInTurn with tools that are written in
// Python and run in processes of their own.
func TestWritersInTurnPython(t *testing.T) {
	t.Parallel()
	interpreter := testenv.Python(t)
	n := testenv.Seed(t)
	steps := testenv.Share(15, 25, 80)
	for i := range uint64(2) {
		t.Run(fmt.Sprint("run=", i), func(t *testing.T) {
			t.Parallel()
			inTurn(t, rand.New(rand.NewPCG(n, 100+i)), steps/2, func(session string) (oldTool, newTool) {
				return oldProcess{oldPython(session), writertest.StartPython(t, interpreter, writertest.OldScript, n).In(session)},
					newProcess{newPython(session), writertest.StartPython(t, interpreter, writertest.NewScript, n).In(session)}
			})
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
	old    oldTool
	new    newTool
	rows   []string
	counts map[string]int
	made   int // rows so far
}

const turnsID = "se-ssion_sub" // nobody owns a sub-session

func inTurn(t *testing.T, r *rand.Rand, steps int, tools func(session string) (oldTool, newTool)) {
	dir := t.TempDir()
	session := filepath.Join(dir, turnsID)
	w := &turns{t: t, r: r, dir: dir, counts: map[string]int{}}
	w.old, w.new = tools(session)
	for _, name := range []string{"durable", "durable", "relaxed"} {
		w.stores = append(w.stores, open(t, dir, &sessionstore.Options{Durability: durabilities[name]}))
	}
	require.NoError(t, os.Mkdir(session, 0o700))
	w.rows, w.counts["turn_count"] = w.more(1), 1
	require.NoError(t, w.old.save(w.rows, w.counts))
	steppers := []func() string{
		w.ourAppend, w.ourSave, w.ourReplace, w.ourCount, w.newAppend, w.newAppend, w.newSave, w.newDies,
		w.oldSave, w.oldSave, w.oldRewind, w.oldDies,
	}
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
	w.counts["turn_count"] = len(w.rows) // all are of a person
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
	require.NoError(w.t, w.new.appendAndCount(w.t.Context(), rows))
	w.rows = slices.Concat(w.rows, rows)
	w.counts["new"]++
	return "new Python appends"
}

func (w *turns) newSave() string {
	rows := slices.Concat(w.cut(), w.more(2))
	require.NoError(w.t, w.new.saveLocked(w.t.Context(), rows))
	w.rows = rows
	return "new Python saves"
}

// newDies leaves the state before, behind a marker.
func (w *turns) newDies() string {
	if w.new.appendPending() {
		return "nothing"
	}
	death := []string{"marked", "torn", "written"}[w.r.IntN(3)]
	require.ErrorIs(w.t, w.new.locked(w.t.Context(), func() error { return w.new.append(w.more(3), death) }), errDied)
	return "new Python dies: " + death
}

// oldSave, like all that the old tools do, spares a session with a marker:
// they do not know it, and destroy what it protects.
func (w *turns) oldSave() string {
	if w.new.appendPending() {
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
	if w.new.appendPending() {
		return "nothing"
	}
	w.rows = w.cut()
	require.NoError(w.t, w.old.rewind(len(w.rows)))
	return fmt.Sprint("repair tool rewinds to ", len(w.rows))
}

// oldDies leaves a backup torn in the middle of its copy.
func (w *turns) oldDies() string {
	if w.new.appendPending() {
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
	if w.new.appendPending() {
		return
	}
	rows, err = w.old.load()
	require.NoError(w.t, err, log)
	require.Equal(w.t, want, append([]string{}, rows...), "old Python after %s", log)
}
