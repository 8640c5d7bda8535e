//go:build linux && !race

package peers

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// turnLines are a turn as an agent makes it: a prompt, an answer with a call, the
// result of the call, an answer.
var turnLines = [4]string{
	`{"role": "user", "content": "` + strings.Repeat("Please look into it. ", 10) + `"}`,
	`{"role": "assistant", "content": "` + strings.Repeat("I look. ", 20) + `", "tool_calls": [{"id": "call_1", "tool": "read_file", "arguments": {"path": "a.go"}}]}`,
	`{"role": "tool", "tool_call_id": "call_1", "content": "` + strings.Repeat("package a // of a file ", 90) + `"}`,
	`{"role": "assistant", "content": "` + strings.Repeat("That is what I found. ", 45) + `"}`,
}

// turnWriter is what stores turns: this library, the bare calls, or SQLite.
type turnWriter interface {
	append(row int) error // of turnLines; row 0 also changes the count of prompts
	Close() error
}

// BenchmarkTurn measures a turn, four appends, in turn with two others: the bare
// system calls that promise the same, with the same syncs, which look at nothing and
// lock nothing, and SQLite (FULL, or OFF) with four inserts and one update of the
// count. The figures are medians over all turns: of a turn, of the prompt in it
// (which changes the count), of the last answer, and of a bare replacement of
// metadata.json.
func BenchmarkTurn(b *testing.B) {
	for _, d := range []durability{synced, relaxed} {
		for _, n := range []int{1000, 50_000} {
			b.Run(fmt.Sprintf("durability=%s/n=%d", d, n), func(b *testing.B) { benchmarkTurn(b, d, n) })
		}
	}
}

func benchmarkTurn(b *testing.B, d durability, n int) {
	b.Setenv("HOME", b.TempDir())
	b.Chdir(b.TempDir())
	rows := bytes.Repeat([]byte(strings.Join(turnLines[:], "\n")+"\n"), n/len(turnLines))
	writers := [...]struct {
		name string
		turnWriter
	}{{"ours", newOurs(b, d, rows)}, {"bare", newBare(b, d, rows)}, {"sqlite", newCounting(b, d, rows)}}
	var turn, prompt, answer [len(writers)][]time.Duration
	var replacement []time.Duration
	bare := writers[1].turnWriter.(*bareTurns)
	for first := 0; b.Loop(); first++ {
		for k := range writers {
			k = (k + first) % len(writers) // none is always behind the same other
			var took [len(turnLines)]time.Duration
			for row := range turnLines {
				start := time.Now()
				require.NoError(b, writers[k].append(row), writers[k].name)
				took[row] = time.Since(start)
			}
			turn[k] = append(turn[k], took[0]+took[1]+took[2]+took[3])
			prompt[k], answer[k] = append(prompt[k], took[0]), append(answer[k], took[3])
		}
		start := time.Now()
		require.NoError(b, bare.replace(false))
		replacement = append(replacement, time.Since(start))
	}
	median := func(took []time.Duration) float64 {
		slices.Sort(took)
		return float64(took[len(took)/2].Nanoseconds()) / 1000
	}
	b.ReportMetric(0, "ns/op") // of all three
	for k, w := range writers {
		b.ReportMetric(median(turn[k]), w.name+"-turn-µs")
		b.ReportMetric(median(prompt[k]), w.name+"-prompt-µs")
		b.ReportMetric(median(answer[k]), w.name+"-answer-µs")
		if k > 0 {
			b.ReportMetric(median(turn[0])/median(turn[k]), "to-"+w.name)
		}
		require.NoError(b, w.Close())
	}
	b.ReportMetric(median(replacement), "replacement-µs")
	b.ReportMetric((median(prompt[0])-median(answer[0]))/median(replacement), "count-to-replacement")
}

const turnSession = "1c3f3c44-0000-4000-8000-000000000001"

// ours is this library, in the directory where the other tools look for the session: each
// append takes its ownership lock.
type ours struct {
	*sessionstore.Store
	add  func(m sessionstore.Message) error
	rows [len(turnLines)]sessionstore.Message
}

func newOurs(b *testing.B, d durability, rows []byte) *ours {
	options := &sessionstore.Options{}
	if d == relaxed {
		options.Durability = sessionstore.Relaxed
	}
	st, err := sessionstore.Open("", options)
	require.NoError(b, err)
	o := &ours{Store: st}
	o.add = func(m sessionstore.Message) error { return st.Append(b.Context(), turnSession, m) }
	for i, line := range turnLines {
		o.rows[i], err = sessionstore.ParseMessage([]byte(line))
		require.NoError(b, err)
	}
	require.NoError(b, st.Create(b.Context(), turnSession, sessionstore.Metadata{}))
	require.NoError(b, os.WriteFile(filepath.Join(st.Dir(), turnSession, "transcript.jsonl"), rows, 0o600))
	for range 2 { // the files come into the state between turns
		for row := range turnLines {
			require.NoError(b, o.append(row))
		}
	}
	return o
}

