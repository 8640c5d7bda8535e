package codex

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

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/thread"
)

// Why a file of Codex does not go on from the file that it names.
var (
	errNoBase     = errors.New("it goes on from a file that is not there")
	errBaseCircle = errors.New("the files that it goes on from lead back to it")
	errBaseEnd    = errors.New("it goes on from a place behind the end of the file before")
	errBaseInside = errors.New("it goes on from a place inside a line of the file before")
	errBaseNumber = errors.New("the place and the ordinal that it goes on from disagree")
)

// rollout is a file of Codex.
type rollout struct {
	thread.History
	lineage  thread.Lineage
	from     base
	fileID   string
	base     *rollout // the file that it goes on from, at the offset after; nil: none
	after    int64
	begin    int64 // of the lines that the file has beside another one with its id
	said     said  // where there are others with its id
	left     bool  // another one with its id has all of it
	segments []thread.Segment
	broken   error // why it does not go on from the file that it names
}

// idIn returns the id that the name of a file ends with, or the name.
func idIn(path string) string {
	name := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(path), thread.PackedSuffix), thread.HistorySuffix)
	if parts := strings.Split(name, "-"); len(parts) > 5 {
		return strings.Join(parts[len(parts)-5:], "-")
	}
	return name
}

// fileIDOf returns the id by which other files name a file: the id of its segment, or else
// of its thread.
func fileIDOf(f *rollout) string {
	name := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(f.Path), thread.PackedSuffix), thread.HistorySuffix)
	if _, segment, found := strings.Cut(name, "-"+f.lineage.ID+"_"); found && segment != "" {
		return segment
	}
	return cmp.Or(f.lineage.ID, idIn(f.Path))
}

