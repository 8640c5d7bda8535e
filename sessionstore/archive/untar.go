package archive

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/amplifier-go/sessionstorage/internal/format/limits"
)

const bufferSize = 64 << 10

// gzipMagic begins each gzip stream.
var gzipMagic = []byte{0x1f, 0x8b}

// unzipped returns r, decompressed where gzip compressed it.
func unzipped(r io.Reader, max bounds) (*bufio.Reader, error) {
	packed := &countedReader{in: r}
	in := bufio.NewReaderSize(packed, bufferSize)
	if magic, _ := in.Peek(len(gzipMagic)); !bytes.Equal(magic, gzipMagic) {
		return in, nil
	}
	plain, err := gzip.NewReader(in)
	if err != nil {
		return nil, readError(err)
	}
	return bufio.NewReaderSize(&unpacked{countedReader{in: plain}, packed, max.ratio}, bufferSize), nil
}

// countedReader counts the bytes that are read.
type countedReader struct {
	in io.Reader
	n  int64
}

func (c *countedReader) Read(b []byte) (int, error) {
	n, err := c.in.Read(b)
	c.n += int64(n)
	return n, err
}

// unpackedFreely is how many bytes gzip may unpack whatever it read.
const unpackedFreely = 64 << 20

// unpacked fails when many more bytes are unpacked than were read: an archive of a megabyte
// can hold a gigabyte.
type unpacked struct {
	countedReader
	packed *countedReader
	ratio  int64 // the most bytes for each that was read; negative: any number
}

func (u *unpacked) Read(b []byte) (int, error) {
	n, err := u.countedReader.Read(b)
	if u.ratio >= 0 && u.n > max(unpackedFreely, u.ratio*u.packed.n) {
		return 0, limits.Errorf(ErrLimit, "it unpacks to more than %d times its size; if that is meant, unpack it with gunzip and import what comes out", u.ratio)
	}
	return n, err
}

// isTar reports whether a tar archive begins here.
func isTar(in *bufio.Reader) bool {
	const block, magic = 512, 257
	head, _ := in.Peek(block)
	return len(head) == block && bytes.HasPrefix(head[magic:], []byte("ustar"))
}

// tarball is the source of a tar archive. Each of its entries is below a
// directory that is named as the session is.
type tarball struct {
	in      *tar.Reader
	end     *endChecker
	max     bounds
	entries int
	bytes   int64 // that the headers state
}

func newTarball(in io.Reader, max bounds) *tarball {
	end := &endChecker{in: in}
	return &tarball{in: tar.NewReader(end), end: end, max: max}
}

func (t *tarball) next() (file, error) {
	for {
		h, err := t.header()
		if err != nil {
			return file{}, err
		}
		switch h.Typeflag {
		case tar.TypeDir, tar.TypeXGlobalHeader:
			continue
		case tar.TypeReg:
		default:
			return file{}, readError(entryError(h.Name, ErrNotRegular))
		}
		id, rest, ok := strings.Cut(strings.TrimPrefix(h.Name, "./"), "/")
		if !ok || id == "" || rest == "" {
			return file{}, readError(entryError(h.Name, errNoDirectory))
		}
		if hidden(rest) {
			continue
		}
		return file{id, rest, h.ModTime, t.in, h.PAXRecords[keptRecord] != ""}, nil
	}
}

// errNoDirectory is the error for a name that is absolute or has no directory.
var errNoDirectory = limits.Errorf(ErrPath, "in no directory of a session")

// header returns the header of the next entry, within the limits. At the end it
// checks that the archive is whole; the error is io.EOF then.
func (t *tarball) header() (*tar.Header, error) {
	h, err := t.in.Next()
	if errors.Is(err, io.EOF) {
		err = t.end.check()
	}
	if errors.Is(err, io.EOF) {
		return nil, err
	}
	if err != nil {
		return nil, readError(err)
	}
	if t.entries++; t.max.entries >= 0 && t.entries > t.max.entries {
		return nil, readError(limitError("entries", int64(t.max.entries)))
	}
	if t.max.bytes >= 0 && h.Size > t.max.bytes-t.bytes {
		return nil, readError(limitError("bytes", t.max.bytes))
	}
	t.bytes += h.Size
	return h, nil
}

// endChecker keeps the last bytes that were read. An archive ends in two blocks of
// zeros; a tar.Reader takes one without them for whole, too.
type endChecker struct {
	in   io.Reader
	last []byte
}

const twoBlocks = 1024

func (e *endChecker) Read(b []byte) (int, error) {
	n, err := e.in.Read(b)
	got := b[max(0, n-twoBlocks):n]
	if over := len(e.last) + len(got) - twoBlocks; over > 0 {
		e.last = e.last[:copy(e.last, e.last[over:])]
	}
	e.last = append(e.last, got...)
	return n, err
}

