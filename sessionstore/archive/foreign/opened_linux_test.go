package foreign

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// opens counts how often files in some directories are opened.
type opens struct {
	t  *testing.T
	fd int
}

func watchOpens(t *testing.T, dirs ...string) *opens {
	t.Helper()
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, unix.Close(fd)) })
	for _, dir := range dirs {
		_, err := unix.InotifyAddWatch(fd, dir, unix.IN_OPEN)
		require.NoError(t, err)
	}
	return &opens{t, fd}
}

// since returns the opens of files since the last call.
func (o *opens) since() (n int) {
	o.t.Helper()
	buf := make([]byte, 1<<20)
	for {
		k, err := unix.Read(o.fd, buf)
		if err != nil || k <= 0 {
			return n
		}
		for b := buf[:k]; len(b) >= unix.SizeofInotifyEvent; {
			name := int(b[12]) | int(b[13])<<8
			if mask := b[7]; mask&0x40 == 0 && name > 0 { // else it is a directory
				n++
			}
			b = b[unix.SizeofInotifyEvent+name:]
		}
	}
}

// TestUnchangedIsNotRead imports a home three times: what did not change is opened once, to
// find it, and what is written anew is read, also with the size and the time that it had.
func TestUnchangedIsNotRead(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	dir := filepath.Join(home, "projects", "-w")
	require.NoError(t, os.MkdirAll(dir, 0o700))
	files := map[string]string{
		"a":       turns("a", "b"),
		"b":       strings.ReplaceAll(turns("c", "d"), "g-", "h-"),
		"nothing": `{"type":"summary","summary":"A name","leafUuid":"x"}` + "\n",
		"damaged": "{\n" + strings.ReplaceAll(turns("e"), "g-", "i-"),
		"loose":   strings.Replace(strings.ReplaceAll(turns("f"), "g-", "j-"), `"parentUuid":"j-user-0"`, `"parentUuid":"of-nobody"`, 1),
	}
	for name, text := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name+".jsonl"), []byte(text), 0o600))
	}
	settle := func() {
		path, began := filepath.Join(home, "clock"), time.Now()
		require.Eventually(t, func() bool {
			require.NoError(t, os.WriteFile(path, []byte(time.Now().String()), 0o600))
			fi, err := os.Stat(path)
			return err == nil && fi.ModTime().Sub(began) > 30*time.Millisecond
		}, time.Minute, 5*time.Millisecond)
	}
	settle()
	p := openProjects(t)
	opened := watchOpens(t, dir)
	run := func() (said []Report, n int) {
		all, err := Find(t.Context(), Claude, &FindOptions{Home: home})
		require.NoError(t, err)
		require.Len(t, all, len(files))
		for _, h := range all {
			r, err := Import(t.Context(), p, h, nil)
			if filepath.Base(h.Path) == "nothing.jsonl" {
				require.ErrorIs(t, err, ErrEmpty)
			} else {
				require.NoError(t, err)
			}
			said = append(said, *r)
		}
		return said, opened.since()
	}
	_, n := run()
	require.Greater(t, n, 2*len(files))
	unchanged, n := run()
	require.Equal(t, len(files), n)
	damaged := 0
	for _, r := range unchanged {
		damaged += len(r.Damaged)
	}
	require.Equal(t, 1, damaged)

	path := filepath.Join(dir, "a.jsonl")
	was, err := os.Stat(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, []byte(turns("a", "x")), 0o600))
	require.NoError(t, os.Chtimes(path, was.ModTime(), was.ModTime()))
	settle()
	changed, n := run()
	require.Greater(t, n, len(files))
	require.Equal(t, Diverged, changed[0].Sessions[0].Kind)
	_, n = run()
	require.Equal(t, len(files), n)

	row := strings.Replace(strings.SplitAfter(turns("z"), "\n")[0], "g-user-0", "of-nobody", 1) // the parent of a record of another file
	require.NoError(t, os.WriteFile(filepath.Join(dir, "b.jsonl"), []byte(files["b"]+row), 0o600))
	settle()
	_, n = run()
	require.Greater(t, n, 2*len(files))
	_, n = run()
	require.Equal(t, len(files), n)

	st, err := p.Store("-w")
	require.NoError(t, err)
	require.NoError(t, st.Delete(t.Context(), unchanged[1].Sessions[0].ID))
	again, _ := run()
	require.Equal(t, Created, again[1].Sessions[0].Action)
}

