package archive

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// FuzzRead reads foreign bytes as an archive. What Read says to have made is
// there and nothing else, inside of the sessions directory and of its limits;
// and a sound session comes out of an archive of its own as it went in.
func FuzzRead(f *testing.F) {
	for _, seed := range foreignArchives(f) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		top := t.TempDir()
		st, err := sessionstore.Open(filepath.Join(top, "p", "sessions"), &sessionstore.Options{Durability: sessionstore.Relaxed})
		require.NoError(t, err)
		defer func() { require.NoError(t, st.Close()) }()
		const limit = 1 << 20
		made, err := Read(t.Context(), bytes.NewReader(data), st, &ReadOptions{MaxEntries: 50, MaxBytes: limit})
		if err != nil {
			require.NotContains(t, err.Error(), "panic")
		}
		infos, lerr := st.List(t.Context(), nil)
		require.NoError(t, lerr)
		require.Len(t, infos, len(made), "made without a word, or told and not made")
		require.Equal(t, []string{"p"}, names(t, top))
		require.Equal(t, []string{"sessions"}, names(t, filepath.Join(top, "p")))
		total := int64(0)
		for _, one := range made {
			require.True(t, st.Exists(one.ID))
			total += one.Bytes
			if one.Damage == nil {
				again(t, st, one.ID)
			}
		}
		require.LessOrEqual(t, total, int64(limit))
	})
}

// again carries a session to another store and compares its files.
func again(t *testing.T, st *sessionstore.Store, id string) {
	t.Helper()
	other, err := sessionstore.Open(filepath.Join(t.TempDir(), "sessions"), &sessionstore.Options{Durability: sessionstore.Relaxed})
	require.NoError(t, err)
	defer func() { require.NoError(t, other.Close()) }()
	var packed bytes.Buffer
	require.NoError(t, Write(t.Context(), &packed, st, []string{id}, nil))
	made, err := Read(t.Context(), &packed, other, nil)
	require.NoError(t, err)
	require.Len(t, made, 1)
	require.Equal(t, files(t, filepath.Join(st.Dir(), id)), files(t, filepath.Join(other.Dir(), id)))
}

func names(t *testing.T, dir string) (all []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

// foreignArchives are archives of sound sessions and of others.
func foreignArchives(f *testing.F) (all [][]byte) {
	pack := func(headers ...tar.Header) []byte {
		var packed bytes.Buffer
		w := tar.NewWriter(&packed)
		for _, h := range headers {
			text := h.Linkname
			if h.Typeflag == tar.TypeReg {
				h.Size, h.Linkname = int64(len(text)), ""
			}
			h.Mode, h.ModTime = 0o600, time.Unix(1, 0)
			require.NoError(f, w.WriteHeader(&h))
			if h.Typeflag == tar.TypeReg {
				_, err := w.Write([]byte(text))
				require.NoError(f, err)
			}
		}
		require.NoError(f, w.Close())
		return packed.Bytes()
	}
	file := func(name, text string) tar.Header {
		return tar.Header{Typeflag: tar.TypeReg, Name: name, Linkname: text}
	}
	row, md := "{\"role\": \"user\", \"content\": \"hello\"}\n", `{"session_id": "s", "name": "n"}`
	sound := pack(file("s/metadata.json", md), file("s/transcript.jsonl", row+row), file("s/events.jsonl", "{}\n"), file("s/a/b.txt", ""))
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, err := z.Write(sound)
	require.NoError(f, err)
	require.NoError(f, z.Close())
	return [][]byte{
		nil, []byte(row), []byte(row + `{"role": "assist`), []byte("[1]\n"), sound, zipped.Bytes(), sound[:700],
		pack(file("s/metadata.json", md), file("t/transcript.jsonl", row), file("s/transcript.jsonl", row)),
		pack(file("s/transcript.jsonl", "torn {"), file("s/transcript.jsonl.backup", row)),
		pack(file("../s/transcript.jsonl", row)), pack(file("/s/transcript.jsonl", row)), pack(file("s/../../t/metadata.json", md)),
		pack(tar.Header{Typeflag: tar.TypeSymlink, Name: "s/transcript.jsonl", Linkname: "/etc/passwd"}),
		pack(tar.Header{Typeflag: tar.TypeLink, Name: "s/x", Linkname: "../../x"}),
		pack(tar.Header{Typeflag: tar.TypeDir, Name: "s/"}, file("s/metadata.json", "[]"), file("s/transcript.jsonl", "")),
		pack(file("s/.hidden", "x"), file("s/transcript.jsonl", row)),
	}
}