func (o *ours) append(row int) error { return o.add(o.rows[row]) }

// bareTurns are the bare calls: the backup gets what it lacks and the new line, and
// is exchanged with the file; metadata.json is replaced, and was is its backup.
type bareTurns struct {
	durability
	dir     string
	names   *os.File    // the directory
	files   [2]*os.File // the transcript and its backup
	end     []byte      // of the transcript, what the backup lacks
	size    int64       // of the backup
	prompts int
}

func newBare(b *testing.B, d durability, rows []byte) *bareTurns {
	t := &bareTurns{durability: d, dir: b.TempDir(), size: int64(len(rows))}
	var err error
	t.names, err = os.Open(t.dir)
	require.NoError(b, err)
	for i, name := range []string{"transcript.jsonl", "transcript.jsonl.backup"} {
		t.files[i], err = os.Create(filepath.Join(t.dir, name))
		require.NoError(b, err)
		_, err = t.files[i].Write(rows)
		require.NoError(b, err)
		require.NoError(b, t.files[i].Sync())
	}
	require.NoError(b, os.WriteFile(filepath.Join(t.dir, "metadata.json"), nil, 0o600))
	return t
}

func (t *bareTurns) append(row int) error {
	line := turnLines[row] + "\n"
	backup := t.files[1]
	if _, err := backup.WriteAt(append(t.end, line...), t.size); err != nil {
		return err
	}
	t.size, t.end, t.files[0], t.files[1] = t.size+int64(len(t.end)), []byte(line), backup, t.files[0]
	if err := t.written(backup, true); err != nil {
		return err
	}
	if err := t.exchange("transcript.jsonl", "transcript.jsonl.backup"); err != nil {
		return err
	}
	if row == 0 {
		if err := t.replace(true); err != nil {
			return err
		}
	}
	if t.durability == relaxed {
		return nil
	}
	return t.names.Sync()
}

// replace gives metadata.json new content.
func (t *bareTurns) replace(sync bool) error {
	t.prompts++
	f, err := os.OpenFile(filepath.Join(t.dir, "metadata.json.new"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, `{"session_id": %q, "created": "2026-01-05T10:00:00+00:00", "bundle": "bundle:foundation", "model": "anthropic/claude-opus", "working_dir": %q, "turn_count": %d}`, turnSession, t.dir, t.prompts)
	if err == nil {
		err = t.written(f, sync)
	}
	if err = errors.Join(err, f.Close(), t.exchange("metadata.json.new", "metadata.json")); err != nil {
		return err
	}
	return os.Rename(filepath.Join(t.dir, "metadata.json.new"), filepath.Join(t.dir, "metadata.json.backup"))
}

// written syncs f if that is asked for, or has the system begin to write it.
func (t *bareTurns) written(f *os.File, sync bool) error {
	if t.durability == relaxed || !sync {
		return unix.SyncFileRange(int(f.Fd()), 0, 0, unix.SYNC_FILE_RANGE_WRITE)
	}
	return f.Sync()
}

func (t *bareTurns) exchange(a, b string) error {
	return unix.Renameat2(int(t.names.Fd()), a, int(t.names.Fd()), b, unix.RENAME_EXCHANGE)
}

func (t *bareTurns) Close() error {
	return errors.Join(t.names.Close(), t.files[0].Close(), t.files[1].Close())
}

// counting is SQLite with a count of prompts.
type counting struct{ *database }

func newCounting(b *testing.B, d durability, rows []byte) counting {
	st, err := openSQLite(b.TempDir(), d)
	require.NoError(b, err)
	c := counting{st.(*database)}
	require.NoError(b, c.fill(slices.Collect(bytes.Lines(rows))))
	require.NoError(b, c.name([]string{turnSession}))
	return c
}

func (c counting) append(row int) error {
	line := []byte(turnLines[row] + "\n")
	if row > 0 {
		return c.add(line)
	}
	return c.within(func(tx *sql.Tx) error {
		if _, err := tx.Stmt(c.insert).Exec(line); err != nil {
			return err
		}
		_, err := tx.Exec(`UPDATE sessions SET modified = modified + 1 WHERE id = ?`, turnSession)
		return err
	})
}
