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
	mark     int64    // bytes of the byte order mark that somebody put before it
	base     *rollout // the file that it goes on from, at the offset after; nil: none
	after    int64
	segments []thread.Segment
	broken   error // why it does not go on from the file that it names
}

// idIn returns the id that the name of a file ends with, or the name.
func idIn(path string) string {
	name := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(path), thread.PackedSuffix), thread.HistorySuffix)
	if parts := strings.Split(name, "-"); len(parts) > 5 {
		return thread.ID(strings.Join(parts[len(parts)-5:], "-"))
	}
	return name
}

// fileIDOf returns the id by which other files name a file: the id of its segment, or else
// of its thread.
func fileIDOf(f *rollout) string {
	name := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(f.Path), thread.PackedSuffix), thread.HistorySuffix)
	id := "-" + f.lineage.ID + "_"
	if i := strings.Index(strings.ToLower(name), strings.ToLower(id)); i >= 0 && i+len(id) < len(name) {
		return thread.ID(name[i+len(id):])
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
	places := map[string][]base{} // by the file in which others go on from them
	for _, f := range found {
		if f.from.offset > 0 {
			places[f.from.id] = append(places[f.from.id], f.from)
		}
	}
	files := map[string]*rollout{}
	for id, copies := range byID {
		f, err := longest(ctx, copies, places[id])
		files[id], failed = f, errors.Join(failed, err)
	}
	found = slices.DeleteFunc(slices.Clone(found), func(f *rollout) bool { return files[f.fileID] != f })
	for _, f := range found {
		if f.from.id != "" && f.from.offset > 0 {
			if f.base, f.broken = f.findBase(ctx, files[f.from.id]); f.base != nil {
				f.after = f.from.offset + f.base.mark
			}
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

// longest returns the longest of the files with one id that have the places from which other
// files go on, or else of all of them. It names the others.
func longest(ctx context.Context, copies []*rollout, places []base) (*rollout, error) {
	if len(copies) == 1 {
		return copies[0], nil
	}
	var paths, whole []string
	for _, c := range copies {
		paths = append(paths, c.Path)
		if !slices.ContainsFunc(places, func(b base) bool { return c.check(ctx, b) != nil }) {
			whole = append(whole, c.Path)
		}
	}
	path, failed := thread.Longest(ctx, paths)
	if fits, _ := thread.Longest(ctx, whole); fits != "" { // the errors are those of all
		path = fits
	}
	f := copies[max(0, slices.Index(paths, path))] // the first where none can be read
	f.Shorter = slices.DeleteFunc(paths, func(path string) bool { return path == f.Path })
	return f, failed
}

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
		s := thread.Segment{Path: at.Path, End: end, Base: -1, Borrowed: true}
		if at.fileID != at.lineage.ID && at.fileID != f.lineage.Original { // else its session is the parent, or an ancestor
			s.Part = at.fileID
		}
		add(s)
	}
	slices.Reverse(f.segments)
	open := []*rollout{f}
	for len(open) > 0 {
		slices.SortStableFunc(open, func(a, b *rollout) int {
			return cmp.Or(cmp.Compare(filepath.Base(a.Path), filepath.Base(b.Path)), a.Modified.Compare(b.Modified))
		})
		next := open[0]
		s := thread.Segment{Path: next.Path, End: -1, Base: -1}
		if next != f {
			s.Base, s.After, s.Part = index[next.base], next.after, next.fileID
			f.Size += next.Size
			f.Shorter = append(f.Shorter, next.Shorter...)
			if next.Modified.After(f.Modified) {
				f.Modified = next.Modified
			}
		}
		index[next] = len(f.segments)
		add(s)
		open = append(open[1:], later[next]...)
	}
}

// findBase returns the file that a file goes on from, nil where that is not there or does
// not have the place.
func (f *rollout) findBase(ctx context.Context, g *rollout) (base *rollout, err error) {
	switch g {
	case nil:
		return nil, errNoBase
	case f:
		return nil, errBaseCircle
	}
	if err := g.check(ctx, f.from); err != nil {
		return nil, err
	}
	return g, nil
}

// check reports whether a file has a place that another one may go on from.
func (f *rollout) check(ctx context.Context, b base) error {
	r, size, leave, err := thread.OpenPlain(ctx, f.Path)
	if err != nil {
		return errNoBase
	}
	defer leave()
	if b.offset > size-f.mark {
		return errBaseEnd
	}
	line, err := lineBefore(r, b.offset+f.mark)
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
