package inuse

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

func TestMain(m *testing.M) {
	testenv.InMemory()
	testenv.Main(m, map[string]testenv.Child{"use": useChild})
}

// useChild names sessions, tells that, and lives until it is killed.
func useChild(dir, argument string) error {
	p, err := open(dir, fmt.Sprint("child", os.Getpid()))
	if err != nil {
		return err
	}
	if err := p.Wrote(argument); err != nil {
		return err
	}
	fmt.Println("named")
	select {}
}

func open(dir, name string) (*Program, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return Begin(vfs.New(root, nil), name)
}

func begin(t *testing.T, dir, name string) *Program {
	t.Helper()
	p, err := open(dir, name)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.End(false)) })
	return p
}

func look(t *testing.T, p *Program, session string) Use {
	t.Helper()
	u, err := p.Look(session)
	require.NoError(t, err)
	return u
}

func files(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// TestTwoPrograms looks what each of two programs knows of the other.
func TestTwoPrograms(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		a, b := begin(t, dir, "a"), begin(t, dir, "b")
		require.NoError(t, a.Use("used"))
		wrote := time.Now()
		require.NoError(t, a.Wrote("wrote"))
		for _, s := range []string{"used", "wrote"} {
			require.True(t, look(t, a, s).Here)
			require.Zero(t, look(t, a, s).Others)
			require.False(t, look(t, b, s).Here)
			require.WithinDuration(t, wrote, look(t, b, s).Others, time.Millisecond)
		}
		for _, p := range []*Program{a, b} {
			u := look(t, p, "wrote")
			require.True(t, u.Wrote(wrote))
			require.True(t, u.Wrote(wrote.Add(-nameLate)), "the name came late")
			require.False(t, u.Wrote(wrote.Add(-time.Minute)))
			require.False(t, u.Wrote(wrote.Add(time.Minute)), "somebody else wrote since")
			u = look(t, p, "used")
			require.False(t, u.Wrote(wrote))
		}
		require.Zero(t, look(t, b, "another"))
		time.Sleep(Window - time.Second)
		require.NotZero(t, look(t, b, "used").Others)
		time.Sleep(time.Second)
		require.Zero(t, look(t, b, "used").Others)
		require.False(t, look(t, a, "used").Here)
		require.NoError(t, a.Use("used"))
		require.NotZero(t, look(t, b, "used").Others)
		require.NoError(t, a.End(false))
		require.Zero(t, look(t, b, "used").Others)
		require.Equal(t, []string{"b.jsonl", "b.lock"}, files(t, dir))
	})
}

// TestUsedOnAnotherClock looks at a use while the clock was days ahead.
func TestUsedOnAnotherClock(t *testing.T) {
	t.Parallel()
	now := time.Now().UnixMilli()
	for ago, want := range map[time.Duration]bool{
		0: true, Window: false, Window - time.Second: true, -time.Second: true, -48 * time.Hour: false,
	} {
		require.Equal(t, want, used(line{Used: now - ago.Milliseconds()}, now), ago)
	}
}

// TestEndedPrograms looks what is left of programs that wrote sessions and
// ended before that was noted.
func TestEndedPrograms(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		a, b := begin(t, dir, "a"), begin(t, dir, "b")
		wrote := time.Now()
		require.NoError(t, a.Wrote("s"))
		require.NoError(t, a.End(true))
		require.NotEmpty(t, files(t, dir))
		u := look(t, b, "s")
		require.Zero(t, u.Others, "a dead program uses nothing")
		require.True(t, u.Wrote(wrote))
		require.False(t, u.Here)
		require.Equal(t, []string{"b.jsonl", "b.lock"}, files(t, dir))

		require.NoError(t, b.End(false), "it keeps what it took over")
		c := begin(t, dir, "c")
		u = look(t, c, "s")
		require.True(t, u.Wrote(wrote))
		c.Noted("s")
		require.NoError(t, c.End(false))
		require.Empty(t, files(t, dir))
	})
}

