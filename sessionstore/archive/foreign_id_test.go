package archive

import (
	"archive/tar"
	"bytes"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// hostile are ids that no session gets from an archive.
var hostile = []string{
	"-rf", "--help", ".git", ".hidden", "an id", "con\nnl", "CON", "nul.txt", "LPT¹", "a.", "a:b", "y;touch pwned;", "$(x)", "*", "~", "=ls", `a\b`,
	"a\x1b]0;x\ab", "a\u202eb", "a\xffb", "\t", strings.Repeat("a", 241),
}

// TestForeignID reads sessions whose ids are no names on every system: each gets a fresh
// id, which its metadata name, and the result tells both.
func TestForeignID(t *testing.T) {
	t.Parallel()
	fresh := regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
	st := open(t, nil)
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	add := func(name, text string) {
		require.NoError(t, w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: int64(len(text)), Mode: 0o600}))
		_, err := w.Write([]byte(text))
		require.NoError(t, err)
	}
	for i, id := range append(hostile, "a-good_one.1") {
		add(id+"/transcript.jsonl", fmt.Sprintf(`{"role": "user", "content": "talk %d"}`+"\n", i))
		add(id+"/metadata.json", `{"session_id": "`+"x"+`", "name": "n"}`)
		add(id+"/notes.txt", "n")
	}
	require.NoError(t, w.Close())
	all, err := Read(t.Context(), &out, st, nil)
	require.NoError(t, err)
	require.Len(t, all, len(hostile)+1)
	for i, res := range all[:len(hostile)] {
		require.Equal(t, hostile[i], res.Was)
		require.Regexp(t, fresh, res.ID)
		s, err := st.Load(t.Context(), res.ID)
		require.NoError(t, err)
		require.Equal(t, res.ID, s.Metadata.Text("session_id"))
		require.Contains(t, string(s.Messages[0].AppendTo(nil)), fmt.Sprintf(`"talk %d"`, i))
		require.Equal(t, 3, res.Files)
	}
	last := all[len(hostile)]
	require.Equal(t, []string{"a-good_one.1", "a-good_one.1"}, []string{last.ID, last.Was})
	require.Len(t, listed(t, st), len(all))
}

// TestForeignIDOfDirectory reads a directory whose name is no id from outside, and one with an id that
// the caller names.
func TestForeignIDOfDirectory(t *testing.T) {
	t.Parallel()
	from, to := open(t, nil), open(t, nil)
	full(t, from, "-rf it's")
	want := files(t, filepath.Join(from.Dir(), "-rf it's"))
	for name, read := range sources(t, from, "-rf it's") {
		res, err := read(to, nil)
		require.NoError(t, err, name)
		require.Equal(t, "-rf it's", res.Was)
		md, err := to.Metadata(t.Context(), res.ID)
		require.NoError(t, err)
		require.Equal(t, res.ID, md.Text("session_id"))
		got := files(t, filepath.Join(to.Dir(), res.ID))
		got["metadata.json"] = want["metadata.json"]
		require.Equal(t, want, got)

		res, err = read(to, &ReadOptions{ID: "-rf by " + name})
		require.NoError(t, err)
		require.Equal(t, []string{"-rf by " + name, "-rf it's"}, []string{res.ID, res.Was})
		_, err = read(to, &ReadOptions{ID: "a/b"})
		require.ErrorIs(t, err, sessionstore.ErrInvalidID)
	}
	require.Len(t, listed(t, to), 6)
}

// TestForeignIDRefused names the former id where an archive is refused.
func TestForeignIDRefused(t *testing.T) {
	t.Parallel()
	st := open(t, nil)
	_, err := readOne(t, tarOf(t, tar.TypeReg, ".git/../../evil"), st, nil)
	require.ErrorIs(t, err, ErrPath)
	require.ErrorContains(t, err, `".git"`)
	require.Empty(t, listed(t, st))
}
