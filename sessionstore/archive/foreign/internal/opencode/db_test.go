package opencode

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"modernc.org/sqlite"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/thread"
)

func TestMain(m *testing.M) {
	testenv.InMemory()
	testenv.Main(m, map[string]testenv.Child{"write": writeForever, "lock": lockIt})
}

// open opens a database as opencode does: for writing, with a -wal.
func open(dir string) (*sql.DB, error) {
	db, err := sql.Open("sqlite", filepath.Join(dir, file)+"?_pragma=journal_mode(wal)&_pragma=busy_timeout(0)")
	if err == nil {
		db.SetMaxOpenConns(1)
	}
	return db, err
}

// writeForever writes turns into the database in dir until it gets a line, and says how many
// were written and how many were refused because the database was busy.
func writeForever(dir, _ string) error {
	db, err := open(dir)
	if err != nil {
		return err
	}
	done, busy := 0, 0
	for n := 1000; ; n++ {
		_, err := db.Exec(turn(n))
		if e, ok := errors.AsType[*sqlite.Error](err); ok && e.Code()&0xff == 5 {
			busy++
		} else if err != nil {
			return err
		}
		if done++; done == 1 {
			fmt.Println("writing")
		}
		select {
		case <-testenv.Orders():
			fmt.Println(done > 0, busy)
			return db.Close()
		default:
		}
	}
}

// lockIt keeps others from reading the database in dir until it is killed.
func lockIt(dir, _ string) error {
	db, err := sql.Open("sqlite", filepath.Join(dir, file)+"?_pragma=locking_mode(exclusive)")
	if err == nil {
		_, err = db.Exec("BEGIN EXCLUSIVE; UPDATE session SET title = 'x'")
	}
	if err != nil {
		return err
	}
	fmt.Println("locked")
	<-testenv.Orders()
	return nil
}

// turn returns statements that add a prompt and its answer.
func turn(n int) string {
	return fmt.Sprintf(`BEGIN; INSERT INTO message VALUES ('msg_%04d', 'ses_1', %[1]d, %[1]d, '{"role":"user"}');
		INSERT INTO part VALUES ('prt_%04[1]d', 'msg_%04[1]d', 'ses_1', %[1]d, %[1]d, '{"type":"text","text":"Turn %[1]d"}'); COMMIT;`, n)
}

const session = `INSERT INTO session (id, project_id, slug, directory, title, version, time_created, time_updated) VALUES ('ses_1', 'p', 's', '/w', 'A title', '1', 1, 1);`

// written makes a database of two turns, the second one in the -wal, and copies its
// files with the suffixes as they are then.
func written(t *testing.T, copied ...string) (path string) {
	t.Helper()
	schema, err := os.ReadFile("../../testdata/opencode/schema.sql")
	require.NoError(t, err)
	dir, to := t.TempDir(), t.TempDir()
	db, err := open(dir)
	require.NoError(t, err)
	for _, query := range []string{string(schema), session, turn(1), "PRAGMA wal_checkpoint(TRUNCATE)", turn(2)} {
		_, err = db.Exec(query)
		require.NoError(t, err)
	}
	if slices.Contains(copied, "closed") {
		require.NoError(t, db.Close())
		copied = []string{""}
	}
	for _, suffix := range copied {
		if suffix == "noise" {
			continue
		}
		b, err := os.ReadFile(filepath.Join(dir, file+suffix))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(to, file+suffix), b, 0o600))
	}
	_ = db.Close()
	return filepath.Join(to, file)
}

// sums returns the names of the files in a folder, and sums of their bytes.
func sums(t *testing.T, dir string) map[string][32]byte {
	t.Helper()
	all := map[string][32]byte{}
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		require.NoError(t, err)
		all[e.Name()] = sha256.Sum256(b)
	}
	return all
}

