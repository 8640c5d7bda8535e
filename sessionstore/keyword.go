package sessionstore

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"unicode/utf8"

	"github.com/amplifier-go/sessionstorage/internal/jsonl"
	"github.com/amplifier-go/sessionstorage/internal/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
)

// keyword is a text to look for in transcripts, as the reference's session
// finder does: in each row as Python's json module writes it without escaping
// what is beyond ASCII, both in lower case. So names of members and
// punctuation count, and line breaks of a value are escapes.
type keyword struct {
	lower  []byte
	filter filter
	valid  bool // it is UTF-8, as every row is; else none holds it
}

func newKeyword(text string) *keyword {
	lower := appendLower(nil, []byte(text))
	return &keyword{lower, newFilter(string(lower)), utf8.Valid(lower)}
}

// reading is what one goroutine needs to look through files.
type reading struct {
	*keyword
	in         *bufio.Reader
	row, lower []byte
}

// readSize is at least what [jsonl.NewReader] wants, so that it takes the
// reader as it is.
const readSize = 256 << 10

// maxScratch is how much memory is kept for the next line.
const maxScratch = 1 << 20

func (k *keyword) reading() *reading {
	return &reading{keyword: k, in: bufio.NewReaderSize(nil, readSize)}
}

// inSession reports whether a row of the transcript of the session in path,
// which lies in root, holds the keyword. Like
// the reference it passes over lines that are no JSON and does not look into
// the backup, unless a marker tells that the file itself is being written.
// Where no row holds the keyword, bytes that are not UTF-8 are damage.
func (r *reading) inSession(ctx context.Context, root *os.Root, path string) (found bool, err error) {
	name := sessiondir.Transcript
	if _, err := os.Lstat(filepath.Join(path, sessiondir.Marker)); !errors.Is(err, fs.ErrNotExist) {
		name = sessiondir.Backup(name)
	}
	f, err := openIn(root, path, name)
	path = filepath.Join(path, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, &CorruptError{Path: path, Err: cause(err)}
	}
	defer func() { err = also(err, f.Close()) }()
	r.in.Reset(f)
	return r.inLines(ctx, path)
}

func (r *reading) inLines(ctx context.Context, path string) (bool, error) {
	var damage error
	lines := jsonl.NewReader(r.in)
	for {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		line, err := lines.Next()
		if errors.Is(err, io.EOF) {
			return false, damage
		}
		if err != nil {
			return false, &CorruptError{Path: path, Err: cause(err)}
		}
		if r.inLine(line) {
			return true, nil
		}
		if damage == nil && !utf8.Valid(line.Bytes) {
			damage = &CorruptError{Path: path, Line: line.Number, Offset: line.Offset, Err: errNotUTF8}
		}
	}
}

var errNotUTF8 = errors.New("not UTF-8")

func (r *reading) inLine(line jsonl.Line) (found bool) {
	if !r.valid || !r.filter.passes(line.Bytes) {
		return false
	}
	// Lines that cannot be read hold no row.
	_ = parseLine(line, func(_, value []byte) { found = found || r.inRow(value) })
	return found
}

func (r *reading) inRow(value []byte) bool {
	row, err := pyjson.Append(r.row[:0], value, pyjson.Style{})
	if err != nil {
		return false
	}
	row = maskSurrogates(row)
	lower := appendLower(r.lower[:0], row)
	found := bytes.Contains(lower, r.keyword.lower)
	if cap(row) <= maxScratch && cap(lower) <= maxScratch {
		r.row, r.lower = row, lower
	}
	return found
}

// maskSurrogates replaces every lone surrogate, which a row written anew
// holds as an escape, by a byte that is in no keyword. In Python it is one
// character.
func maskSurrogates(row []byte) []byte {
	const escape = len(`\udc00`)
	if !bytes.Contains(row, []byte(`\ud`)) {
		return row
	}
	masked := row[:0]
	for i := 0; i < len(row); i++ {
		switch {
		case row[i] != '\\':
			masked = append(masked, row[i])
		case bytes.HasPrefix(row[i:], []byte(`\ud`)):
			masked = append(masked, 0xff)
			i += escape - 1
		default:
			masked = append(masked, row[i], row[i+1])
			i++
		}
	}
	return masked
}
