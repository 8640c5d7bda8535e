package archive

import (
	"archive/tar"
	"bytes"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// repeated yields a line again and again, up to so many times.
type repeated struct {
	line []byte
	left int
	rest []byte
}

func (r *repeated) Read(b []byte) (int, error) {
	if len(r.rest) == 0 {
		if r.left == 0 {
			return 0, io.EOF
		}
		r.left--
		r.rest = r.line
	}
	n := copy(b, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// masking replaces a word, quickly and in memory of its own.
type masking struct{ line []byte }

func (m *masking) Line(line []byte) []byte {
	before, after, found := bytes.Cut(line, []byte("hunter2"))
	if !found {
		return line
	}
	m.line = append(append(append(m.line[:0], before...), "[redacted]"...), after...)
	return m.line
}

// sum counts bytes and line breaks, and finds a word.
type sum struct {
	bytes  int64
	lines  int
	secret bool
}

func (s *sum) Write(b []byte) (int, error) {
	s.bytes += int64(len(b))
	s.lines += bytes.Count(b, []byte("\n"))
	s.secret = s.secret || bytes.Contains(b, []byte("hunter2"))
	return len(b), nil
}

// carry reads an archive with a transcript of so many lines, and its lines, and
// writes what became of them. It prints the memory that it took from the system.
func carry(dir, argument string) error {
	n, err := strconv.Atoi(argument)
	if err != nil {
		return err
	}
	st, err := sessionstore.Open(dir, &sessionstore.Options{Durability: sessionstore.Relaxed})
	if err != nil {
		return err
	}
	runtime.GOMAXPROCS(1)          // else a collector that waits for a busy processor lets garbage pile up, which is not what is measured
	debug.SetMemoryLimit(20 << 20) // as GOMEMLIMIT does
	err = carryLines(context.Background(), st, n)
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	fmt.Println(m.Sys)
	return errors.Join(err, st.Close())
}

func carryLines(ctx context.Context, st *sessionstore.Store, n int) error {
	line := []byte(`{"role": "user", "content": "` + strings.Repeat("text ", 200) + "hunter2\"}\n")
	size := int64(n) * int64(len(line))
	in, out := io.Pipe()
	go func() { _ = out.CloseWithError(packLines(out, size, &repeated{line: line, left: n})) }()
	res, err := Read(ctx, in, st, nil)
	if err != nil {
		return err
	}
	if res[0].Messages != n || res[0].Bytes != size {
		return fmt.Errorf("read %+v", res[0])
	}
	for _, o := range []WriteOptions{{}, {Redact: &masking{}}, {Format: JSONL}} {
		var s sum
		if err := Write(ctx, &s, st, []string{"s"}, &o); err != nil {
			return err
		}
		if s.lines != n || s.bytes < size || s.secret != (o.Redact == nil) {
			return fmt.Errorf("written %+v", s)
		}
	}
	if err := st.Delete(ctx, "s"); err != nil {
		return err
	}
	res, err = Read(ctx, &repeated{line: line, left: n}, st, nil)
	if err == nil && (res[0].Messages != n || res[0].Bytes != size) {
		err = fmt.Errorf("read lines %+v", res[0])
	}
	return err
}

// packLines writes an archive of a transcript.
func packLines(out io.Writer, size int64, lines io.Reader) error {
	w := tar.NewWriter(out)
	err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "s/transcript.jsonl", Size: size, Mode: 0o600, ModTime: time.Unix(1, 0), Format: tar.FormatPAX})
	if err != nil {
		return err
	}
	if _, err := io.Copy(w, lines); err != nil {
		return err
	}
	return w.Close()
}

var archiveSize = flag.Int("archive", 0, "how many MiB TestMemory carries, as 2048; 0: 400 with TEST_LONG set, else fewer")

// TestMemory carries a large archive in little memory.
func TestMemory(t *testing.T) {
	t.Parallel()
	size := cmp.Or(*archiveSize, testenv.Share(8, 40, 400))
	p := testenv.Spawn(t, "carry", filepath.Join(t.TempDir(), "sessions"), strconv.Itoa(size<<10))
	line, ok := p.Line()
	require.True(t, ok)
	sys, err := strconv.ParseInt(line, 10, 64)
	require.NoError(t, err)
	t.Log(sys>>20, "MiB")
	require.Less(t, sys, int64(32<<20))
}