// linesOf returns the lines of the session of a database.
func linesOf(t *testing.T, path string) (string, error) {
	t.Helper()
	r, size, leave, err := Tool{}.Open(t.Context(), pathOf(path, "ses_1"))
	if err != nil {
		return "", err
	}
	defer leave()
	b, err := io.ReadAll(io.NewSectionReader(r, 0, size))
	return string(b), err
}

// TestReadsWithoutATrace reads a database in each state that opencode leaves it in: it sees what
// is in the -wal, and no file of the folder changes, comes or goes.
func TestReadsWithoutATrace(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files []string
		turns int
	}{
		"closed":          {[]string{"closed"}, 2},
		"an empty wal":    {[]string{"closed", "empty"}, 2},
		"wal and shm":     {[]string{"", "-wal", "-shm"}, 2},
		"wal alone":       {[]string{"", "-wal"}, 2},
		"noise":           {[]string{"", "-wal", "-shm", "noise"}, 1},
		"noise alone":     {[]string{"", "-wal", "noise"}, 1},
		"without its wal": {[]string{""}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := written(t, c.files...)
			if slices.Contains(c.files, "empty") {
				require.NoError(t, os.WriteFile(path+"-wal", nil, 0o600))
			}
			if slices.Contains(c.files, "noise") {
				require.NoError(t, os.WriteFile(path+"-wal", []byte(strings.Repeat("noise", 9999)), 0o600))
			}
			before := sums(t, filepath.Dir(path))
			for range 2 {
				found, err := Tool{}.Find(t.Context(), filepath.Dir(path))
				require.NoError(t, err)
				require.Len(t, found, 1)
				lines, err := linesOf(t, path)
				require.NoError(t, err)
				require.Equal(t, c.turns, strings.Count(lines, `"text":"Turn `))
				require.Equal(t, before, sums(t, filepath.Dir(path)))
			}
		})
	}
}

// TestReadsBesideAWriter reads while another process writes: the writer never finds the database
// busy, and each reading is of one moment.
func TestReadsBesideAWriter(t *testing.T) {
	t.Parallel()
	path := written(t, "closed")
	w := testenv.Spawn(t, "write", filepath.Dir(path), "")
	require.Equal(t, "writing", w.Hear(t))
	most := 0
	for range 100 {
		err := read(t.Context(), path, func(r rows) error {
			all, err := r.session("ses_1")
			if err != nil {
				return err
			}
			require.Len(t, all, 1)
			n := 0
			_, failed := fmt.Sscanf(all[0].facts[strings.LastIndex(all[0].facts, `] `)+2:], "%d %d", new(int), &n)
			require.NoError(t, failed)
			require.GreaterOrEqual(t, n, most)
			most = n
			return err
		})
		require.NoError(t, err)
	}
	w.Tell(t, "end")
	require.Equal(t, []string{"true 0"}, w.End(t))
	require.Greater(t, most, 2)
}

