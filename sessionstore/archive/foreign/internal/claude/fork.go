package claude

import (
	"context"
	"slices"
	"time"

	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/thread"
)

// Claude Code makes a fork by writing the records of the conversation into a file of its
// own. The records keep their uuids and times, and none of them names the origin.

// forks lets those of the histories of a folder that may be forks find their origin.
func forks(all []thread.History) {
	begun := map[uint64]int{}
	for _, h := range all {
		begun[h.First]++
	}
	for i := range all {
		if h := all[i]; h.Parent == "" && h.First != 0 && (begun[h.First] > 1 || h.Compacted) {
			all[i].Forked = func(ctx context.Context) *thread.History { return origin(ctx, h, all) }
		}
	}
}

// origin returns the session that a session is a fork of, nil where the files do not prove
// it. all are the histories of the same folder.
func origin(ctx context.Context, h thread.History, all []thread.History) *thread.History {
	fork, err := written(ctx, h.Path)
	if err != nil || len(fork.records) == 0 {
		return nil
	}
	var found *writing
	most := 0
	for i := range all {
		if all[i].ID == h.ID || all[i].Parent != "" || all[i].First != h.First && !h.Compacted {
			continue
		}
		other, err := written(ctx, all[i].Path)
		if err != nil {
			continue // a file that cannot be read proves nothing
		}
		n := fork.copied(other)
		if n == 0 || n < most || n == most && !other.began.Before(found.began) {
			continue
		}
		found, most = other, n
	}
	if found == nil {
		return nil
	}
	i := slices.IndexFunc(all, func(o thread.History) bool { return o.Path == found.path })
	return &all[i]
}

// writing describes the order in which the records of a file were written.
type writing struct {
	path    string
	began   time.Time // the newest time ahead of the first record
	records []uint64  // hashes, see says
	times   []time.Time
	lines   []int // of the records
}

// written reads the records of a file that are not of sub-agents.
func written(ctx context.Context, path string) (*writing, error) {
	w, n := &writing{path: path}, 0
	for l, err := range sound(thread.LinesIn(ctx, path)) {
		if err != nil {
			return nil, err
		}
		switch n++; {
		case inChain(l.kind) && l.uuid != "" && !l.sidechain:
			w.records, w.times, w.lines = append(w.records, l.says()), append(w.times, l.at), append(w.lines, n)
		case len(w.records) == 0 && l.at.After(w.began):
			w.began = l.at
		}
	}
	return w, nil
}

// copied returns how many records of another file a file begins with as a fork of it, 0
// where the files do not prove that it is one. The fork began after the copied records, or
// only the fork has them one behind the other: the tool writes other lines between the
// records of a session that goes on. Where neither file shows that, the origin has nothing
// else.
func (w *writing) copied(o *writing) (n int) {
	theirs := slices.Clone(o.records)
	slices.Sort(theirs)
	has := func(uuid uint64) bool { _, found := slices.BinarySearch(theirs, uuid); return found }
	for n < len(w.records) && has(w.records[n]) {
		n++
	}
	if n == 0 || slices.ContainsFunc(w.records[n:], has) {
		return 0
	}
	ours := slices.Clone(w.records[:n])
	slices.Sort(ours)
	first, last, shared := -1, 0, 0
	for i, uuid := range o.records {
		if _, found := slices.BinarySearch(ours, uuid); found {
			if shared++; first < 0 {
				first = i
			}
			last = i
		}
	}
	newest := slices.MaxFunc(w.times[:n], time.Time.Compare)
	atOnce := func(w *writing, from, to int) bool { return w.lines[to]-w.lines[from] == to-from }
	later, otherLater := w.began.After(newest), o.began.After(newest)
	dense, otherDense := atOnce(w, 0, n-1), atOnce(o, first, last)
	isFork := shared == len(o.records) && n < len(w.records)
	switch {
	case later != otherLater:
		isFork = later
	case dense != otherDense:
		isFork = dense
	}
	if !isFork {
		return 0
	}
	return n
}
