package jsonl

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

func TestLines(t *testing.T) {
	t.Parallel()
	line := func(s string, number int, offset int64, ended bool) Line {
		return Line{Bytes: []byte(s), Number: number, Offset: offset, Ended: ended}
	}
	tests := []struct {
		name, data string
		want       []Line
	}{
		{"empty", "", nil},
		{"one", "a\n", []Line{line("a", 1, 0, true)}},
		{"no last LF", "a\nbc", []Line{line("a", 1, 0, true), line("bc", 2, 2, false)}},
		{"blank lines", "\n\na\n", []Line{line("", 1, 0, true), line("", 2, 1, true), line("a", 3, 2, true)}},
		{"CR is no end", "a\r\nb\rc\n", []Line{line("a\r", 1, 0, true), line("b\rc", 2, 3, true)}},
		{"other separators", "a\u2028b\u0085c\vd\f\n", []Line{line("a\u2028b\u0085c\vd\f", 1, 0, true)}},
		{"NUL and bad UTF-8", "\x00\xff\n\x00", []Line{line("\x00\xff", 1, 0, true), line("\x00", 2, 3, false)}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, slices.Collect(Lines([]byte(tt.data))))
			require.Equal(t, len(tt.want), Count([]byte(tt.data)))
			got, err := readAll(strings.NewReader(tt.data))
			require.NoError(t, err)
			require.Equal(t, tt.want, got)
		})
	}
	for range Lines([]byte("a\nb\n")) {
		break // it may stop early
	}
}

// readAll returns copies of the lines that a Reader of r gives.
func readAll(r io.Reader) (all []Line, err error) {
	lines := NewReader(r)
	for {
		l, err := lines.Next()
		if errors.Is(err, io.EOF) {
			_, again := lines.Next()
			if !errors.Is(again, io.EOF) {
				return all, errors.New("a line after the end")
			}
			return all, nil
		}
		if err != nil {
			return all, err
		}
		l.Bytes = append([]byte{}, l.Bytes...)
		all = append(all, l)
	}
}

// TestReaderAtAnyLength reads lines around the size of the buffer.
func TestReaderAtAnyLength(t *testing.T) {
	t.Parallel()
	for _, size := range []int{bufferSize - 2, bufferSize - 1, bufferSize, bufferSize + 1, 2 * bufferSize, 3*bufferSize + 7, manyBytes, manyBytes + 1, 2*manyBytes + 7} {
		data := []byte("x\n" + strings.Repeat("y", size) + "\nz\n" + strings.Repeat("w", size))
		want := slices.Collect(Lines(data))
		begun := bytes.NewReader(slices.Concat([]byte("before\n"), data))
		_, err := begun.Seek(int64(len("before\n")), io.SeekStart)
		require.NoError(t, err)
		for _, r := range []io.Reader{bytes.NewReader(data), begun, iotest.DataErrReader(bytes.NewReader(data)), iotest.HalfReader(bytes.NewReader(data))} {
			got, err := readAll(r)
			require.NoError(t, err)
			require.True(t, slices.EqualFunc(want, got, equal), size)
		}
	}
}

func equal(a, b Line) bool {
	return bytes.Equal(a.Bytes, b.Bytes) && a.Number == b.Number && a.Offset == b.Offset && a.Ended == b.Ended
}

func TestReaderReportsErrors(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	got, err := readAll(io.MultiReader(strings.NewReader("a\nb"), iotest.ErrReader(broken)))
	require.ErrorIs(t, err, broken)
	require.Len(t, got, 1, "a line that was cut is none")
}

func TestSplitCR(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, line string
		ended      bool
		want       []Line
	}{
		{"none", "ab", true, []Line{{[]byte("ab"), 7, 100, true}}},
		{"none, not ended", "ab", false, []Line{{[]byte("ab"), 7, 100, false}}},
		{"one", "a\rbc", true, []Line{{[]byte("a"), 7, 100, true}, {[]byte("bc"), 7, 102, true}}},
		{"at the end", "a\r", false, []Line{{[]byte("a"), 7, 100, true}, {[]byte(""), 7, 102, false}}},
		{"two", "\r\r", true, []Line{{[]byte(""), 7, 100, true}, {[]byte(""), 7, 101, true}, {[]byte(""), 7, 102, true}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := slices.Collect(SplitCR(Line{[]byte(tt.line), 7, 100, tt.ended}))
			require.True(t, slices.EqualFunc(tt.want, got, equal), got)
		})
	}
}

// TestReadRows reads rows that must begin with "r". Blank ones are no error.
func TestReadRows(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, line string
		want       []string // what is read, in order
		bad        string   // what the error names
	}{
		{"one row", "r1", []string{"r1"}, ""},
		{"one row that holds a carriage return", "r1\rr2", []string{"r1\rr2"}, ""},
		{"refused, not split", "x", nil, "x"},
		{"refused whole", "\rr1", []string{"", "r1"}, ""},
		{"goes on behind a bad part", "x\rr1\ry\rr2", []string{"r1", "r2"}, "x\ny"},
		{"ends with a carriage return", "x\r", []string{""}, "x"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			err := ReadRows(Line{Bytes: []byte(tt.line)}, func(row []byte) error {
				if len(row) > 0 && row[0] != 'r' {
					return errors.New(string(row))
				}
				got = append(got, string(row))
				return nil
			})
			require.Equal(t, tt.want, got)
			if tt.bad == "" {
				require.NoError(t, err)
				return
			}
			require.EqualError(t, err, tt.bad)
		})
	}
}

func FuzzLines(f *testing.F) {
	for _, s := range []string{"", "\n", "a", "a\n", "a\r\nb\rc", "\n\n\r", "{}\n\x00\x00", "\xff\n\u2028"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		lines := slices.Collect(Lines(data))
		got, err := readAll(iotest.OneByteReader(bytes.NewReader(data)))
		if err != nil || !slices.EqualFunc(lines, got, equal) {
			t.Fatalf("Lines and Reader differ: %v, %v and %v", err, lines, got)
		}
		if n := Count(data); n != len(lines) {
			t.Fatalf("Count is %d, not %d", n, len(lines))
		}
		var joined []byte
		for i, l := range lines {
			if l.Number != i+1 || l.Offset != int64(len(joined)) || !l.Ended && i < len(lines)-1 {
				t.Fatalf("line %d: %+v", i, l)
			}
			if bytes.IndexByte(l.Bytes, '\n') >= 0 {
				t.Fatalf("line %d holds an LF", i)
			}
			joined = append(joined, l.Bytes...)
			if l.Ended {
				joined = append(joined, '\n')
			}
			checkSplit(t, l)
		}
		if !bytes.Equal(joined, data) {
			t.Fatalf("joined: %q, not %q", joined, data)
		}
	})
}

// checkSplit requires that the parts of a line are the line.
func checkSplit(t *testing.T, l Line) {
	parts := slices.Collect(SplitCR(l))
	offset := l.Offset
	var all [][]byte
	for i, p := range parts {
		last := i == len(parts)-1
		if p.Offset != offset || p.Number != l.Number || bytes.IndexByte(p.Bytes, '\r') >= 0 || p.Ended != (!last || l.Ended) {
			t.Fatalf("part %d of %q: %+v", i, l.Bytes, p)
		}
		offset += int64(len(p.Bytes)) + 1
		all = append(all, p.Bytes)
	}
	if !bytes.Equal(bytes.Join(all, []byte{'\r'}), l.Bytes) {
		t.Fatalf("parts of %q: %q", l.Bytes, all)
	}
}
