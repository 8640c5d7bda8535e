package replica_test

import (
	"fmt"
	"io/fs"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/replica"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
)

// lateFiles are sessions with the same three files each, and one more file in late,
// which shows although the time of its directory stays.
type lateFiles struct {
	late, name string
	asked      int
}

func (l *lateFiles) Stat(id, name string) (sessiondir.Stamp, bool, error) {
	l.asked++
	switch name {
	case "", sessiondir.Transcript, sessiondir.Metadata, sessiondir.Events:
		return vfs.Stamp{Size: 1}, true, nil
	}
	if id == l.late && name == l.name {
		return vfs.Stamp{Size: 2}, true, nil
	}
	return vfs.Stamp{}, false, fs.ErrNotExist
}

func (*lateFiles) IsLocal() bool                            { return true }
func (*lateFiles) Settled(sessiondir.Stamp, time.Time) bool { return true }

// TestFileShowsLate has a directory change a while before its new file can be seen. A
// scan finds the file: at once in a directory of up to 66 sessions, where there is
// room for the stats of all files, and in the session that changed last, and else one
// of the next scans. No scan makes more stats for it.
func TestFileShowsLate(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ sessions, which, scans int }{
		{66, 65, 1}, {70, 69, 2}, {3000, 0, 1}, {3000, 5, 1}, {3000, 2999, 80},
	} {
		for _, name := range []string{sessiondir.Config, sessiondir.Phases} {
			t.Run(fmt.Sprint(tt.which, " of ", tt.sessions, " ", name), func(t *testing.T) {
				t.Parallel()
				files := &lateFiles{}
				dir := t.TempDir()
				open := func() (*vfs.Dir, error) {
					root, err := os.OpenRoot(dir)
					return vfs.New(root, nil), err
				}
				known := table(dir, "x")
				stats := replica.NewStats(files, known, replica.NewStates(open, dir, "a").Rules)
				var all []sessiondir.Entry
				for i := range tt.sessions {
					id := fmt.Sprint("s", i)
					all = append(all, sessiondir.Entry{Name: id, Stamp: vfs.Stamp{Size: 1}})
					known.Put(replica.Session{ID: id, Stat: stats.Note(id)})
				}
				require.Empty(t, stats.NotInStep(all))
				files.late, files.name = all[tt.which].Name, name
				for scan := 1; ; scan++ {
					files.asked = 0
					found := stats.NotInStep(all)
					require.LessOrEqual(t, files.asked, max(3*tt.sessions, replica.StatsAtLeast)-tt.sessions)
					if found[files.late] {
						break
					}
					require.Less(t, scan, tt.scans)
				}
			})
		}
	}
}