// TestUnchangedPi imports sessions of pi again: each file is opened once, to find it.
func TestUnchangedPi(t *testing.T) {
	t.Parallel()
	h := newPiHome(t)
	h.put("p1", "", piTurn("1", "", "One")...)
	h.put("p2", `,"parentSession":"/x/2026_p1.jsonl"`, joined(piTurn("1", "", "One"), piTurn("2", "1a", "Two"))...)
	path, began := filepath.Join(h.dir, "clock"), time.Now()
	require.Eventually(t, func() bool {
		require.NoError(t, os.WriteFile(path, []byte(time.Now().String()), 0o600))
		fi, err := os.Stat(path)
		return err == nil && fi.ModTime().Sub(began) > 30*time.Millisecond
	}, time.Minute, 5*time.Millisecond)
	h.run()
	opened := watchOpens(t, filepath.Dir(h.path("p1")))
	require.Equal(t, Unchanged, h.run()["p2"].Sessions[0].Action)
	require.Equal(t, 2, opened.since())
}

// TestUnchangedCopilot imports a session of the GitHub Copilot CLI again: the file with its name is
// opened, and its events are not.
func TestUnchangedCopilot(t *testing.T) {
	t.Parallel()
	h := newCopilotHome(t)
	h.put("c1", copilotTurn("1", "", "", "One")...)
	h.call("c1", "First", true)
	path, began := filepath.Join(h.dir, "clock"), time.Now()
	require.Eventually(t, func() bool {
		require.NoError(t, os.WriteFile(path, []byte(time.Now().String()), 0o600))
		fi, err := os.Stat(path)
		return err == nil && fi.ModTime().Sub(began) > 30*time.Millisecond
	}, time.Minute, 5*time.Millisecond)
	h.run()
	opened := watchOpens(t, filepath.Dir(h.path("c1", "x")))
	require.Equal(t, Unchanged, h.run()["c1"].Sessions[0].Action)
	require.Equal(t, 1, opened.since())
	h.call("c1", "Second", true)
	h.run()
	require.Equal(t, "Second", h.metadata(idOf(Copilot, "c1")).Text("name"))
}

// TestNotesOfOrphans imports the file of a sub-agent in whose folder no conversation is, and
// which names a parent that is nowhere.
func TestNotesOfOrphans(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	dir := filepath.Join(home, "projects", "-w", "s", "subagents")
	require.NoError(t, os.MkdirAll(dir, 0o700))
	text := strings.Replace(turns("a", "b"), `"parentUuid":"g-user-0"`, `"parentUuid":"of-nobody"`, 1)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "agent-x.jsonl"), []byte(text), 0o600))
	p := openProjects(t)
	for _, want := range []Action{Created, Unchanged, Unchanged} {
		all, err := Find(t.Context(), Claude, &FindOptions{Home: home})
		require.NoError(t, err)
		require.Len(t, all, 1)
		r, err := Import(t.Context(), p, all[0], nil)
		require.NoError(t, err)
		require.Equal(t, want, r.Sessions[0].Action)
	}
	ctx, end := context.WithCancel(t.Context())
	all, err := Find(ctx, Claude, &FindOptions{Home: home})
	require.NoError(t, err)
	end()
	_, err = Import(ctx, p, all[0], nil)
	require.ErrorIs(t, err, context.Canceled)
}
