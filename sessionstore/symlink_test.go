package sessionstore_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// outside makes a sessions directory, and beside it a session that no call
// may touch.
func outside(t *testing.T) (dir, victim string, unchanged func()) {
	t.Helper()
	testenv.Need(t, runtime.GOOS != "windows", "symlinks need a privilege on Windows")
	base := t.TempDir()
	dir, victim = filepath.Join(base, "sessions"), filepath.Join(base, "victim")
	write(t, user("outside")+"\n", victim, transcriptFile)
	write(t, `{"session_id": "victim"}`, victim, metadataFile)
	require.NoError(t, os.Mkdir(dir, 0o700))
	before := tree(t, victim)
	return dir, victim, func() {
		t.Helper()
		require.Equal(t, before, tree(t, victim))
	}
}

func TestSymlinkedSessionLeadsOutside(t *testing.T) {
	t.Parallel()
	for _, absolute := range []bool{true, false} {
		dir, victim, unchanged := outside(t)
		to := victim
		if !absolute {
			to = filepath.Join("..", "victim")
		}
		symlink(t, to, dir, "s")
		st := open(t, dir, nil)
		for _, call := range calls {
			require.ErrorContains(t, call.do(t.Context(), st, "s"), "a symlink that leads out of the sessions directory", call.name)
			unchanged()
		}
		n, err := st.Cleanup(t.Context(), 0)
		require.NoError(t, err)
		require.Zero(t, n)
		unchanged()
		fi, err := os.Lstat(filepath.Join(dir, "s"))
		require.NoError(t, err)
		require.NotZero(t, fi.Mode()&os.ModeSymlink, "the link stays too")
	}
}

func TestSymlinkedFilesLeadOutside(t *testing.T) {
	t.Parallel()
	for _, name := range []string{transcriptFile, transcriptBackup, metadataFile, metadataBackup} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, victim, unchanged := outside(t)
			write(t, user("inside")+"\n", dir, "s", transcriptFile)
			write(t, `{"session_id": "s"}`, dir, "s", metadataFile)
			path := filepath.Join(dir, "s", name)
			require.NoError(t, os.RemoveAll(path))
			target := filepath.Join(victim, transcriptFile)
			if name == metadataFile || name == metadataBackup {
				target = filepath.Join(victim, metadataFile)
			}
			symlink(t, target, path)

			st := open(t, dir, nil)
			s, _ := st.Load(t.Context(), "s")
			require.NotNil(t, s)
			require.NotContains(t, lines(s.Messages), user("outside"))
			require.NotEqual(t, "victim", s.Metadata.Text("session_id"))

			for i := range 3 {
				err := st.Save(t.Context(), "s", append(s.Messages, parse(t, user("new"))...), metadata(t, `{"n": 1}`))
				require.NoError(t, err, i)
				unchanged()
			}
			fi, err := os.Lstat(filepath.Join(dir, "s", transcriptFile))
			require.NoError(t, err)
			require.True(t, fi.Mode().IsRegular())
			s, err = st.Load(t.Context(), "s")
			require.NoError(t, err)
			require.Contains(t, lines(s.Messages), user("new"))
		})
	}
}

// TestSymlinkInsideIsReplaced shows that a file that is a symlink is read
// where it leads inside, and replaced by a file, as the reference does.
func TestSymlinkInsideIsReplaced(t *testing.T) {
	t.Parallel()
	testenv.Need(t, runtime.GOOS != "windows", "symlinks need a privilege on Windows")
	dir := t.TempDir()
	write(t, user("one")+"\n", dir, "s", "elsewhere.jsonl")
	symlink(t, "elsewhere.jsonl", dir, "s", transcriptFile)
	st := open(t, dir, nil)
	s, err := st.Load(t.Context(), "s")
	require.NoError(t, err)
	require.Equal(t, []string{user("one")}, lines(s.Messages))
	require.NoError(t, st.Save(t.Context(), "s", append(s.Messages, parse(t, user("two"))...), sessionstore.Metadata{}))
	files := tree(t, filepath.Join(dir, "s"))
	require.Equal(t, user("one")+"\n"+user("two")+"\n", files[transcriptFile])
	require.Equal(t, user("one")+"\n", files["elsewhere.jsonl"])
	require.Equal(t, user("one")+"\n", files[transcriptBackup])
}

func TestDeleteKeepsWhatSymlinksLeadTo(t *testing.T) {
	t.Parallel()
	dir, victim, unchanged := outside(t)
	write(t, user("inside")+"\n", dir, "s", transcriptFile)
	symlink(t, victim, dir, "s", "files")
	st := open(t, dir, nil)
	require.NoError(t, st.Delete(t.Context(), "s"))
	require.NoDirExists(t, filepath.Join(dir, "s"))
	unchanged()
}

func TestBookkeepingIsASymlink(t *testing.T) {
	t.Parallel()
	dir, victim, unchanged := outside(t)
	write(t, user("inside")+"\n", dir, "s", transcriptFile)
	symlink(t, victim, dir, ".sessionstore")
	st := open(t, dir, nil)
	require.Error(t, st.Delete(t.Context(), "s"))
	require.Error(t, st.Save(t.Context(), "new", parse(t, user("hi")), sessionstore.Metadata{}))
	unchanged()
	require.NoError(t, st.Save(t.Context(), "s", parse(t, user("inside"), user("more")), sessionstore.Metadata{}))
	unchanged()
}
