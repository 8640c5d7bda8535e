package sessionstore

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/test/crashsim"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// TestKilledBeforeTheNamesWereSynced kills a process after its append exchanged the
// names and before it synced them. Another process appends. Then the power is cut. In each state the transcript itself is whole, also where a file system
// keeps some changes of names and not others.
func TestKilledBeforeTheNamesWereSynced(t *testing.T) {
	t.Parallel()
	for _, s := range []system{{name: "plain"}, {name: "journal", ordered: true}} {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			dir := testenv.Scratch(t)
			rec, err := crashsim.Record(dir)
			require.NoError(t, err)
			armed, exchanged, dead := false, false, false
			a := openFaulty(t, dir, Durable, s.seam(func(op seam.Op) error {
				dead = dead || exchanged && op.Kind == seam.SyncDir
				if dead {
					return errors.New("killed")
				}
				return nil
			}, func(op seam.Op) {
				exchanged = exchanged || armed && op.Kind == seam.Exchange
				rec.After(op)
			}))
			var rows []Message
			add := func(st *Store, text string) error {
				rows = append(rows, row(40, text, len(rows)))
				return st.Append(t.Context(), victim, rows[len(rows)-1])
			}
			const before = 3
			for range before {
				require.NoError(t, add(a, "a"))
				rec.Acknowledge()
			}
			armed = true
			require.Error(t, add(a, "killed"))
			require.True(t, dead)
			_ = a.Close() // it is dead
			b := openFaulty(t, dir, Durable, s.seam(nil, rec.After))
			require.NoError(t, add(b, "b"))
			rec.Acknowledge()
			require.NoError(t, b.Close())
			log, err := rec.Log()
			require.NoError(t, err)
			crash := &crashsim.Crash{Log: log, Seed: testenv.Seed(t), Max: 4000, Ordered: s.ordered}
			for st, err := range crash.States(nil) {
				require.NoError(t, err)
				if st.Acked < before {
					continue
				}
				least := before
				if st.Acked > before {
					least = len(rows)
				}
				whole := []string{}
				for n := least; n <= len(rows); n++ {
					whole = append(whole, string(lines(rows[:n])))
				}
				d := filepath.Join(testenv.Scratch(t), "d")
				require.NoError(t, st.Materialise(d))
				raw, err := os.ReadFile(filepath.Join(d, victim, sessiondir.Transcript))
				require.NoError(t, err)
				require.Contains(testenv.Lost(t), whole, string(raw), "%v: the transcript is not whole", st)
				require.NoError(t, os.RemoveAll(d))
			}
		})
	}
}
