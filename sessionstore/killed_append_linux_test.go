package sessionstore_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

func init() { children["killed append"] = killedAppendChild }

// killedRows is how many rows the child has appended before the append in
// which it is killed.
const killedRows = 4

// TestKilledAppend kills a process before each step of an append. Whatever the
// step, Load and the Python tools then read the same rows: those before, or
// those and the new one. A backup that is longer than the transcript, which the
// kill leaves when it comes between the writing and the exchange of the names,
// counts for neither. The next append goes on from what was read, and overwrites
// that backup.
func TestKilledAppend(t *testing.T) {
	t.Parallel()
	for _, durability := range slices.Sorted(maps.Keys(durabilities)) {
		t.Run(durability, func(t *testing.T) {
			t.Parallel()
			longer, done := 0, 0
			for step, killed := 1, true; killed; step++ {
				var k killedAppend
				k, killed = killAppend(t, durability, step)
				if k.longer() {
					longer++
				}
				k.check(t)
				if k.rows > killedRows {
					done++
				}
			}
			require.Positive(t, longer, "no kill came between the writing and the exchange")
			require.Positive(t, done, "no kill came after the exchange")
		})
	}
}

// killedAppend is what a killed append has left.
type killedAppend struct {
	dir  string // sessions directory
	at   string // the step before which it was killed
	rows int    // in transcript.jsonl
}

// killAppend has a child append rows until it is killed before that step. killed
// is false when the append had fewer steps.
func killAppend(t *testing.T, durability string, step int) (k killedAppend, killed bool) {
	t.Helper()
	k.dir = t.TempDir()
	write(t, "{}", k.dir, turnsID, metadataFile) // turns are not counted
	p := testenv.Spawn(t, "killed append", k.dir, durability, append(homeIn(t.TempDir()), testenv.KillAt(step))...)
	steps, killed := p.Killed(t)
	if len(steps) > 0 {
		k.at = steps[len(steps)-1]
	}
	require.Equal(t, killed, k.at != "done", k.at)
	k.rows = strings.Count(read(t, k.dir, turnsID, transcriptFile), "\n")
	return k, killed
}

// longer reports whether the backup has more than the transcript.
func (k killedAppend) longer() bool {
	main, err := os.Stat(filepath.Join(k.dir, turnsID, transcriptFile))
	if err != nil {
		return false
	}
	backup, err := os.Stat(filepath.Join(k.dir, turnsID, transcriptBackup))
	return err == nil && backup.Size() > main.Size()
}

func (k killedAppend) check(t *testing.T) {
	t.Helper()
	python, err := oldPython(filepath.Join(k.dir, turnsID)).load()
	require.NoError(t, err)
	require.Contains(testenv.Lost(t), []int{killedRows, killedRows + 1}, len(python), k.at)
	for i, row := range python {
		require.Equal(t, numbered("row", i), row, k.at)
	}
	st := open(t, k.dir, nil)
	s, err := st.Load(t.Context(), turnsID)
	require.NoError(t, err)
	require.Equal(t, python, lines(s.Messages), k.at)
	require.Nil(t, s.Recovered, k.at)

	next := append(python, numbered("next", 0))
	require.NoError(t, st.Append(t.Context(), turnsID, parse(t, numbered("next", 0))...))
	require.Equal(t, fileOf(next), read(t, k.dir, turnsID, transcriptFile), k.at)
	require.Equal(t, fileOf(python), read(t, k.dir, turnsID, transcriptBackup), k.at)
}

// killedAppendChild appends some rows, and one more, before the step of which
// it kills itself. It prints each step that it comes to.
func killedAppendChild(dir, argument string) error {
	row, point := 0, testenv.KillPoint()
	st, err := sessionstore.OpenWithSeam(dir, &sessionstore.Options{Durability: durabilities[argument]}, &seam.Seam{
		Before: func(op seam.Op) error {
			if row != killedRows {
				return nil
			}
			fmt.Printf("%v of %s\n", op.Kind, op.Name)
			return point.Before(op)
		},
	})
	if err != nil {
		return err
	}
	for ; row <= killedRows; row++ {
		m, err := sessionstore.ParseMessage([]byte(numbered("row", row)))
		if err != nil {
			return err
		}
		if err := st.Append(context.Background(), turnsID, m); err != nil {
			return err
		}
	}
	fmt.Println("done")
	return st.Close()
}
