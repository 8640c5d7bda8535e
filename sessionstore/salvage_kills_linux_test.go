package sessionstore_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/lock"
	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

func init() {
	children["salvage"] = salvageChild
	children["damage and salvage"] = damageAndSalvageChild
}

// tornLine is the end of a damaged transcript.
const tornLine = `{"role": "us`

// damageBy adds rows and a torn line to the transcript, as a tool that is killed
// while it appends in place, after it has copied the transcript to the backup.
func damageBy(session string, rows ...string) (damaged string, err error) {
	main := filepath.Join(session, transcriptFile)
	data, err := os.ReadFile(main)
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(session, transcriptBackup), data, 0o600); err != nil {
		return "", err
	}
	f, err := os.OpenFile(main, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(fileOf(rows) + tornLine)
	return string(data) + fileOf(rows) + tornLine, errors.Join(err, f.Close())
}

// TestSalvageKilledAtEachStep kills a process before each step of a Salvage. The
// transcript is what it was before, or has what was salvaged; the damaged bytes
// stay; and the next calls work.
func TestSalvageKilledAtEachStep(t *testing.T) {
	t.Parallel()
	for _, durability := range testenv.Some(t, 1, sortedKeys(durabilities)...) {
		t.Run(durability, func(t *testing.T) {
			t.Parallel()
			before, after := 0, 0
			for step := 1; ; step++ {
				rows, killed := killSalvage(t, durability, step)
				if !killed {
					break
				}
				if rows == 3 {
					before++
				} else {
					after++
				}
			}
			t.Logf("%d kills before the names changed, %d after", before, after)
			require.Positive(t, before)
			if durability != "relaxed" { // which does nothing after that
				require.Positive(t, after)
			}
		})
	}
}

// killSalvage kills a Salvage before that step, and returns how many rows Load
// returns then. killed is false when Salvage had fewer steps.
func killSalvage(t *testing.T, durability string, step int) (found int, killed bool) {
	t.Helper()
	dir := t.TempDir()
	session := filepath.Join(dir, turnsID)
	rows := []string{numbered("row", 0), numbered("row", 1), numbered("row", 2), numbered("row", 3), numbered("row", 4)}
	write(t, fileOf(rows[:3]), session, transcriptFile)
	write(t, "{}", session, metadataFile)
	damaged, err := damageBy(session, rows[3:]...)
	require.NoError(t, err)
	p := testenv.Spawn(t, "salvage", dir, durability, append(homeIn(t.TempDir()), testenv.KillAt(step))...)
	steps, killed := p.Killed(t)
	require.NotEmpty(t, steps)
	at := steps[len(steps)-1]
	require.Equal(t, killed, at != "done", at)
	if !killed {
		return 0, false
	}
	requireKept(t, session, damaged, at)
	python, err := oldPython(session).load()
	require.NoError(t, err)
	require.Contains(t, []int{3, 5}, len(python), at)
	require.Equal(t, rows[:len(python)], python, at)
	st := open(t, dir, &sessionstore.Options{Durability: durabilities[durability]})
	s, err := st.Load(t.Context(), turnsID)
	require.NoError(t, err, at)
	require.Equal(t, python, lines(s.Messages), at)
	report, err := st.Salvage(t.Context(), turnsID)
	require.NoError(t, err, at)
	require.Equal(t, 5-len(python), report.Rows, at)
	require.Empty(t, report.Forks, at)
	requireKept(t, session, damaged, at)
	require.NoError(t, st.Append(t.Context(), turnsID, parse(t, numbered("row", 5))...))
	require.Equal(t, fileOf(append(rows, numbered("row", 5))), read(t, session, transcriptFile), at)
	return len(python), true
}

// requireKept requires a file of the session to hold the damaged bytes.
func requireKept(t *testing.T, session, damaged, at string) {
	t.Helper()
	kept := slices.ContainsFunc(namesIn(t, session), func(name string) bool {
		return strings.HasPrefix(name, transcriptFile) && read(t, session, name) == damaged
	})
	require.True(t, kept, "the damaged bytes are gone, killed before %s", at)
}

func namesIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// salvageChild salvages, until it is killed before a step of that.
func salvageChild(dir, durability string) error {
	point := testenv.KillPoint()
	st, err := sessionstore.OpenWithSeam(dir, &sessionstore.Options{Durability: durabilities[durability]}, &seam.Seam{
		Before: func(op seam.Op) error {
			fmt.Printf("%v of %s\n", op.Kind, op.Name)
			return point.Before(op)
		},
	})
	if err != nil {
		return err
	}
	report, err := st.Salvage(context.Background(), turnsID)
	if err != nil || report.Rows != 2 {
		return fmt.Errorf("salvaged %+v: %w", report, err)
	}
	fmt.Println("done")
	return st.Close()
}

