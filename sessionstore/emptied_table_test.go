package sessionstore_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
)

// emptied is a session with an empty transcript beside a backup.
type emptied struct {
	name    string
	backup  string    // content of the backup
	md      string    // content of metadata.json; empty: there is none
	written time.Time // when the transcript was written
	rewind  time.Time // which the name of a copy from before a rewind tells; zero: there is none
	behind  string    // what that name has behind the time
	chance  bool      // it was emptied by chance
	digits  bool      // the time that it was written says that it was emptied on purpose
	times   bool      // the case needs the time when a file got its name
}

// emptiedTable has cases for each line of the table that decides whether a
// transcript was emptied on purpose. The backup gets its time and its name when
// the case begins.
func emptiedTable() []emptied {
	const counts, none, zero = `{"turn_count": 2}`, `{"bundle": "b"}`, `{"turn_count": 0}`
	rows := text(user("1"), user("2"))
	now := time.Now()
	before, after := now.Add(-time.Hour), now.Add(time.Hour)
	meant := sessiondir.EmptyTime(before)
	return []emptied{
		{name: "this library emptied it", backup: rows, md: counts, written: meant, digits: true},
		{name: "this library emptied it, nothing counts turns", backup: rows, md: none, written: meant, digits: true},
		{name: "rewound later than the backup", backup: rows, md: counts, written: before, rewind: after},
		{name: "rewound later, nothing counts turns", backup: rows, md: none, written: before, rewind: after},
		{name: "rewound before the backup", backup: rows, md: counts, written: after, rewind: before, chance: true},
		{name: "rewound twice in a second before the backup", backup: rows, md: counts, written: after, rewind: before, behind: "-2", chance: true},
		{name: "rewound many times in a second before the backup", backup: rows, md: counts, written: before, rewind: before, behind: "-17", chance: true},
		{name: "rewound twice in a second later than the backup", backup: rows, md: counts, written: before, rewind: after, behind: "-2"},
		{name: "a copy whose name is no tool's", backup: rows, md: counts, written: before, rewind: after, behind: ".orig", chance: true},
		{name: "a copy whose name has no time", backup: rows, md: counts, written: before, rewind: after, behind: "00", chance: true},
		{name: "turns are counted", backup: rows, md: counts, written: before, chance: true},
		{name: "turns are counted, written after the backup", backup: rows, md: counts, written: after, chance: true},
		{name: "no turns are counted", backup: rows, md: zero, written: before},
		{name: "no turns are counted, written after the backup", backup: rows, md: zero, written: after},
		{name: "written after the backup", backup: rows, md: none, written: after},
		{name: "written after the backup, no metadata", backup: rows, written: after},
		{name: "written after the backup, turn_count is no number", backup: rows, md: `{"turn_count": "2"}`, written: after},
		{name: "written before the backup", backup: rows, md: none, written: before, chance: true, times: true},
		{name: "written before the backup, no metadata", backup: rows, written: before, chance: true, times: true},
		{name: "written before the backup, turn_count is null", backup: rows, md: `{"turn_count": null}`, written: before, chance: true, times: true},
		{name: "the backup is empty", backup: "", md: counts, written: before},
		{name: "the backup is damaged", backup: rows + `{"ro`, md: counts, written: before},
	}
}

// TestEmptied reads every case of the table, and then appends: what was
// recovered stays, and what was emptied on purpose begins anew.
func TestEmptied(t *testing.T) {
	t.Parallel()
	for _, c := range emptiedTable() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if c.times && runtime.GOOS == "windows" {
				t.Skip("files do not tell when they got their name")
			}
			dir := t.TempDir()
			c.put(t, filepath.Join(dir, "s-x_sub"))
			if fi, err := os.Stat(filepath.Join(dir, "s-x_sub", transcriptFile)); err != nil || c.digits && !fi.ModTime().Equal(c.written) {
				t.Skip("the clock of this file system has too coarse steps; see TestEmptiedOnAnyClock")
			}
			st := open(t, dir, nil)
			want := []string{}
			if c.chance {
				want = []string{user("1"), user("2")}
			}
			s, err := st.Load(t.Context(), "s-x_sub")
			require.NoError(t, err)
			require.Equal(t, want, lines(s.Messages))
			require.Equal(t, c.chance, s.Recovered != nil)
			require.NoError(t, st.Append(t.Context(), "s-x_sub", parse(t, user("3"))...))
			s, err = open(t, dir, nil).Load(t.Context(), "s-x_sub")
			require.NoError(t, err)
			require.Equal(t, append(want, user("3")), lines(s.Messages))
			require.Nil(t, s.Recovered)
		})
	}
}

func (c emptied) put(t *testing.T, dir string) {
	t.Helper()
	write(t, c.backup, dir, transcriptBackup)
	if c.md != "" {
		write(t, c.md, dir, metadataFile)
	}
	if !c.rewind.IsZero() {
		write(t, "", dir, transcriptFile+".bak-pre-rewind-"+c.rewind.UTC().Format("20060102150405")+c.behind)
	}
	write(t, "", dir, transcriptFile)
	require.NoError(t, os.Chtimes(filepath.Join(dir, transcriptFile), c.written, c.written))
}

// TestEmptiedNow has a transcript that is empty for an instant only, as while
// an old tool writes into a file that it took for the backup. Load waits for its
// content, and for 200 ms at most.
func TestEmptiedNow(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	main := filepath.Join(dir, "s", transcriptFile)
	st := open(t, dir, nil)
	seen := false
	for try := 0; try < 20 && !seen; try++ { // a slow machine may write too late
		emptied{backup: text(user("1")), md: `{"turn_count": 1}`, written: time.Now()}.put(t, filepath.Dir(main))
		written := make(chan error)
		go func() {
			time.Sleep(30 * time.Millisecond)
			written <- os.WriteFile(main, []byte(text(user("1"), user("2"))), 0o600)
		}()
		s, err := st.Load(t.Context(), "s")
		require.NoError(t, <-written)
		require.NoError(t, err)
		seen = s.Recovered == nil
		if seen {
			require.Equal(t, []string{user("1"), user("2")}, lines(s.Messages))
		} else {
			require.Equal(t, []string{user("1")}, lines(s.Messages))
		}
	}
	require.True(t, seen, "Load does not wait")
}

// TestEmptiedWaits measures how long Load looks at an empty transcript: at one
// that was emptied within the last two seconds, and at others.
func TestEmptiedWaits(t *testing.T) {
	t.Parallel()
	const looks = 200 * time.Millisecond
	tests := []struct {
		name   string
		backup string
		ago    time.Duration
		meant  bool
		waits  time.Duration
	}{
		{name: "just now", backup: text(user("1")), waits: looks},
		{name: "a second ago", backup: text(user("1")), ago: time.Second, waits: looks},
		{name: "three seconds ago", backup: text(user("1")), ago: 3 * time.Second},
		{name: "on purpose", backup: text(user("1")), meant: true},
		{name: "an empty backup"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				dir, at := t.TempDir(), time.Now().Add(-tt.ago)
				if tt.meant {
					at = sessiondir.EmptyTime(time.Now().Add(-time.Minute))
				}
				emptied{backup: tt.backup, md: `{"turn_count": 1}`, written: at}.put(t, filepath.Join(dir, "s"))
				start := time.Now()
				_, err := open(t, dir, nil).Load(t.Context(), "s")
				require.NoError(t, err)
				require.Equal(t, tt.waits, time.Since(start))
			})
		})
	}
}