// TestRefusesInWords reads other files, and databases that cannot be read now.
func TestRefusesInWords(t *testing.T) {
	t.Parallel()
	change := func(query string) func(t *testing.T, path string) {
		return func(t *testing.T, path string) {
			db, err := sql.Open("sqlite", path+"?_pragma=journal_mode(delete)")
			require.NoError(t, err)
			_, err = db.Exec(query)
			require.NoError(t, errors.Join(err, db.Close()))
		}
	}
	for name, c := range map[string]struct {
		files  []string
		damage func(t *testing.T, path string)
		want   string
	}{
		"no database": {[]string{"closed"}, func(t *testing.T, path string) {
			require.NoError(t, os.WriteFile(path, []byte(strings.Repeat("no database", 1000)), 0o600))
		}, errNone.Error()},
		"empty, wal":      {[]string{"", "-wal"}, empty, "table session has no column id"},
		"empty, wal, shm": {[]string{"", "-wal", "-shm"}, empty, "table session has no column id"},
		"empty":           {[]string{"closed"}, empty, "table session has no column id"},
		"a page of zeros": {[]string{"closed"}, func(t *testing.T, path string) {
			f, err := os.OpenFile(path, os.O_WRONLY, 0)
			require.NoError(t, err)
			_, err = f.WriteAt(make([]byte, 100_000), 4096)
			require.NoError(t, errors.Join(err, f.Close()))
		}, errDamaged.Error()},
		"cut off": {[]string{"closed"}, func(t *testing.T, path string) { require.NoError(t, os.Truncate(path, 3*4096)) }, errDamaged.Error()},
		"a hot journal": {[]string{"closed"}, func(t *testing.T, path string) {
			require.NoError(t, os.WriteFile(path+"-journal", []byte("x"), 0o600))
		}, errJournal.Error()},
		"a folder":          {nil, func(t *testing.T, path string) { require.NoError(t, os.Mkdir(path, 0o700)) }, errNone.Error()},
		"terabytes, wal":    {[]string{"", "-wal"}, func(t *testing.T, path string) { require.NoError(t, os.Truncate(path, 1<<43)) }, ""},
		"a column is gone":  {[]string{"closed"}, change("ALTER TABLE session DROP COLUMN revert"), "table session has no column revert"},
		"a table is gone":   {[]string{"closed"}, change("DROP TABLE part"), "table part has no column id"},
		"a view":            {[]string{"closed"}, change("ALTER TABLE part RENAME TO p; CREATE VIEW part AS SELECT * FROM p"), "table part has no column id"},
		"a column is added": {[]string{"closed"}, change("ALTER TABLE part ADD COLUMN more text; INSERT INTO migration VALUES ('20270101_more', 1)"), ""},
		"a torn wal":        {[]string{"", "-wal"}, func(t *testing.T, path string) { tear(t, path+"-wal") }, ""},
		"a torn wal, shm":   {[]string{"", "-wal", "-shm"}, func(t *testing.T, path string) { tear(t, path+"-wal") }, ""},
		"ten gigabytes":     {[]string{"closed"}, func(t *testing.T, path string) { require.NoError(t, os.Truncate(path, 10<<30)) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), file)
			if c.files != nil {
				path = written(t, c.files...)
			}
			c.damage(t, path)
			names, err := filepath.Glob(path + "*")
			require.NoError(t, err)
			defer func() {
				left, err := filepath.Glob(path + "*")
				require.NoError(t, err)
				require.Equal(t, names, left)
			}()
			found, err := Tool{}.Find(t.Context(), filepath.Dir(path))
			if c.want == "" {
				require.NoError(t, err)
				require.Len(t, found, 1)
				_, err = linesOf(t, path)
				require.NoError(t, err)
				return
			}
			require.Empty(t, found)
			require.ErrorContains(t, err, c.want)
			require.ErrorContains(t, err, path)
		})
	}
}

// TestWithoutWal does not take part in the locks of a database that went to journals.
func TestWithoutWal(t *testing.T) {
	t.Parallel()
	path := written(t, "closed")
	db, err := sql.Open("sqlite", path+"?_pragma=journal_mode(delete)")
	require.NoError(t, err)
	require.NoError(t, errors.Join(db.Ping(), db.Close()))
	err = query(t.Context(), path, "mode=ro&readonly_shm=1", opened(func(rows) error { return nil }))
	require.ErrorIs(t, err, errChanging)
}

// empty removes all that is in a file. SQLite takes the -wal beside it for one of an earlier file.
func empty(t *testing.T, path string) {
	t.Helper()
	require.NoError(t, os.Truncate(path, 0))
}

// tear cuts off the end of a file.
func tear(t *testing.T, path string) {
	t.Helper()
	fi, err := os.Stat(path)
	require.NoError(t, err)
	require.NoError(t, os.Truncate(path, fi.Size()-1000))
}

