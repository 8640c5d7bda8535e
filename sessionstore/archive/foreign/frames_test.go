package foreign

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// counted counts what is read of a file.
type counted struct {
	io.ReaderAt
	n *int64
}

func (c counted) ReadAt(b []byte, offset int64) (int, error) {
	n, err := c.ReaderAt.ReadAt(b, offset)
	*c.n += int64(n)
	return n, err
}

// large is a history of some MiB in a file that grows.
type large struct {
	growing
	lines int
}

func newLarge(t *testing.T, size int) *large {
	t.Helper()
	l := &large{growing: *newGrowing(t)}
	var err error
	l.lines, err = writeLarge(l.path, size)
	require.NoError(t, err)
	return l
}

func (l *large) grow() {
	l.t.Helper()
	require.NoError(l.t, growLarge(l.path, l.lines))
}

// kept returns the three files that an import of the history writes.
func (l *large) kept(st *sessionstore.Store) (files [3]string) {
	l.t.Helper()
	for i, name := range []string{"transcript.jsonl", "import/original.jsonl.zst", "import/map.jsonl"} {
		files[i] = original(l.t, filepath.Join(st.Dir(), uuid5(Claude, "g"), name))
	}
	return files
}

// requireFresh requires that the session is as if the history had been imported once.
func (l *large) requireFresh() {
	l.t.Helper()
	other := newGrowing(l.t)
	other.path = l.path
	require.Equal(l.t, Created, other.run(nil)[0].Action)
	want, got := l.kept(other.st), l.kept(l.st)
	for i := range want {
		require.True(l.t, want[i] == got[i], "file %d", i)
	}
	require.True(l.t, original(l.t, l.path) == unpacked(l.t, l.st, uuid5(Claude, "g")))
}

// TestBytesRead counts how often an import reads the tool's file: a first import twice,
// one of a file that did not change or that grew once, and then twice more what stands
// behind the last whole MiB that was imported before. The test sets what counts, so it
// is not parallel.
func TestBytesRead(t *testing.T) {
	l := newLarge(t, 16)
	plain, n := readerOf, int64(0)
	defer func() { readerOf = plain }()
	readerOf = func(f *os.File) io.ReaderAt {
		if f.Name() != l.path {
			return f
		}
		return counted{f, &n}
	}
	size := func() int64 {
		fi, err := os.Stat(l.path)
		require.NoError(t, err)
		return fi.Size()
	}
	few := int64(2 * window) // for a look at some lines
	require.Equal(t, Created, l.run(nil)[0].Action)
	t.Log("first", n, float64(n)/float64(size()))
	require.Less(t, n, 2*size()+2*few)
	n = 0
	require.Equal(t, Unchanged, l.run(nil)[0].Action)
	t.Log("unchanged", n, float64(n)/float64(size()))
	require.Less(t, n, size()+2*few)
	n = 0
	l.grow()
	require.Equal(t, Updated, l.run(nil)[0].Action)
	t.Log("grown", n, float64(n)/float64(size()))
	require.Less(t, n, size()+3*(size()%frameSize)+2*few)
	l.requireFresh()
}

// TestKeptFrames brings sessions up to date whose original is another one than the
// beginning of the tool's file, is damaged, is not in frames, or is not there.
func TestKeptFrames(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(l *large, kept string){
		"grown": func(*large, string) {},
		"changed": func(l *large, _ string) {
			l.write(string(bytes.Replace([]byte(original(l.t, l.path)), []byte("text text"), []byte("TEXT text"), 1)))
		},
		"changed later": func(l *large, _ string) {
			data := []byte(original(l.t, l.path))
			at := bytes.LastIndex(data[:2*frameSize], []byte("text text"))
			copy(data[at:], "TEXT")
			l.write(string(data))
		},
		"damaged": func(l *large, kept string) {
			data := []byte(original(l.t, kept))
			copy(data[bytes.Index(data, trailerMagic)+trailerSize+20:], "damage") // in the second frame
			require.NoError(l.t, os.WriteFile(kept, data, 0o600))
		},
		"of another form": func(l *large, kept string) {
			require.NoError(l.t, os.WriteFile(kept, []byte("other"), 0o600))
		},
		"cut":  func(l *large, kept string) { require.NoError(l.t, os.Truncate(kept, 1000)) },
		"gone": func(l *large, kept string) { require.NoError(l.t, os.RemoveAll(filepath.Dir(kept))) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLarge(t, 3)
			id := l.run(nil)[0].ID
			change(l, filepath.Join(l.st.Dir(), id, folder, originalFile))
			l.grow()
			require.Equal(t, Updated, l.run(nil)[0].Action)
			l.requireFresh()
		})
	}
}