// TestBeginBesideOthers has another program look at the files of one that begins: its
// lock file is there, and not locked yet. The new program begins at each moment at
// which the other one removes a file, and keeps its files.
func TestBeginBesideOthers(t *testing.T) {
	t.Parallel()
	for at, more := 0, true; more; at++ {
		synctest.Test(t, func(t *testing.T) {
			dir := t.TempDir()
			root, err := os.OpenRoot(dir)
			require.NoError(t, err)
			var begun *Program
			var failed error
			removals, armed := 0, false
			b, err := Begin(vfs.New(root, &seam.Seam{Before: func(op seam.Op) error {
				if op.Kind != seam.Remove || !armed {
					return nil
				}
				if removals++; removals == at+1 {
					go func() { begun, failed = open(dir, "a") }()
					synctest.Wait() // it has begun, or waits
				}
				return nil
			}}), "b")
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(filepath.Join(dir, "a.lock"), nil, 0o600))
			armed = true
			look(t, b, "s")
			armed = false
			if more = removals > at; more {
				time.Sleep(time.Second)
				synctest.Wait()
				require.NoError(t, failed)
				require.NoError(t, begun.Use("s"))
				require.FileExists(t, filepath.Join(dir, "a.lock"))
				require.NotZero(t, look(t, b, "s").Others)
				require.NoError(t, begun.End(false))
			}
			require.NoError(t, b.End(false))
			require.Empty(t, files(t, dir))
		})
	}
}

// TestKilledProgram kills another process right after it has named a session.
func TestKilledProgram(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b := begin(t, dir, "b")
	for i := range testenv.KillRounds() {
		session := fmt.Sprint("s", i)
		child := testenv.Spawn(t, "use", dir, session)
		_, ok := child.Line()
		require.True(t, ok)
		wrote := time.Now()
		require.NotZero(t, look(t, b, session).Others)
		child.Kill()
		u := look(t, b, session)
		require.Zero(t, u.Others)
		require.True(t, u.Wrote(wrote))
		require.Equal(t, []string{"b.jsonl", "b.lock"}, files(t, dir))
	}
}

// TestFilesAreBounded lets a program use more sessions than it may name, and one
// session for days.
func TestFilesAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		a, b := begin(t, dir, "a"), begin(t, dir, "b")
		for i := range maxNamed + 100 {
			require.NoError(t, a.Use(fmt.Sprint("s", i)))
		}
		require.NotZero(t, look(t, b, "s0").Others)
		require.NotZero(t, look(t, b, fmt.Sprint("s", maxNamed+99)).Others)
		require.NotZero(t, look(t, b, "any").Others)
		time.Sleep(Window)
		require.NoError(t, a.Use("new"))
		require.Zero(t, look(t, b, "any").Others)
		for range 20_000 {
			time.Sleep(every)
			require.NoError(t, a.Wrote("s"))
		}
		require.NotZero(t, look(t, b, "s").Others)
		require.LessOrEqual(t, len(a.named), 2)
		fi, err := os.Stat(filepath.Join(dir, "a.jsonl"))
		require.NoError(t, err)
		require.Less(t, fi.Size(), int64(rewriteSize+1024))
	})
}

// TestDamagedFiles reads what is no name, or half of one.
func TestDamagedFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a, b := begin(t, dir, "a"), begin(t, dir, "b")
	require.NoError(t, a.Use("s"))
	path := filepath.Join(dir, "a.jsonl")
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, append(append([]byte("junk\n\n[]\n"), text...), `{"session":"t","us`...), 0o600))
	require.NotZero(t, look(t, b, "s").Others)
	require.Zero(t, look(t, b, "t").Others)
}

func BenchmarkWrote(b *testing.B) {
	for _, name := range []string{"again", "new"} {
		b.Run(name, func(b *testing.B) {
			p, err := open(b.TempDir(), "a")
			require.NoError(b, err)
			ids := make([]string, 4000)
			for i := range ids {
				ids[i] = fmt.Sprint("session-", i)
			}
			i := 0
			for b.Loop() {
				if name == "again" {
					err = p.Wrote("s")
				} else {
					if i++; i%len(ids) == 0 {
						clear(p.named)
					}
					err = p.Wrote(ids[i%len(ids)])
				}
				if err != nil {
					b.Fatal(err)
				}
			}
			require.NoError(b, p.End(false))
		})
	}
}
