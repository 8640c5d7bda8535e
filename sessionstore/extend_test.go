package sessionstore

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// counted opens the store dir with a seam that counts what writes do. A test that expects
// exact counts is not parallel: a program that another test starts has the files open until
// it runs, and a write then replaces a file that it would have extended.
func counted(t *testing.T, dir string, o Options) (*Store, map[seam.Kind]int) {
	t.Helper()
	done := map[seam.Kind]int{}
	st, err := open(dir, &o, &seam.Seam{After: func(op seam.Op) {
		if op.Kind != seam.Lease && op.Kind != seam.Release { // they change nothing
			done[op.Kind]++
		}
	}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, st.Close()) })
	return st, done
}

func say(t *testing.T, text string) Message {
	t.Helper()
	m, err := NewMessage(map[string]string{"role": "user", "content": text})
	require.NoError(t, err)
	return m
}

// A process that loads, adds a turn and saves, and ends, writes the turn only.
func TestSaveAfterLoadExtends(t *testing.T) { //nolint:paralleltest // see counted
	dir := t.TempDir()
	transcript := []Message{say(t, "one")}
	for _, text := range []string{"two", "three", "four", "five"} {
		st, done := counted(t, dir, Options{})
		if text != "two" {
			s, err := st.Load(t.Context(), "s")
			require.NoError(t, err)
			require.Len(t, s.Messages, len(transcript))
			transcript = s.Messages
		}
		transcript = append(transcript, say(t, text))
		clear(done)
		require.NoError(t, st.Save(t.Context(), "s", transcript, Metadata{}))
		if len(transcript) > 3 { // the first save makes the file, the second gives it a backup of its own
			// A new process syncs the names that it finds, those that it gives, and the session's own.
			require.Equal(t, map[seam.Kind]int{seam.Write: 1, seam.Sync: 1, seam.Chtimes: 1, seam.Exchange: 1, seam.SyncDir: 3}, done, text)
		}
	}
	have, err := os.ReadFile(filepath.Join(dir, "s", "transcript.jsonl"))
	require.NoError(t, err)
	require.Equal(t, string(lines(transcript)), string(have))
	backup, err := os.ReadFile(filepath.Join(dir, "s", "transcript.jsonl.backup"))
	require.NoError(t, err)
	require.Equal(t, string(lines(transcript[:len(transcript)-1])), string(backup))
}

// Appends that wait for each other share one write and one sync, count their
// turns once, and sync the directory once for both files.
func TestAppendGroups(t *testing.T) { //nolint:paralleltest // see counted
	st, done := counted(t, t.TempDir(), Options{})
	require.NoError(t, st.Append(t.Context(), "s", say(t, "first")))
	require.NoError(t, st.Append(t.Context(), "s", say(t, "second")))
	clear(done)
	tx, err := st.admitWrite(t.Context(), "hold", "s", 0)
	require.NoError(t, err)
	require.NoError(t, tx.enter())
	const callers = 10
	errs := make(chan error, callers)
	for range callers {
		go func() { errs <- st.Append(context.WithoutCancel(t.Context()), "s", say(t, "more")) }()
	}
	require.Eventually(t, func() bool {
		tx.s.appends.mu.Lock()
		defer tx.s.appends.mu.Unlock()
		return len(tx.s.appends.waiting) == callers
	}, time.Minute, time.Millisecond)
	tx.end(&err)
	require.NoError(t, err)
	for range callers {
		require.NoError(t, <-errs)
	}
	transcript := map[seam.Kind]int{seam.Write: 1, seam.Sync: 1, seam.Chtimes: 1, seam.Exchange: 1, seam.SyncDir: 1}
	metadata := map[seam.Kind]int{seam.Create: 1, seam.Write: 1, seam.Sync: 1, seam.Chtimes: 1, seam.Exchange: 2, seam.Remove: 1}
	for kind, n := range metadata {
		transcript[kind] += n
	}
	require.Equal(t, transcript, done)
	loaded, err := st.Load(t.Context(), "s")
	require.NoError(t, err)
	require.Len(t, loaded.Messages, 2+callers)
}

// Portable changes new messages only, and a transcript of them still extends.
func TestPortable(t *testing.T) { //nolint:paralleltest // see counted
	dir := t.TempDir()
	plain, _ := counted(t, dir, Options{})
	require.NoError(t, plain.Append(t.Context(), "s", say(t, "read\u2028\u0085")))
	st, done := counted(t, dir, Options{Portable: true})
	s, err := st.Load(t.Context(), "s")
	require.NoError(t, err)
	transcript := append(s.Messages, say(t, "new\u2028\u2029\u0085\u00e9"))
	require.NoError(t, st.Save(t.Context(), "s", transcript, Metadata{}))
	require.NoError(t, st.Save(t.Context(), "s", append(transcript, say(t, "two\u2029")), Metadata{}))
	clear(done)
	require.NoError(t, st.Save(t.Context(), "s", append(transcript, say(t, "two\u2029"), say(t, "three")), Metadata{}))
	require.Equal(t, 1, done[seam.Exchange])
	have, err := os.ReadFile(filepath.Join(dir, "s", "transcript.jsonl"))
	require.NoError(t, err)
	require.Equal(t, `{"content": "read`+"\u2028\u0085"+`", "role": "user"}
{"content": "new\u2028\u2029\u0085é", "role": "user"}
{"content": "two\u2029", "role": "user"}
{"content": "three", "role": "user"}
`, string(have))
}