// TestLocked does not wait for a writer that locks the database, and says so.
func TestLocked(t *testing.T) {
	t.Parallel()
	path := written(t, "", "-wal", "-shm")
	w := testenv.Spawn(t, "lock", filepath.Dir(path), "")
	require.Equal(t, "locked", w.Hear(t))
	_, err := linesOf(t, path)
	require.ErrorContains(t, err, errLocked.Error())
	w.Kill()
}

// TestLargeRows reads a session with a row of 100 MB: it is left out and named, and the
// other lines go through a file.
func TestLargeRows(t *testing.T) {
	t.Parallel()
	path := written(t, "closed")
	db, err := sql.Open("sqlite", path)
	require.NoError(t, err)
	_, err = db.Exec(`UPDATE part SET data = zeroblob(100000000) WHERE id = 'prt_0001'; UPDATE part SET data = json_object('type', 'text', 'text', hex(zeroblob(5000000))) WHERE id = 'prt_0002'`)
	require.NoError(t, errors.Join(err, db.Close()))
	lines, err := linesOf(t, path)
	require.NoError(t, err)
	require.Contains(t, lines, `{"id": "prt_0001", "data": {"type":"oversized"}}`)
	require.Greater(t, len(lines), 10_000_000)
	require.Less(t, len(lines), 11_000_000)
}

// TestLargeSession reads the row of a session whose texts are too long for what they say.
func TestLargeSession(t *testing.T) {
	t.Parallel()
	path := written(t, "closed")
	db, err := sql.Open("sqlite", path)
	require.NoError(t, err)
	for _, query := range []string{
		"UPDATE session SET directory = x, version = x, parent_id = x FROM (SELECT '/' || hex(zeroblob(500000)) AS x)",
		"INSERT INTO session (id, project_id, slug, directory, title, version, time_created, time_updated) VALUES ('ses_' || hex(zeroblob(500000)), 'p', 's', '/w', 'x', '1', 1, 1)",
		"INSERT INTO message VALUES ('msg_' || hex(zeroblob(500000)), 'ses_1', 0, 0, '{}')",
		"INSERT INTO part VALUES ('prt_' || hex(zeroblob(500000)), 'msg_0001', 'ses_1', 0, 0, '{}')",
	} {
		_, err = db.Exec(query)
		require.NoError(t, err)
	}
	require.NoError(t, db.Close())
	found, err := Tool{}.Find(t.Context(), filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.Zero(t, len(found[0].Dir))
	require.Less(t, len(found[0].Rows), 10_000)
	lines, err := linesOf(t, path)
	require.NoError(t, err)
	require.Less(t, len(lines), 100_000)
}

// writerFunc is a function as an io.Writer.
type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

// TestLinesAreOfOneMoment changes three messages in one transaction while they are read, to texts
// of the same length in the same millisecond: the lines have all changes, or none. The clock
// stands still. A reading that takes long is several transactions, and begins anew.
func TestLinesAreOfOneMoment(t *testing.T) {
	t.Parallel()
	for pause, want := range map[time.Duration]string{0: "old", time.Second: "new"} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			readPaused(t, pause, want)
		})
	}
}

// readPaused changes the messages at the first line of a reading, which then takes a time.
func readPaused(t *testing.T, pause time.Duration, want string) {
	t.Helper()
	path := written(t, "closed")
	synctest.Test(t, func(t *testing.T) {
		t.Helper()
		db, err := open(filepath.Dir(path))
		require.NoError(t, err)
		defer db.Close()
		for _, query := range []string{turn(3), `UPDATE part SET data = json_object('type', 'text', 'text', 'old' || hex(zeroblob(100000)))`} {
			_, err = db.Exec(query)
			require.NoError(t, err)
		}
		var lines strings.Builder
		changed := false
		require.NoError(t, read(t.Context(), path, func(r rows) error {
			lines.Reset()
			return r.lines("ses_1", writerFunc(func(b []byte) (int, error) {
				if !changed {
					changed = true
					_, err := db.Exec(`UPDATE part SET data = replace(data, 'old', 'new'), time_updated = time_updated + ?`, pause.Seconds())
					require.NoError(t, err)
					time.Sleep(pause)
				}
				return lines.Write(b)
			}))
		}))
		require.Equal(t, 3, strings.Count(lines.String(), `"text":"`+want))
	})
}

