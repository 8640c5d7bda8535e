package archive

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
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
