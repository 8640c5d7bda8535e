package sessionstore_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// TestEveryWriteOfOneSession makes, writes and removes a session. After each call the
// backup is what was, and there is no temporary file. TestRefusedBySystem
// repeats it where the system refuses calls.
func TestEveryWriteOfOneSession(t *testing.T) {
	t.Parallel()
	dir := testenv.Scratch(t) // where names can be exchanged
	require.NoError(t, os.WriteFile(filepath.Join(dir, "mode"), nil, 0o600))
	_ = os.Chmod(filepath.Join(dir, "mode"), 0o600) // refused or not: it shows that the system does refuse it

	for _, d := range []sessionstore.Durability{sessionstore.Durable, sessionstore.Relaxed} {
		w := &writtenSession{t: t, dir: dir, st: open(t, dir, &sessionstore.Options{Durability: d})}
		w.run()
	}
}

// writtenSession is the session "s" of a test that writes it in all ways.
type writtenSession struct {
	t    *testing.T
	dir  string
	st   *sessionstore.Store
	rows int
}

func (w *writtenSession) run() {
	t, ctx, st := w.t, w.t.Context(), w.st
	w.does("create", "", func() error { return st.Create(ctx, "s", sessionstore.Metadata{}) })
	for range 4 {
		w.does("append", transcriptFile, func() error { return st.Append(ctx, "s", w.next()) })
	}
	w.does("save", transcriptFile, func() error {
		s := w.load()
		return st.Save(ctx, "s", append(s.Messages, w.next(), w.next()), s.Metadata)
	})
	w.does("rewind", transcriptFile, func() error {
		s := w.load()
		w.rows = 3
		return st.Save(ctx, "s", s.Messages[:w.rows], s.Metadata)
	})
	w.does("replace", transcriptFile, func() error {
		s := w.load()
		_, err := st.Replace(ctx, "s", s.Revision, append(s.Messages, w.next()))
		return err
	})
	for i := range 2 {
		w.does("update metadata", metadataFile, func() error {
			_, err := st.UpdateMetadata(ctx, "s", func(md *sessionstore.Metadata) error { return md.Set("n", i) })
			return err
		})
	}
	w.does("append again", transcriptFile, func() error { return st.Append(ctx, "s", w.next()) })
	require.NoError(t, st.Delete(ctx, "s"))
	require.NoDirExists(t, filepath.Join(w.dir, "s"))
	w.rows = 0
}

func (w *writtenSession) next() sessionstore.Message {
	w.rows++
	return parse(w.t, numbered("row", w.rows))[0]
}

func (w *writtenSession) load() *sessionstore.Session {
	w.t.Helper()
	s, err := w.st.Load(w.t.Context(), "s")
	require.NoError(w.t, err)
	return s
}

// does does a call, which changes the content of file. The backup of an empty
// transcript may be missing.
func (w *writtenSession) does(name, file string, call func() error) {
	t := w.t
	t.Helper()
	was := ""
	if file != "" {
		was = read(t, w.dir, "s", file)
	}
	require.NoError(t, call(), name)
	require.Len(t, w.load().Messages, w.rows, name)
	if was != "" {
		require.Equal(t, was, read(t, w.dir, "s", file+".backup"), name)
	}
	files, err := filepath.Glob(filepath.Join(w.dir, "s", ".*"))
	require.NoError(t, err)
	require.Empty(t, files, "%s: temporary files", name)
	staged, err := os.ReadDir(filepath.Join(w.dir, ".sessionstore", "new"))
	require.NoError(t, err)
	require.Empty(t, staged, name)
}

// TestRefusedBySystem repeats TestEveryWriteOfOneSession where the system
// refuses every exchange of names, as a sandbox or a file system may, and where
// it refuses to change the mode of a file.
func TestRefusedBySystem(t *testing.T) {
	t.Parallel()
	strace := testenv.Strace(t)
	for _, refused := range []struct{ calls, errno, sign string }{
		{"renameat2", "EPERM", `(RENAME_EXCHANGE|resumed>)\) += -1 EPERM .*\(INJECTED\)`},
		{"renameat2", "EIO", `(RENAME_EXCHANGE|resumed>)\) += -1 EIO .*\(INJECTED\)`},
		{"/chmod", "EPERM", `(/mode", 0600|resumed>)\) += -1 EPERM .*\(INJECTED\)`},
	} {
		t.Run(strings.TrimPrefix(refused.calls, "/")+" "+refused.errno, func(t *testing.T) {
			t.Parallel()
			program, err := os.Executable()
			require.NoError(t, err)
			trace := filepath.Join(t.TempDir(), "trace")
			cmd := exec.CommandContext(t.Context(), strace, "-f", "--seccomp-bpf", "-qq", "-o", trace,
				"-e", "trace="+refused.calls, "-e", fmt.Sprintf("inject=%s:error=%s", refused.calls, refused.errno),
				program, "-test.run=^TestEveryWriteOfOneSession$", "-test.v")
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s", out)
			require.Contains(t, string(out), "--- PASS: TestEveryWriteOfOneSession", "the test ran")
			require.Regexp(t, refused.sign, read(t, trace), "the system refused a call")
		})
	}
}
