package archive

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// TestLimits reads archives that are larger than is allowed, and such as are
// exactly as large.
func TestLimits(t *testing.T) {
	t.Parallel()
	from := open(t, nil)
	full(t, from, "s")
	data := packed(t, from, "s")
	entries, bytesIn := 0, int64(0)
	for in := tar.NewReader(bytes.NewReader(data)); ; entries++ {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		bytesIn += h.Size
	}
	row := "{\"role\": \"user\"}\n"
	dir := func(to *sessionstore.Store, o *ReadOptions) error {
		_, err := ReadDir(t.Context(), filepath.Join(from.Dir(), "s"), to, o)
		return err
	}
	stream := func(data []byte) func(*sessionstore.Store, *ReadOptions) error {
		return func(to *sessionstore.Store, o *ReadOptions) error {
			_, err := Read(t.Context(), bytes.NewReader(data), to, o)
			return err
		}
	}
	tests := []struct {
		name string
		opts ReadOptions
		read func(*sessionstore.Store, *ReadOptions) error
		what string // "": it is read
	}{
		{"entries", ReadOptions{MaxEntries: entries - 1}, stream(data), "entries"},
		{"exactly the entries", ReadOptions{MaxEntries: entries}, stream(data), ""},
		{"bytes", ReadOptions{MaxBytes: bytesIn - 1}, stream(data), "bytes"},
		{"exactly the bytes", ReadOptions{MaxBytes: bytesIn}, stream(data), ""},
		{"no limits", ReadOptions{MaxBytes: -1, MaxEntries: -1, MaxSessions: -1}, stream(data), ""},
		{"bytes of a directory", ReadOptions{MaxBytes: bytesIn - 1}, dir, "bytes"},
		{"exactly those of a directory", ReadOptions{MaxBytes: bytesIn}, dir, ""},
		{"bytes of lines", ReadOptions{MaxBytes: int64(2*len(row)) - 1}, stream([]byte(row + row)), "bytes"},
		{"exactly those of lines", ReadOptions{MaxBytes: int64(2 * len(row))}, stream([]byte(row + row)), ""},
		{"zeros that gzip made small", ReadOptions{}, stream(bomb(t)), "bytes"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			to := open(t, nil)
			err := tt.read(to, &tt.opts)
			if tt.what == "" {
				require.NoError(t, err)
				require.Len(t, listed(t, to), 1)
				return
			}
			require.ErrorIs(t, err, ErrLimit)
			require.ErrorContains(t, err, " "+tt.what)
			require.Empty(t, listed(t, to))
		})
	}
}

// TestLimitOfSmallArchives reads archives that gzip made very small: beyond a size they are
// refused, with what to do, unless the caller says how many bytes there may be.
func TestLimitOfSmallArchives(t *testing.T) {
	t.Parallel()
	zip := func(write func(w io.Writer)) []byte {
		var out bytes.Buffer
		z, err := gzip.NewWriterLevel(&out, gzip.BestSpeed)
		require.NoError(t, err)
		write(z)
		require.NoError(t, z.Close())
		return out.Bytes()
	}
	line := func(size int) []byte {
		return []byte(`{"role": "user", "content": "` + strings.Repeat("x", size) + "\"}\n")
	}
	tarred := func(text []byte) []byte {
		return zip(func(w io.Writer) { require.NoError(t, packLines(w, int64(len(text)), bytes.NewReader(text))) })
	}
	lines := func(text []byte) []byte {
		return zip(func(w io.Writer) {
			_, err := w.Write(text)
			require.NoError(t, err)
		})
	}
	many := bytes.Repeat(line(1000), unpackedFreely/1000)
	manyTarred := tarred(many)
	of := make([]byte, 1<<20)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(of) // never fails
	random := fmt.Appendf(nil, `{"role": "user", "content": "%x"}`+"\n", of)
	for name, tt := range map[string]struct {
		data    []byte
		opts    ReadOptions
		refused bool
	}{
		"one line":            {tarred(line(unpackedFreely)), ReadOptions{}, true},
		"many lines":          {manyTarred, ReadOptions{}, true},
		"one line, no tar":    {lines(line(unpackedFreely)), ReadOptions{}, true},
		"many lines, no tar":  {lines(many), ReadOptions{}, true},
		"as many as was said": {manyTarred, ReadOptions{MaxBytes: 2 * unpackedFreely}, false},
		"a little":            {tarred(line(unpackedFreely / 2)), ReadOptions{}, false},
		"what stayed large":   {tarred(bytes.Repeat(random, unpackedFreely/len(random)+1)), ReadOptions{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			to := open(t, nil)
			_, err := Read(t.Context(), bytes.NewReader(tt.data), to, &tt.opts)
			if !tt.refused {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, ErrLimit)
			require.ErrorContains(t, err, "100 times")
			require.ErrorContains(t, err, "gunzip")
			require.Empty(t, listed(t, to))
		})
	}
}

// bomb returns a short archive whose header states more than defaultMaxBytes.
func bomb(t *testing.T) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	w := tar.NewWriter(z)
	require.NoError(t, w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "s/metadata.json", Size: defaultMaxBytes + 1}))
	_, err := w.Write(make([]byte, 1<<16))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	return out.Bytes()
}

// TestDamagedGzip changes each byte of a compressed archive: nothing is made
// of one that differs.
func TestDamagedGzip(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	_, err := z.Write(tarOf(t, tar.TypeReg, "s/metadata.json"))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	st := open(t, nil)
	refused := 0
	for i := 10; i < out.Len(); i++ { // behind the header, which has no checksum
		data := bytes.Clone(out.Bytes())
		data[i] ^= 0x10
		if _, err := Read(t.Context(), bytes.NewReader(data), st, nil); err != nil {
			require.Empty(t, listed(t, st), i)
			refused++
			continue
		}
		text, err := os.ReadFile(filepath.Join(st.Dir(), "s", "metadata.json")) // a bit that means nothing
		require.NoError(t, err)
		require.Equal(t, "s/metadata.json", string(text))
		require.NoError(t, st.Delete(t.Context(), "s"))
	}
	require.Greater(t, refused, out.Len()-15)
}