// joinThreads makes one history of the files of each thread. A file that does not go on
// from another one is a history of its own, which says why.
func joinThreads(ctx context.Context, found []*rollout) (all []*rollout, failed error) {
	byID := map[string][]*rollout{}
	for _, f := range found {
		f.fileID = fileIDOf(f)
		byID[f.fileID] = append(byID[f.fileID], f)
	}
	for id, copies := range byID {
		if len(copies) > 1 {
			kept, err := joinFound(ctx, copies)
			failed = errors.Join(failed, err)
			for _, c := range copies {
				c.left = !slices.Contains(kept, c)
			}
			byID[id] = slices.Concat(kept, slices.DeleteFunc(copies, func(c *rollout) bool { return !c.left }))
		}
	}
	found = slices.DeleteFunc(slices.Clone(found), func(f *rollout) bool { return f.left })
	for _, f := range found {
		if f.base == nil && f.from.id != "" && f.from.offset > 0 {
			f.base, f.after, f.broken = f.findBase(ctx, byID[f.from.id])
		}
	}
	for _, f := range found {
		if f.inCircle(len(found)) {
			f.broken = errBaseCircle
		}
	}
	later := map[*rollout][]*rollout{} // the segments of the same thread, by the file that they go on from
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
func (f *rollout) continues() bool { return f.base != nil && f.base.ID == f.ID }

// inCircle reports whether the files that it goes on from lead back to it.
func (f *rollout) inCircle(files int) bool {
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
func (f *rollout) join(later map[*rollout][]*rollout) {
	if f.fileID != f.ID { // its beginning is missing: it is no more than that part of the thread
		f.ThreadID, f.ID = f.ID, f.fileID
	}
	index := map[*rollout]int{}
	add := func(s thread.Segment) { f.segments = append(f.segments, s) }
	for at, end := f.base, f.after; at != nil; at, end = at.base, at.after {
		add(thread.Segment{Path: at.Path, Begin: at.begin, End: end, Base: -1, Borrowed: true})
	}
	slices.Reverse(f.segments)
	open := []*rollout{f}
	for len(open) > 0 {
		slices.SortStableFunc(open, func(a, b *rollout) int {
			return cmp.Or(cmp.Compare(filepath.Base(a.Path), filepath.Base(b.Path)), a.Modified.Compare(b.Modified))
		})
		next := open[0]
		s := thread.Segment{Path: next.Path, Begin: next.begin, End: -1, Base: -1}
		if next != f {
			s.Base, s.After = index[next.base], next.after
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

// joinFound drops each of the files with one id whose items another one has. Each file that
// it keeps, but the first, goes on from where it differs from the first.
func joinFound(ctx context.Context, all []*rollout) (kept []*rollout, failed error) {
	var paths []string
	for _, c := range all {
		paths = append(paths, c.Path)
	}
	some, failed := thread.Distinct(paths, func(path string) (_ []uint64, _ time.Time, err error) {
		c := all[slices.Index(paths, path)]
		c.said, err = saidIn(ctx, path)
		return c.said.sorted, c.said.newest, err
	})
	if len(some) == 0 {
		return all[:1], failed
	}
	for _, path := range some {
		kept = append(kept, all[slices.Index(paths, path)])
	}
	first := kept[0]
	for _, c := range kept[1:] {
		c.base, c.ID = first, first.ID
		if n := c.shares(first); n > 0 {
			c.after, c.begin = first.said.items[n-1].end, c.said.items[n-1].end
		}
	}
	return kept, failed
}

// shares counts the items with which both copies begin.
func (f *rollout) shares(o *rollout) (n int) {
	for n < min(len(f.said.items), len(o.said.items)) && f.said.items[n].says == o.said.items[n].says {
		n++
	}
	return n
}

// read returns where a place in the file is read: in one of the kept copies. The first of
// them has the items that all of them begin with.
func (f *rollout) read(after int64, kept []*rollout) (base *rollout, at int64, err error) {
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

// said holds the items of a file of Codex, without the lines that the tool wrote in the
// user's name: these name directories, which differ between copies.
type said struct {
	items  []itemSaid
	sorted []uint64 // hashes
	newest time.Time
}

type itemSaid struct {
	says uint64
	end  int64 // of its line
}

// saidIn returns the items of a file.
func saidIn(ctx context.Context, path string) (said said, err error) {
	for line, err := range thread.LinesIn(ctx, path) {
		if err != nil {
			return said, err
		}
		l, err := parse(line.Bytes)
		if err != nil {
			continue // a damaged line says nothing
		}
		if l.at.After(said.newest) {
			said.newest = l.at
		}
		if it := l.item(); l.kind == compactKind || l.kind == itemKind && !it.byTool() {
			said.items = append(said.items, itemSaid{l.hash(), line.End})
			said.sorted = append(said.sorted, l.hash())
		}
	}
	slices.Sort(said.sorted)
	return said, nil
}

// byTool reports whether the tool wrote a message that is not the model's.
func (it item) byTool() bool {
	return it.kind == "message" && thread.Text(it.get("role")[0]) != "assistant" && !it.said(thread.Text(it.get("role")[0]) == "user").Is(thread.IsPerson)
}

// findBase returns the file that a file goes on from, and where in it.
func (f *rollout) findBase(ctx context.Context, files []*rollout) (base *rollout, after int64, err error) {
	err = errNoBase
	kept := slices.DeleteFunc(slices.Clone(files), func(g *rollout) bool { return g.left })
	for _, g := range files {
		if g == f {
			err = errBaseCircle
			continue
		}
		if err = g.check(ctx, f.from); err == nil {
			return g.read(f.from.offset, kept)
		}
	}
	return nil, 0, err
}

// check reports whether a file has a place that another one may go on from.
func (f *rollout) check(ctx context.Context, b base) error {
	r, size, leave, err := thread.OpenPlain(ctx, f.Path)
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
	if n, ok := pyjson.Int(thread.Members(line, "ordinal")[0]); ok && n != b.ordinal-1 {
		return errBaseNumber
	}
	return nil
}

// lineBefore returns the line that ends before an offset. The error Is errBaseInside
// where none does.
func lineBefore(r io.ReaderAt, end int64) ([]byte, error) {
	for length := int64(thread.Window); ; length *= 2 {
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
		if i < 0 && begin > 0 && length < thread.MaxLine {
			continue
		}
		line, _ = thread.Object(line[i+1:]) // a damaged line has no ordinal
		return line, nil
	}
}