// maxPadding is the largest number of bytes behind the end of an archive.
const maxPadding = 1 << 20

var errGoesOn = errors.New("it goes on behind its end")

// check returns io.EOF when the archive is whole. It reads the padding, and with
// it the checksum of gzip.
func (e *endChecker) check() error {
	if len(e.last) != twoBlocks || len(bytes.Trim(e.last, "\x00")) > 0 {
		return ErrTruncated
	}
	_, err := io.CopyN(io.Discard, e.in, maxPadding)
	if err == nil {
		err = errGoesOn
	}
	return err
}

// hidden reports whether a part of a path begins with a dot: such files belong
// to writers. A part that leads upwards does not count; it is refused later.
func hidden(name string) bool {
	for part := range strings.SplitSeq(path.Clean(name), "/") {
		if strings.HasPrefix(part, ".") && part != ".." {
			return true
		}
	}
	return false
}

// contain returns Markdown that ends where it ends: a fence that is open is
// closed, and outside of code no character begins HTML, which could go on
// behind it. It ends in a line break.
func contain(text string) string {
	var b strings.Builder
	open := "" // the fence that is open
	var paragraph []string
	flush := func() {
		b.WriteString(escapeHTML(strings.Join(paragraph, "\n")))
		if len(paragraph) > 0 {
			b.WriteByte('\n')
		}
		paragraph = paragraph[:0]
	}
	for line := range strings.SplitSeq(strings.TrimRight(clean(text), "\n"), "\n") {
		mark, rest := fenceMark(line)
		switch {
		case open != "":
			b.WriteString(line + "\n")
			if strings.HasPrefix(mark, open) && strings.TrimSpace(rest) == "" {
				open = ""
			}
		case mark != "" && (mark[0] != '`' || !strings.Contains(rest, "`")):
			flush()
			b.WriteString(line + "\n")
			open = mark
		default:
			paragraph = append(paragraph, line)
			if strings.TrimSpace(line) == "" { // an open span of code ends with its paragraph
				flush()
			}
		}
	}
	flush()
	if open != "" {
		b.WriteString(open + "\n")
	}
	return b.String()
}

// fenceMark returns the fence that a line begins with, and the rest of the line. Fences in
// lists and quotations, which end with these, do not count, and neither do fences indented
// by four spaces or more.
func fenceMark(line string) (mark, rest string) {
	text := strings.TrimLeft(line, " ")
	if len(line)-len(text) > 3 || text == "" || text[0] != '`' && text[0] != '~' {
		return "", ""
	}
	rest = strings.TrimLeft(text, text[:1])
	mark = text[:len(text)-len(rest)]
	if len(mark) < 3 {
		return "", ""
	}
	return mark, rest
}

// escapeHTML makes the character that begins HTML text, but for code within
// the paragraph.
func escapeHTML(paragraph string) string {
	var b strings.Builder
	for i := 0; i < len(paragraph); {
		switch c := paragraph[i]; c {
		case '`':
			run := len(paragraph[i:]) - len(strings.TrimLeft(paragraph[i:], "`"))
			n := codeSpan(paragraph[i:], run)
			b.WriteString(paragraph[i : i+n])
			i += n
		case '\\':
			n := min(2, len(paragraph)-i)
			if n == 2 && paragraph[i+1] == '<' { // the next round looks at it
				n = 1
			}
			b.WriteString(paragraph[i : i+n])
			i += n
		case '<':
			if tag(paragraph[i+1:]) {
				b.WriteString("&lt;")
			} else {
				b.WriteByte('<')
			}
			i++
		default:
			b.WriteByte(c)
			i++
		}
	}
	return b.String()
}

// tag reports whether rest, the text behind a <, makes it the beginning of HTML.
func tag(rest string) bool {
	if rest == "" {
		return false
	}
	c := rest[0]
	return c == '/' || c == '!' || c == '?' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// codeSpan returns the length of the code at the beginning of text, which
// begins with so many backticks; when they begin none, that is their number.
func codeSpan(text string, run int) int {
	for i := run; i < len(text); {
		if text[i] != '`' {
			i++
			continue
		}
		n := len(text[i:]) - len(strings.TrimLeft(text[i:], "`"))
		if i += n; n == run {
			return i
		}
	}
	return run
}

// clean returns text with valid UTF-8 and lines that end in LF. It drops the control
// characters that a terminal or a page would obey or drop, and the characters that turn the
// direction of the text behind them.
func clean(text string) string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r == '\r' || r == 0x0b || r == 0x0c || r == 0x85 || r == 0x2028 || r == 0x2029:
			return '\n'
		case r < 0x20, r >= 0x7f && r < 0xa0, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
			return utf8.RuneError
		}
		return r
	}, text)
}
