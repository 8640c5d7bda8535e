package codex

import (
	"cmp"
	"context"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/format/jsonl"
	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/thread"
)

// Why a file of Codex does not go on from the file that it names.
var (
	errNoBase     = errors.New("it goes on from a file that is not there")
	errBaseEnd    = errors.New("it goes on from a place behind the end of the file before")
	errBaseInside = errors.New("it goes on from a place inside a line of the file before")
	errBaseNumber = errors.New("the place and the ordinal that it goes on from disagree")
	errBaseCircle = errors.New("the files that it goes on from lead back to it")
)

// rollout is a file of Codex.
type rollout struct {
	thread.History
	lineage  thread.Lineage
	from     base
	fileID   string
	base     *rollout // the file that it goes on from, at the offset after; nil: none
	after    int64
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
	found = slices.Clone(found)
	byID := map[string][]*rollout{}
	for _, f := range found {
		f.fileID = fileIDOf(f)
		byID[f.fileID] = append(byID[f.fileID], f)
	}
	needed := map[*rollout]bool{} // others go on from them
	for _, f := range found {
		if f.from.id != "" && f.from.offset > 0 {
			f.base, f.broken = f.findBase(ctx, byID[f.from.id])
			f.after, needed[f.base] = f.from.offset, true
		}
	}
	for _, copies := range byID {
		if len(copies) > 1 {
			left, err := joinCopies(ctx, copies, needed)
			found = slices.DeleteFunc(found, func(f *rollout) bool { return slices.Contains(left, f) })
			failed = errors.Join(failed, err)
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
		add(thread.Segment{Path: at.Path, End: end, Base: -1, Borrowed: true})
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

// joinCopies returns the files with one id that are left out: another one has their items.
// Each of the others that begins the thread begins it anew beside the first of them. A file
// that cannot be read does not exclude the others.
func joinCopies(ctx context.Context, all []*rollout, needed map[*rollout]bool) (left []*rollout, failed error) {
	var says []thread.FileSays
	for _, c := range all {
		said, newest, err := saidIn(ctx, c.Path)
		if err == nil {
			says = append(says, thread.FileSays{Path: c.Path, Says: said, Newest: newest, At: c.Modified, Needed: needed[c]})
		}
		failed = errors.Join(failed, err)
	}
	var first *rollout
	for _, kept := range thread.Distinct(says) {
		c := all[slices.IndexFunc(all, func(c *rollout) bool { return c.Path == kept.Path })]
		all = slices.DeleteFunc(slices.Clone(all), func(other *rollout) bool { return other == c })
		if first = cmp.Or(first, c); c != first && !c.continues() {
			c.base, c.after, c.broken, c.ID = first, 0, nil, first.ID
		}
	}
	if first == nil {
		return all[1:], failed
	}
	return all, failed
}

// saidIn returns hashes of the items of a file, in order, and its newest time. Lines that the
// tool wrote in the user's name do not count: they name directories, which differ between
// copies.
func saidIn(ctx context.Context, path string) (said []uint64, newest time.Time, err error) {
	r, size, leave, err := thread.OpenPlain(ctx, path)
	if err != nil {
		return nil, newest, err
	}
	defer leave()
	for line, err := range thread.LinesOf(ctx, io.NewSectionReader(r, 0, size)) {
		if err != nil {
			return nil, newest, err
		}
		l, err := parse(line.Bytes)
		if err != nil {
			continue // a damaged line says nothing
		}
		if l.at.After(newest) {
			newest = l.at
		}
		if it := l.item(); l.kind == compactKind || l.kind == itemKind && !it.byTool() {
			said = append(said, l.hash())
		}
	}
	slices.Sort(said)
	return said, newest, nil
}

// byTool reports whether the tool wrote a message that is not the model's.
func (it item) byTool() bool {
	return it.kind == "message" && thread.Text(it.get("role")[0]) != "assistant" && !it.said(thread.Text(it.get("role")[0]) == "user").Is(thread.IsPerson)
}

// findBase returns the file that a file goes on from.
func (f *rollout) findBase(ctx context.Context, files []*rollout) (base *rollout, err error) {
	err = errNoBase
	for _, g := range files {
		if g == f {
			err = errBaseCircle
			continue
		}
		if err = g.check(ctx, f.from); err == nil {
			return g, nil
		}
	}
	return nil, err
}

// check reports whether a file has a place that another one may go on from: behind a line
// with the ordinal before.
func (f *rollout) check(ctx context.Context, b base) error {
	r, size, leave, err := thread.OpenPlain(ctx, f.Path)
	if err != nil {
		return errNoBase
	}
	defer leave()
	if b.offset > size {
		return errBaseEnd
	}
	last := make([]byte, 1)
	if n, err := r.ReadAt(last, b.offset-1); n < 1 {
		return errors.Join(errBaseEnd, err)
	}
	if last[0] != '\n' {
		return errBaseInside
	}
	line, err := jsonl.Last(io.NewSectionReader(r, 0, b.offset), b.offset, 1)
	if err != nil {
		return err
	}
	line = pyjson.TrimSpace(line)
	if pyjson.Check(line, pyjson.Tolerant) != nil {
		return nil // a damaged line has no ordinal
	}
	if n, ok := pyjson.Int(thread.Members(line, "ordinal")[0]); ok && n != b.ordinal-1 {
		return errBaseNumber
	}
	return nil
}
