package sessiondir

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
	"github.com/amplifier-go/sessionstorage/internal/format/jsonl"
	"github.com/amplifier-go/sessionstorage/internal/test/crashsim"
)

// logDir returns the directory of a session and its path.
func logDir(t *testing.T, hooks *seam.Seam) (*Dir, string) {
	t.Helper()
	path := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(path, "s"), 0o700))
	b, err := Open(path, hooks)
	require.NoError(t, err)
	d, err := b.Dir("s")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, errors.Join(d.Close(), b.Close())) })
	return d, filepath.Join(path, "s")
}

func readLog(t *testing.T, d *Dir) (Tail, []string) {
	t.Helper()
	var lines []string
	tail, err := d.ReadLog("log", func(l jsonl.Line) bool {
		whole := isWhole(l.Bytes)
		if whole {
			lines = append(lines, string(l.Bytes))
		}
		return whole
	}, func(l jsonl.Line) { t.Errorf("line %d is damaged", l.Number) })
	require.NoError(t, err)
	return tail, lines
}

// isWhole reports whether line is a record of these tests, such as {a}.
func isWhole(line []byte) bool {
	return bytes.HasPrefix(line, []byte("{")) && bytes.HasSuffix(line, []byte("}")) && bytes.Count(line, []byte("{")) == 1 && !bytes.ContainsRune(line, 0)
}

func TestAppendLog(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, before, want string }{
		{"none", "-", ""},
		{"empty", "", ""},
		{"whole", "{a}\n", "{a}\n"},
		{"without its LF", "{a}\n{b}", "{a}\n{b}\n"},
		{"torn", "{a}\n{b", "{a}\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var kinds []string
			d, path := logDir(t, &seam.Seam{After: func(op seam.Op) { kinds = append(kinds, op.Kind.String()) }})
			if c.before != "-" {
				require.NoError(t, os.WriteFile(filepath.Join(path, "log"), []byte(c.before), 0o600))
			}
			tail, _ := readLog(t, d)
			require.True(t, d.Knows("log", tail) || c.before != "-", "what was never there stays so")
			tail, err := d.AppendLog("log", tail, []byte("{x}\n{y}\n"), true)
			require.NoError(t, err)
			require.True(t, d.Knows("log", tail), "at once")
			kinds = nil
			tail, err = d.AppendLog("log", tail, []byte("{z}\n"), true)
			require.NoError(t, err)
			require.Equal(t, "write chtimes sync", strings.Join(kinds, " "))
			got, err := os.ReadFile(filepath.Join(path, "log"))
			require.NoError(t, err)
			require.Equal(t, c.want+"{x}\n{y}\n{z}\n", string(got))
			require.EqualValues(t, len(got), tail.Whole)
		})
	}
}

