package foreign

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/pyjson"
)

// Why a file of Codex does not go on from the file that it names.
var (
	errNoBase     = errors.New("it goes on from a file that is not there")
	errBaseCircle = errors.New("the files that it goes on from lead back to it")
	errBaseEnd    = errors.New("it goes on from a place behind the end of the file before")
	errBaseInside = errors.New("it goes on from a place inside a line of the file before")
	errBaseNumber = errors.New("the place and the ordinal that it goes on from disagree")
)

// codexFound is a file of Codex.
type codexFound struct {
	History
	thread   thread
	fileID   string
	base     *codexFound // the file that it goes on from, at the offset after; nil: none
	after    int64
	copied   bool      // it is a copy of base
	begin    int64     // of what the file has beside another one with its id
	said     codexSaid // where there are others with its id
	segments []segment
	broken   error // why it does not go on from the file that it names
}

// codexID returns the id that the name of a file ends with, or the name.
func codexID(path string) string {
	name := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(path), packedSuffix), historySuffix)
	if parts := strings.Split(name, "-"); len(parts) > 5 {
		return strings.Join(parts[len(parts)-5:], "-")
	}
	return name
}

// codexFileID returns the id by which other files name a file: that of its segment, or
// else of its thread.
func codexFileID(f *codexFound) string {
	name := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(f.Path), packedSuffix), historySuffix)
	if _, segment, found := strings.Cut(name, "-"+f.thread.id+"_"); found && segment != "" {
		return segment
	}
	return firstOf(f.thread.id, codexID(f.Path))
}

// joinThreads makes one history of the files of each thread. A file that does not go on
// from another one is a history of its own, which tells why.
func joinThreads(ctx context.Context, found []*codexFound) (all []*codexFound, failed error) {
	byID := map[string][]*codexFound{}
	for _, f := range found {
		f.fileID = codexFileID(f)
		byID[f.fileID] = append(byID[f.fileID], f)
	}
	left := map[*codexFound]bool{}
	for id, copies := range byID {
		if len(copies) > 1 {
			kept, err := joinFound(ctx, copies)
			failed = errors.Join(failed, err)
			for _, c := range copies {
				left[c] = !slices.Contains(kept, c)
			}
			byID[id] = slices.Concat(kept, slices.DeleteFunc(copies, func(c *codexFound) bool { return !left[c] }))
		}
	}
	found = slices.DeleteFunc(slices.Clone(found), func(f *codexFound) bool { return left[f] })
	for _, f := range found {
		if f.base == nil && f.thread.base.id != "" && f.thread.base.offset > 0 {
			f.base, f.after, f.broken = f.findBase(ctx, byID[f.thread.base.id], left)
		}
	}
	for _, f := range found {
		if f.copied && f.after == 0 && f.base.continues() { // it has nothing of the other copy, but begins where that does
			f.base, f.after = f.base.base, f.base.after
		}
	}
	for _, f := range found {
		if f.inCircle(len(found)) {
			f.broken = errBaseCircle
		}
	}
	later := map[*codexFound][]*codexFound{} // the segments of the same thread, by what they go on from
	for _, f := range found {
		if f.broken != nil {
			f.base = nil
		}
		if f.continues() {
			later[f.base] = append(later[f.base], f)
			continue
		}
		all = append(all, f)
	}
	for _, f := range all {
		f.join(later)
	}
	return all, failed
}

// continues reports whether the file goes on from another one of its own thread.
func (f *codexFound) continues() bool { return f.base != nil && f.base.ID == f.ID }

// inCircle reports whether the files that it goes on from lead back to it.
func (f *codexFound) inCircle(files int) bool {
	at := f.base
	for n := 0; at != nil && n <= files; n++ {
		if at == f {
			return true
		}
		at = at.base
	}
	return false
}

// join makes the history of a thread of the file that it begins with.
func (f *codexFound) join(later map[*codexFound][]*codexFound) {
	if f.fileID != f.ID { // its beginning is missing: it is no more than that part of the thread
		f.threadID, f.ID = f.ID, f.fileID
	}
	index := map[*codexFound]int{}
	add := func(s segment) { f.segments = append(f.segments, s) }
	for at, end := f.base, f.after; at != nil; at, end = at.base, at.after {
		add(segment{path: at.Path, begin: at.begin, end: end, base: -1, borrowed: true})
	}
	slices.Reverse(f.segments)
	open := []*codexFound{f}
	for len(open) > 0 {
		slices.SortStableFunc(open, func(a, b *codexFound) int {
			return cmp.Or(cmp.Compare(filepath.Base(a.Path), filepath.Base(b.Path)), a.Modified.Compare(b.Modified))
		})
		next := open[0]
		s := segment{path: next.Path, begin: next.begin, end: -1, base: -1}
		if next != f {
			s.base, s.after = index[next.base], next.after
			f.Size += next.Size
			if next.Modified.After(f.Modified) {
				f.Modified = next.Modified
			}
		}
		index[next] = len(f.segments)
		add(s)
		open = append(open[1:], later[next]...)
	}
}