// TestWaitingEnds does not wait longer than the context for another goroutine that reads.
func TestWaitingEnds(t *testing.T) {
	t.Parallel()
	path := written(t, "closed")
	err := read(t.Context(), path, func(rows) error {
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- read(ctx, path, func(rows) error { return nil }) }()
		cancel()
		require.ErrorIs(t, <-ended, context.Canceled)
		return nil
	})
	require.NoError(t, err)
}

// TestReadingEnds lets the next goroutine read where one ended while it read.
func TestReadingEnds(t *testing.T) {
	t.Parallel()
	path := written(t, "closed")
	require.Panics(t, func() { _ = read(t.Context(), path, func(rows) error { panic("made up") }) })
	require.NoError(t, read(t.Context(), path, rows.check))
}

// TestExportGoesOn has prompts name the model with which opencode went on last on this machine.
func TestExportGoesOn(t *testing.T) {
	t.Parallel()
	path := written(t, "closed")
	made := func(home string) string {
		var b bytes.Buffer
		w := &thread.LineWriter{Out: bufio.NewWriter(&b)}
		m, err := sessionstore.Text("user", "Hi", time.Now())
		require.NoError(t, err)
		require.NoError(t, Tool{}.Maker(w, thread.About{ID: "ses_2", Dir: "/w", Home: home, Model: "m"}).Message(thread.Made{Message: m, Said: "Hi", Mark: "x/1"}))
		require.NoError(t, w.Flush())
		return b.String()
	}
	const own = `"model":{"modelID":"m","providerID":"amplifier"}`
	require.Contains(t, made(""), own)
	require.Contains(t, made(t.TempDir()), own)
	require.Contains(t, made(filepath.Dir(path)), own)
	db, err := sql.Open("sqlite", path)
	require.NoError(t, err)
	_, err = db.Exec(`INSERT INTO session (id, project_id, slug, directory, title, version, model, time_created, time_updated) VALUES
		('ses_o', 'p', 's', '/w', 't', '1', '{"id":"old","providerID":"p"}', 1, 1), ('ses_n', 'p', 's', '/w', 't', '1', '{"id":"new","providerID":"p"}', 1, 2),
		('ses_x', 'p', 's', '/w', 't', '1', '{"id":"m","providerID":"amplifier"}', 1, 3), ('ses_y', 'p', 's', '/w', 't', '1', 'x', 1, 4)`)
	require.NoError(t, errors.Join(err, db.Close()))
	require.Contains(t, made(filepath.Dir(path)), `"model":{"modelID":"new","providerID":"p"}`)
	db, err = sql.Open("sqlite", path)
	require.NoError(t, err)
	_, err = db.Exec(`INSERT INTO session (id, project_id, slug, directory, title, version, model, time_created, time_updated, parent_id) VALUES
		('ses_1', 'p', 's', '/elsewhere', 't', '1', '{"id":"theirs","providerID":"q"}', 1, 5, NULL), ('ses_a', 'p', 's', '/w', 't', '1', '{"id":"agent","providerID":"p"}', 1, 6, 'ses_n')
		ON CONFLICT DO UPDATE SET model = excluded.model, directory = excluded.directory, time_updated = excluded.time_updated`)
	require.NoError(t, errors.Join(err, db.Close()))
	require.Contains(t, made(filepath.Dir(path)), `"model":{"modelID":"new","providerID":"p"}`)
	db, err = sql.Open("sqlite", path)
	require.NoError(t, err)
	_, err = db.Exec(`DELETE FROM session WHERE directory = '/w'`)
	require.NoError(t, errors.Join(err, db.Close()))
	require.Contains(t, made(filepath.Dir(path)), `"model":{"modelID":"theirs","providerID":"q"}`)
}
