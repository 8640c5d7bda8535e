package slice_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice"
	"github.com/amplifier-go/sessionstorage/slice/accept"
	"github.com/amplifier-go/sessionstorage/slice/internal/rowtest"
)

// TestStoredChangesCanBeUndone changes random sessions: what is written is
// healthy, or what a cut at a chosen turn leaves, and undoing it brings every byte
// back.
func TestStoredChangesCanBeUndone(t *testing.T) {
	t.Parallel()
	seed := testenv.Seed(t)
	r := rand.New(rand.NewPCG(seed, 1))
	rounds := testenv.Share(30, 80, 1300)
	st, err := sessionstore.Open(filepath.Join(testenv.Scratch(t), "s"), &sessionstore.Options{Durability: sessionstore.Relaxed, Workspace: "/w"})
	require.NoError(t, err)
	defer st.Close()
	changed := 0
	for n := range rounds {
		id := fmt.Sprint("s", n)
		rows, events := randomSession(t, r)
		put(t, st, id, map[string]string{transcriptFile: rows, eventsFile: events})
		backup, toTurn := changeRandomly(t, r, st, id, rows)
		if backup == "" {
			require.Equal(t, map[string]string{transcriptFile: rows, eventsFile: events}, get(t, st, id))
			require.NoError(t, os.RemoveAll(filepath.Join(st.Dir(), id))) // memory may be small
			continue
		}
		changed++
		ok, err := slice.Healthy(t.Context(), st, id)
		require.NoError(t, err)
		require.True(t, ok || toTurn)
		_, err = slice.Undo(t.Context(), st, id, backup, nil)
		require.NoError(t, err)
		files := get(t, st, id)
		require.Equal(t, rows, files[transcriptFile])
		require.Equal(t, events, files[eventsFile])
		require.NoError(t, os.RemoveAll(filepath.Join(st.Dir(), id)))
	}
	require.Greater(t, changed, rounds/4)
}

// TestStoredMendingsCanBeUndone repairs random sessions for some of the providers: each
// of them accepts what is written, and undoing it brings every byte back, unless the
// session went on.
func TestStoredMendingsCanBeUndone(t *testing.T) {
	t.Parallel()
	seed := testenv.Seed(t)
	d := rowtest.Dealer{Rand: rand.New(rand.NewPCG(seed, 6))}
	st, err := sessionstore.Open(filepath.Join(testenv.Scratch(t), "s"), &sessionstore.Options{Durability: sessionstore.Relaxed, Workspace: "/w"})
	require.NoError(t, err)
	defer st.Close()
	for n := range testenv.Share(20, 60, 1000) {
		id := fmt.Sprint("s", n)
		rows := strings.Join(append(d.Rows(8), d.Talk(2)...), "\n") + "\n"
		put(t, st, id, map[string]string{transcriptFile: rows})
		some := []accept.Provider{accept.Anthropic, accept.OpenAIChat, accept.OpenAIResponses, accept.Gemini}
		d.Shuffle(len(some), func(i, j int) { some[i], some[j] = some[j], some[i] })
		some = some[:1+d.IntN(len(some))]
		r, err := slice.RepairSession(t.Context(), st, id, targets(some...)...)
		if err != nil { // seldom, two of them want opposite things
			require.ErrorContains(t, err, "mend messages for ")
			require.Equal(t, map[string]string{transcriptFile: rows}, get(t, st, id))
			continue
		}
		s, err := st.Load(t.Context(), id)
		require.NoError(t, err)
		for _, p := range some {
			require.Empty(t, accept.Check(p, s.Messages), rows)
		}
		if r.Status == slice.NoRepairNeeded {
			require.Equal(t, map[string]string{transcriptFile: rows}, get(t, st, id))
			continue
		}
		if d.IntN(4) == 0 {
			err = st.Append(t.Context(), id, parse(t, ask)...)
			require.NoError(t, err)
			_, err = slice.Undo(t.Context(), st, id, r.BackupPath, nil)
			require.ErrorIs(t, err, slice.ErrWentOn)
			continue
		}
		_, err = slice.Undo(t.Context(), st, id, r.BackupPath, nil)
		require.NoError(t, err, rows)
		require.Equal(t, rows, get(t, st, id)[transcriptFile])
	}
}

// changeRandomly changes a session in one of the ways and returns the backup,
// or "" when there is none because nothing was to be done. toTurn tells that the
// session was rewound to a turn; it has the messages of a cut there then.
func changeRandomly(t *testing.T, r *rand.Rand, st *sessionstore.Store, id, rows string) (backup string, toTurn bool) {
	t.Helper()
	switch r.IntN(3) {
	case 0:
		report, err := slice.RepairSession(t.Context(), st, id)
		require.NoError(t, err)
		return report.BackupPath, false
	case 1:
		report, err := slice.RewindSession(t.Context(), st, id)
		require.NoError(t, err)
		return report.BackupPath, false
	}
	s, err := st.Load(t.Context(), id)
	require.NoError(t, err)
	turns := slice.CountTurns(s.Messages)
	turn, o := r.IntN(max(1, turns))+1, slice.Orphans(r.IntN(2))
	report, err := slice.RewindSessionTo(t.Context(), st, id, turn, o)
	if turns == 0 {
		require.Error(t, err)
		return "", true
	}
	require.NoError(t, err)
	want, err := slice.ToTurn(s.Messages, turn, o)
	require.NoError(t, err)
	s, err = st.Load(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, lines(want), lines(s.Messages))
	return report.BackupPath, true
}

// randomSession makes a transcript, some rows of which have times, and a log.
func randomSession(t *testing.T, r *rand.Rand) (rows, events string) {
	t.Helper()
	var b, e strings.Builder
	for i, line := range randomLines(r) {
		m := parse(t, line)[0]
		if r.IntN(3) > 0 {
			var err error
			m, err = m.With("timestamp", at(i))
			require.NoError(t, err)
		}
		b.Write(m.AppendTo(nil))
		b.WriteString("\n" + strings.Repeat("\n", r.IntN(6)/5))
		for range r.IntN(3) {
			e.WriteString(logged(i))
		}
	}
	return b.String(), e.String()
}

// TestStoredChangesNeedTheSession refuses what somebody else runs.
func TestStoredChangesNeedTheSession(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		return // no tool owns sessions there
	}
	st := openStore(t, "")
	broken(t, st)
	before := get(t, st, parentID)
	work := t.TempDir()
	host, err := sessionstore.Open(st.Dir(), &sessionstore.Options{Workspace: work})
	require.NoError(t, err)
	defer host.Close()
	hold, err := host.Acquire(t.Context(), parentID, sessionstore.Owner{})
	require.NoError(t, err)
	other, err := sessionstore.Open(st.Dir(), &sessionstore.Options{Workspace: work})
	require.NoError(t, err)
	defer other.Close()
	_, err = slice.RepairSession(t.Context(), other, parentID)
	require.ErrorIs(t, err, sessionstore.ErrLocked)
	_, err = slice.RewindSession(t.Context(), other, parentID)
	require.ErrorIs(t, err, sessionstore.ErrLocked)
	_, err = slice.Undo(t.Context(), other, parentID, repairBackup, nil)
	require.ErrorIs(t, err, sessionstore.ErrLocked)
	require.Equal(t, before, get(t, st, parentID))
	_, err = slice.Fork(t.Context(), other, parentID, &slice.ForkOptions{Events: true})
	require.NoError(t, err, "reading is free")
	require.NoError(t, hold.Release())
	_, err = slice.RepairSession(t.Context(), other, parentID)
	require.NoError(t, err)
}