// TestSalvageKilled kills a process at random that appends, whose transcript is
// then damaged, and that salvages, again and again. What was appended or
// salvaged is there; no damaged bytes are gone.
func TestSalvageKilled(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(testenv.Seed(t), 5))
	dir := t.TempDir()
	session := filepath.Join(dir, turnsID)
	var acknowledged []string
	write(t, "", session, transcriptFile)
	write(t, "{}", session, metadataFile)
	v := testenv.Victim{
		Name: "damage and salvage", Dir: dir, Env: homeIn(t.TempDir()), Rounds: max(3, killRounds()/5), Operations: 66, First: 35,
		Within: 30 * time.Millisecond, Acknowledges: func(line string) bool { return !strings.HasPrefix(line, "damaged ") },
	}
	salvaged := 0
	for round := range v.Rounds {
		v.Argument = strconv.Itoa(round)
		var damaged []string
		v.Kill(t, round, r, func(line string) {
			what, row, _ := strings.Cut(line, " ")
			switch what {
			case "damaged":
				damaged = append(damaged, row)
				return
			case "salvaged":
				salvaged++
			case "appended":
			default:
				t.Fatalf("child printed %q", line)
			}
			acknowledged = append(acknowledged, row)
		})
		checkSalvaged(t, dir, acknowledged, damaged)
	}
	fmt.Fprintf(t.Output(), "salvage: %d processes killed, %d rows acknowledged, %d of them salvaged, 0 lost\n", v.Rounds, len(acknowledged), salvaged)
}

// checkSalvaged requires the rows that were acknowledged, before and after a
// Salvage, and a copy of each damaged row.
func checkSalvaged(t *testing.T, dir string, acknowledged, damaged []string) {
	t.Helper()
	st, err := sessionstore.Open(dir, nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, st.Close()) }()
	lost := testenv.Lost(t)
	for range 2 {
		s, err := st.Load(t.Context(), turnsID)
		require.NoError(lost, err)
		requireInOrder(lost, acknowledged, lines(s.Messages))
		_, err = st.Salvage(t.Context(), turnsID)
		require.NoError(t, err)
	}
	all := strings.Builder{}
	for _, name := range namesIn(t, filepath.Join(dir, turnsID)) {
		all.WriteString(read(t, dir, turnsID, name))
	}
	for _, row := range damaged {
		require.Contains(lost, all.String(), row)
	}
}

// requireInOrder requires rows to hold all of want, in that order.
func requireInOrder(t testing.TB, want, rows []string) {
	t.Helper()
	n := 0
	for _, row := range rows {
		if n < len(want) && row == want[n] {
			n++
		}
	}
	require.Equal(t, len(want), n, "lost: %q", want[n:])
}

// damageAndSalvageChild appends, has the transcript damaged, and salvages, until
// it is killed. It tells what it has done.
func damageAndSalvageChild(dir, argument string) error {
	ctx := context.Background()
	st, err := sessionstore.OpenWithSeam(dir, nil, testenv.KillPoint())
	if err != nil {
		return err
	}
	for i := 0; ; i++ {
		name := "round " + argument + " row"
		appended, lost := numbered(name, 2*i), numbered(name, 2*i+1)
		m, err := sessionstore.ParseMessage([]byte(appended))
		if err != nil {
			return err
		}
		if err := st.Append(ctx, turnsID, m); err != nil {
			return err
		}
		fmt.Println("appended", appended)
		if _, err := damageBy(filepath.Join(dir, turnsID), lost); err != nil {
			return err
		}
		fmt.Println("damaged", lost)
		report, err := st.Salvage(ctx, turnsID)
		if err != nil || report.Rows != 1 {
			return fmt.Errorf("report %+v: %w", report, err)
		}
		fmt.Println("salvaged", lost)
	}
}

// TestSalvageBesideWriter salvages while another process appends. Whoever comes
// first decides whether the damaged transcript is continued or offered as a
// fork; no row that was acknowledged is lost.
func TestSalvageBesideWriter(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	session := filepath.Join(dir, turnsID)
	write(t, user("first")+"\n", session, transcriptFile)
	write(t, "{}", session, metadataFile)
	appends := testenv.Share(50, 50, 200)
	writer := spawn(t, "writer", dir, fmt.Sprint(appends, ",durable"), t.TempDir())
	done := make(chan struct{})
	go func() {
		defer close(done)
		writer.End(t)
	}()
	st := open(t, dir, nil)
	var salvaged, damaged []string
	forks, conflicts := 0, 0
	for i := 0; until(done); i++ {
		row := numbered("damaged", i)
		assert.NoError(t, testenv.Retry(lock.ErrBusy, func() error {
			return newPython(session).locked(t.Context(), func() error { _, err := damageBy(session, row); return err })
		}))
		damaged = append(damaged, row)
		report, err := st.Salvage(t.Context(), turnsID)
		switch {
		case errors.Is(err, sessionstore.ErrConflict):
			conflicts++
		case !assert.NoError(t, err):
		case report.Rows > 0:
			salvaged = append(salvaged, row)
		default:
			forks++
		}
		time.Sleep(5 * time.Millisecond)
	}
	<-done
	t.Logf("%d damaged, %d salvaged, %d too late, %d conflicts", len(damaged), len(salvaged), forks, conflicts)
	require.NotEmpty(t, salvaged)
	s, err := st.Load(t.Context(), turnsID)
	require.NoError(t, err)
	rows := lines(s.Messages)
	requireInOrder(t, salvaged, rows)
	var appended []string
	for i := range appends {
		appended = append(appended, numbered("durable", i))
	}
	requireInOrder(t, appended, rows)
	for i, row := range damaged {
		kept := slices.ContainsFunc(namesIn(t, session), func(name string) bool { return strings.Contains(read(t, session, name), row) })
		require.True(t, kept, "damaged row %d is gone", i)
	}
}