// A transcript that was saved empty stays so, whatever metadata counts.
func TestSaveEmptyStays(t *testing.T) {
	t.Parallel()
	for _, d := range []Durability{Durable, Relaxed} {
		dir := t.TempDir()
		st, _ := counted(t, dir, Options{Durability: d})
		counts, err := NewMetadata(map[string]int{"turn_count": 1})
		require.NoError(t, err)
		require.NoError(t, st.Save(t.Context(), "s", []Message{say(t, "one")}, counts))
		require.NoError(t, st.Save(t.Context(), "s", nil, Metadata{}))
		again, _ := counted(t, dir, Options{})
		for _, reader := range []*Store{st, again} {
			s, err := reader.Load(t.Context(), "s")
			require.NoError(t, err)
			require.Empty(t, s.Messages)
			require.Nil(t, s.Recovered)
		}
	}
}

// TestBackupGoesAtEachStep has another program remove the backup of the transcript
// before each step of a write. The write goes on, and leaves no temporary file.
func TestBackupGoesAtEachStep(t *testing.T) {
	t.Parallel()
	for name, do := range map[string]func(*Store) error{
		"append": func(st *Store) error { return st.Append(t.Context(), "s", say(t, "3")) },
		"save":   func(st *Store) error { return st.Save(t.Context(), "s", []Message{say(t, "3")}, Metadata{}) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for at, more := 0, true; more; at++ {
				dir := t.TempDir()
				steps, armed := 0, false
				st, err := open(dir, nil, &seam.Seam{Before: func(op seam.Op) error {
					if steps++; armed && steps == at+1 {
						_ = os.Remove(filepath.Join(dir, "s", sessiondir.Backup(sessiondir.Transcript))) // it may be gone
					}
					return nil
				}})
				require.NoError(t, err)
				require.NoError(t, st.Append(t.Context(), "s", say(t, "1")))
				require.NoError(t, st.Append(t.Context(), "s", say(t, "2")))
				steps, armed = 0, true
				require.NoError(t, do(st), "removed before step %d", at)
				armed = false
				more = steps > at
				have, err := os.ReadFile(filepath.Join(dir, "s", sessiondir.Transcript))
				require.NoError(t, err)
				want := said(t, "1", "2", "3")
				if name == "save" {
					want = said(t, "3")
				}
				require.Equal(t, want, string(have), "removed before step %d", at)
				left, err := filepath.Glob(filepath.Join(dir, "s", ".transcript*"))
				require.NoError(t, err)
				require.Empty(t, left, "removed before step %d", at)
				require.NoError(t, st.Close())
			}
		})
	}
}

// TestExchangeFailsOnce lets one exchange of names in a session fail. Only an
// error that says the file system has no exchange makes later turns write whole
// transcripts.
func TestExchangeFailsOnce(t *testing.T) {
	t.Parallel()
	testenv.Need(t, runtime.GOOS == "linux", "transcripts are appended to in place on Linux only")
	for _, err := range []syscall.Errno{
		syscall.ENOENT, syscall.EPERM, syscall.EXDEV, syscall.EACCES, syscall.EIO, syscall.ENOMEM, syscall.EBUSY,
		syscall.EINVAL, syscall.ENOSYS, syscall.EOPNOTSUPP,
	} {
		for which, rewrite := range map[string]bool{"append": false, "rewrite": true} {
			t.Run(fmt.Sprintf("%d %s", int(err), which), func(t *testing.T) {
				t.Parallel()
				fails, written := false, 0
				st, openErr := open(t.TempDir(), nil, &seam.Seam{
					Before: func(op seam.Op) error {
						if op.Kind != seam.Exchange || !fails {
							return nil
						}
						fails = false
						return err
					},
					After: func(op seam.Op) { written += len(op.Data) },
				})
				require.NoError(t, openErr)
				defer func() { require.NoError(t, st.Close()) }()
				for _, id := range []string{"s", "other"} {
					for range 2 { // the second makes a backup of its own
						require.NoError(t, st.Append(t.Context(), id, say(t, strings.Repeat("x", 10_000))))
					}
				}
				fails = true
				if rewrite {
					require.NoError(t, st.Save(t.Context(), "other", []Message{say(t, "anew")}, Metadata{}))
				} else {
					require.NoError(t, st.Append(t.Context(), "other", say(t, "more")))
				}
				written = 0
				require.NoError(t, st.Append(t.Context(), "s", say(t, "a turn")))
				unsupported := err == syscall.EINVAL || err == syscall.ENOSYS || err == syscall.EOPNOTSUPP
				require.Equal(t, unsupported, written > 20_000, "%v: %d bytes", err, written) // else the turn, and the one before for the backup
			})
		}
	}
}
