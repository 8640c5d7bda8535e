package sessionstore

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"unicode/utf8"

	"github.com/amplifier-go/sessionstorage/internal/jsonl"
	"github.com/amplifier-go/sessionstorage/internal/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/scan"
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
	in         blocks
	lines      lineReader
	row, lower []byte
}

// maxScratch is how much memory is kept for the next line.
const maxScratch = 1 << 20

func (k *keyword) reading() *reading { return &reading{keyword: k} }

// inSession reports whether a row of the transcript of the session id holds
// the keyword. Like the reference it passes over lines that are no JSON and
// does not look into the backup, unless a marker tells that the file itself is
// being written. Where no row holds the keyword, bytes that are not UTF-8 are
// damage.
func (r *reading) inSession(ctx context.Context, shelf *sessiondir.Shelf, id string) (found bool, err error) {
	name := sessiondir.Transcript
	if shelf.Has(id, sessiondir.Marker) {
		name = sessiondir.Backup(name)
	}
	f, err := shelf.Open(id, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, &CorruptError{Path: shelf.Path(id, name), Err: cause(err)}
	}
	defer func() { err = also(err, f.Close()) }()
	found, damage, err := r.inFile(ctx, f)
	if damage != nil {
		damage.Path = shelf.Path(id, name)
		return false, damage
	}
	return found, err
}

// inFile is inSession for an open file. Damage comes without a path.
func (r *reading) inFile(ctx context.Context, f io.Reader) (found bool, damage *CorruptError, err error) {
	r.in.reset(f)
	for {
		if err := ctx.Err(); err != nil {
			return false, nil, err
		}
		block, err := r.in.next()
		if errors.Is(err, io.EOF) {
			return false, damage, nil
		}
		if err != nil {
			return false, &CorruptError{Err: cause(err)}, nil
		}
		if r.inBlock(block.Bytes) {
			return true, nil, nil
		}
		if damage == nil && !scan.ValidUTF8(block.Bytes) {
			damage = notUTF8(block)
		}
	}
}

// notUTF8 names the first line of a block that is not UTF-8.
func notUTF8(block jsonl.Line) *CorruptError {
	for line := range jsonl.Lines(block.Bytes) {
		if !utf8.Valid(line.Bytes) {
			return &CorruptError{Line: block.Number + line.Number - 1, Offset: block.Offset + line.Offset, Err: errNotUTF8}
		}
	}
	return nil
}

var errNotUTF8 = errors.New("not UTF-8")

// inBlock looks into those lines of a block that the filter lets through.
func (r *reading) inBlock(block []byte) bool {
	if !r.valid {
		return false
	}
	h := r.filter.hunt(block)
	for at := h.next(0); at < len(block); {
		start := bytes.LastIndexByte(block[:at], '\n') + 1
		end := len(block)
		if n := bytes.IndexByte(block[at:], '\n'); n >= 0 {
			end = at + n
		}
		if r.inLine(jsonl.Line{Bytes: block[start:end]}) {
			return true
		}
		at = h.next(end + 1)
	}
	return false
}

func (r *reading) inLine(line jsonl.Line) (found bool) {
	// Lines that cannot be read hold no row.
	_ = r.lines.parse(line, func(m message) { found = found || r.inRow(m.value()) })
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