// joinFound keeps of the files with one id those of which no other one has all. Each of
// them but the first goes on from where it differs from that. One that cannot be read
// keeps no other one out.
func joinFound(ctx context.Context, all []*codexFound) (kept []*codexFound, failed error) {
	var copies []*codexFound
	for _, c := range all {
		said, err := codexSays(ctx, c.Path)
		if c.said = said; err == nil {
			copies = append(copies, c)
		}
		failed = errors.Join(failed, err)
	}
	if len(copies) == 0 {
		return all[:1], failed
	}
	kept = distinct(copies, func(c *codexFound) fileSays { return fileSays{c.Path, c.said.sorted, c.said.newest, c.Modified} })
	first := kept[0]
	for _, c := range kept[1:] {
		c.base, c.ID, c.copied = first, first.ID, true
		if n := c.shares(first); n > 0 {
			c.after, c.begin = first.said.items[n-1].end, c.said.items[n-1].end
		}
	}
	return kept, failed
}

// shares counts the items with which both copies begin.
func (f *codexFound) shares(o *codexFound) (n int) {
	for n < min(len(f.said.items), len(o.said.items)) && f.said.items[n].says == o.said.items[n].says {
		n++
	}
	return n
}

// read returns where a place in the file is read: in one of the copies that were kept,
// of which the first has what all of them begin with.
func (f *codexFound) read(after int64, kept []*codexFound) (base *codexFound, at int64, err error) {
	if slices.Contains(kept, f) && (f == kept[0] || after > f.begin) {
		return f, after, nil
	}
	n := 0
	for n < len(f.said.items) && f.said.items[n].end <= after {
		n++
	}
	for _, c := range kept {
		if c.shares(f) >= n && (n == 0 || c == kept[0] || c.said.items[n-1].end > c.begin) {
			if n > 0 {
				at = c.said.items[n-1].end
			}
			return c, at, nil
		}
	}
	return nil, 0, errNoBase
}

// codexSaid is what a file of Codex says, without what the tool wrote in the user's name:
// that names directories, which differ between copies.
type codexSaid struct {
	items  []codexLineSaid
	sorted []uint64 // hashes
	newest time.Time
}

type codexLineSaid struct {
	says uint64
	end  int64 // of its line
}

// codexSays returns what a file says.
func codexSays(ctx context.Context, path string) (said codexSaid, err error) {
	r, size, leave, err := openPlain(ctx, path)
	if err != nil {
		return said, err
	}
	defer leave()
	in := newLineReader(contextReader{ctx, io.NewSectionReader(r, 0, size)})
	for {
		line, err := in.next()
		if errors.Is(err, io.EOF) {
			slices.Sort(said.sorted)
			return said, nil
		}
		if err != nil {
			return said, err
		}
		l, err := parseCodex(line.bytes)
		if err != nil {
			continue // a damaged line says nothing
		}
		if l.at.After(said.newest) {
			said.newest = l.at
		}
		if it := l.item(); l.kind == codexCompact || l.kind == codexItemKind && !it.byTool() {
			said.items = append(said.items, codexLineSaid{l.hash(), in.offset})
			said.sorted = append(said.sorted, l.hash())
		}
	}
}

// byTool reports whether the tool wrote a message that is not the model's.
func (it codexItem) byTool() bool {
	return it.kind == "message" && text(it.get("role")[0]) != "assistant" && !it.said(text(it.get("role")[0]) == "user").is(isPerson)
}

// findBase returns the file that a file goes on from, and where in it.
func (f *codexFound) findBase(ctx context.Context, files []*codexFound, left map[*codexFound]bool) (base *codexFound, after int64, err error) {
	err = errNoBase
	kept := slices.DeleteFunc(slices.Clone(files), func(g *codexFound) bool { return left[g] })
	for _, g := range files {
		if g == f {
			err = errBaseCircle
			continue
		}
		if err = g.check(ctx, f.thread.base); err == nil {
			return g.read(f.thread.base.offset, kept)
		}
	}
	return nil, 0, err
}

// check reports whether a file has a place that another one may go on from.
func (f *codexFound) check(ctx context.Context, b codexBase) error {
	r, size, leave, err := openPlain(ctx, f.Path)
	if err != nil {
		return errNoBase
	}
	defer leave()
	if b.offset > size {
		return errBaseEnd
	}
	line, err := lineBefore(r, b.offset)
	if err != nil {
		return err
	}
	if n, ok := pyjson.Int(members(line, "ordinal")[0]); ok && n != b.ordinal-1 {
		return errBaseNumber
	}
	return nil
}

// lineBefore returns the line that ends before an offset. The error Is errBaseInside
// where none does.
func lineBefore(r io.ReaderAt, end int64) ([]byte, error) {
	for length := int64(window); ; length *= 2 {
		begin := max(0, end-length)
		buf := make([]byte, end-begin)
		if n, err := r.ReadAt(buf, begin); n < len(buf) {
			return nil, errors.Join(errBaseEnd, err)
		}
		if len(buf) == 0 || buf[len(buf)-1] != '\n' {
			return nil, errBaseInside
		}
		line := buf[:len(buf)-1]
		i := bytes.LastIndexByte(line, '\n')
		if i < 0 && begin > 0 && length < maxLine {
			continue
		}
		if line = pyjson.TrimSpace(line[i+1:]); pyjson.Check(line, pyjson.Tolerant) != nil {
			return nil, nil // a damaged line has no ordinal
		}
		return line, nil
	}
}