// TestKnows changes a log in every way that another program may.
func TestKnows(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(path string) error{
		"grown":   func(path string) error { return os.WriteFile(path, []byte("{a}\n{b}\n"), 0o600) },
		"same":    func(path string) error { return os.WriteFile(path, []byte("{b}\n"), 0o600) },
		"cut":     func(path string) error { return os.Truncate(path, 0) },
		"removed": os.Remove,
		"replaced": func(path string) error {
			return errors.Join(os.Remove(path), os.WriteFile(path, []byte("{a}\n"), 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, path := logDir(t, nil)
			tail, err := d.AppendLog("log", Tail{}, []byte("{a}\n"), false)
			require.NoError(t, err)
			require.NoError(t, change(filepath.Join(path, "log")))
			require.False(t, d.Knows("log", tail))
			_, err = d.AppendLog("log", tail, []byte("{c}\n"), false)
			require.ErrorIs(t, err, ErrOvertaken)
		})
	}
}

// TestKnowsByTheClock does not trust a time that a later change may have.
func TestKnowsByTheClock(t *testing.T) {
	t.Parallel()
	d, path := logDir(t, &seam.Seam{Clock: century})
	require.NoError(t, os.WriteFile(filepath.Join(path, "log"), []byte("{a}\n"), 0o600))
	tail, _ := readLog(t, d)
	require.False(t, d.Knows("log", tail))
	tail, err := d.AppendLog("log", tail, []byte("{b}\n"), false)
	require.NoError(t, err)
	require.False(t, d.Knows("log", tail), "this file system does not keep the time that it was given")
}

// TestAppendLogFails fails each step: the log stays what it was.
func TestAppendLogFails(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for _, before := range []string{"{a}\n", "{a}\n{b", "{a}"} {
		for at := 0; ; at++ {
			hooks := &seam.Seam{}
			d, path := logDir(t, hooks)
			require.NoError(t, os.WriteFile(filepath.Join(path, "log"), []byte(before), 0o600))
			tail, lines := readLog(t, d)
			failer := &crashsim.Failer{At: at, Err: broken, Part: 50}
			hooks.Before = failer.Before
			_, err := d.AppendLog("log", tail, []byte("{x}\n"), true)
			op, hit := failer.Failed()
			if !hit {
				require.NoError(t, err)
				break
			}
			_, found := readLog(t, d)
			if op.Kind == seam.Chtimes {
				lines = append(lines, "{x}")
			} else {
				require.ErrorIs(t, err, broken)
			}
			require.Equal(t, lines, found, "%q, operation %d, %v", before, at, op.Kind)
		}
	}
}

func TestLogIsAPlainFile(t *testing.T) {
	t.Parallel()
	d, path := logDir(t, nil)
	require.NoError(t, os.Mkdir(filepath.Join(path, "log"), 0o700))
	_, err := d.ReadLog("log", nil, nil)
	require.ErrorIs(t, err, vfs.ErrNotRegular)
	_, err = d.AppendLog("log", Tail{}, []byte("{}\n"), false)
	require.ErrorIs(t, err, vfs.ErrNotRegular)
}

// TestPieces holds that a write holds one line, or several of one sector.
func TestPieces(t *testing.T) {
	t.Parallel()
	short, long := strings.Repeat("a", 99)+"\n", strings.Repeat("b", 999)+"\n"
	for _, c := range []struct {
		name, lines string
		at          int64
		want        []int
	}{
		{"one", short, 0, []int{100}},
		{"one in two sectors", short, 500, []int{100}},
		{"several", strings.Repeat(short, 7), 0, []int{500, 100, 100}},
		{"long ones", long + long, 7, []int{1000, 1000}},
		{"the LF before, in the sector", "\n" + short + short, 5, []int{201}},
		{"the LF before a long one", "\n" + long, 5, []int{1, 1000}},
		{"the LF at the end of a sector", "\n" + short, 511, []int{1, 100}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var got []int
			for lines, at := []byte(c.lines), c.at; len(lines) > 0; {
				n := piece(lines, at)
				got = append(got, n)
				lines, at = lines[n:], at+int64(n)
			}
			require.Equal(t, c.want, got)
		})
	}
}

// TestAppendLogPowerCuts looks at the states in which a power cut may leave
// the disk: the lines before, and the first of those that were added, whole,
// and nothing that was cut off.
func TestAppendLogPowerCuts(t *testing.T) {
	t.Parallel()
	large := "{" + strings.Repeat("large ", 300) + "}"
	for _, before := range []string{"{a}\n", "{a}", "{a}\n{bbb{cut off}", "{a}\n{bbb" + large[:1200]} {
		hooks := &seam.Seam{}
		d, path := logDir(t, hooks)
		require.NoError(t, os.WriteFile(filepath.Join(path, "log"), []byte(before), 0o600))
		tail, _ := readLog(t, d)
		rec, err := crashsim.Record(path)
		require.NoError(t, err)
		hooks.After = rec.After
		attempted := []string{"{a}"}
		for _, lines := range [][]string{{"{x}"}, {large, "{y}", large, "{z}", "{z}"}} {
			tail, err = d.AppendLog("log", tail, []byte(strings.Join(lines, "\n")+"\n"), true)
			require.NoError(t, err)
			rec.Acknowledge()
			attempted = append(attempted, lines...)
		}
		log, err := rec.Log()
		require.NoError(t, err)
		tally := crashsim.Tally{}
		for s, err := range (&crashsim.Crash{Log: log, Seed: 1, Seeds: 40, Tears: 16}).States(&tally) {
			require.NoError(t, err)
			data, err := s.ReadFile("log")
			require.NoError(t, err)
			requirePrefix(t, data, attempted, []int{1, 2, len(attempted)}[s.Acked], s)
		}
		require.Zero(t, tally.Left)
		t.Log(tally)
	}
}

func requirePrefix(t *testing.T, data []byte, attempted []string, acknowledged int, at any) {
	t.Helper()
	var found []string
	jsonl.Log(data, func(l jsonl.Line) bool {
		whole := isWhole(l.Bytes)
		if whole {
			found = append(found, string(l.Bytes))
		}
		return whole
	}, func(l jsonl.Line) { require.Fail(t, "damage", "line %d: %v", l.Number, at) })
	require.GreaterOrEqual(t, len(found), acknowledged, at)
	require.Equal(t, attempted[:len(found)], found, at)
}
