package foreign

import (
	"context"
	"errors"
	"io"
	"iter"
	"slices"
	"sync"
	"time"
)

// recordIndex knows the uuids of the records of some files of Claude Code. It reads them
// when it is asked first.
type recordIndex struct {
	paths   []string
	folders []*recordIndex // of which it knows the records, too

	mu    sync.Mutex
	read  bool
	uuids []uint64 // hashes, in order
}

// has reports whether one of the files has the record with a uuid. A file that cannot be
// read has none.
func (x *recordIndex) has(ctx context.Context, uuid uint64) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.read {
		x.uuids = nil
		for _, path := range x.paths {
			uuids, _, _, _ := claudeRecords(ctx, path)
			x.uuids = append(x.uuids, uuids...)
		}
		slices.Sort(x.uuids)
		x.read = ctx.Err() == nil
	}
	_, found := slices.BinarySearch(x.uuids, uuid)
	return found || slices.ContainsFunc(x.folders, func(f *recordIndex) bool { return f.has(ctx, uuid) })
}

// claudeRecords returns the hashes of the uuids of the records of a file, and those of
// what they say, in order and each once, and the newest time in it.
func claudeRecords(ctx context.Context, path string) (uuids, says []uint64, newest time.Time, err error) {
	r, size, leave, err := openPlain(ctx, path)
	if err != nil {
		return nil, nil, newest, err
	}
	defer leave()
	for l, err := range claudeLines(ctx, r, size) {
		if err != nil {
			return nil, nil, newest, err
		}
		if l.at.After(newest) {
			newest = l.at
		}
		if inChain(l.kind) && l.uuid != "" {
			uuids, says = append(uuids, hash(l.uuid)), append(says, l.says())
		}
	}
	slices.Sort(uuids)
	slices.Sort(says)
	return slices.Compact(uuids), slices.Compact(says), newest, nil
}

// claudeLines yields the lines of a file that are sound.
func claudeLines(ctx context.Context, r io.ReaderAt, size int64) iter.Seq2[claudeLine, error] {
	return func(yield func(claudeLine, error) bool) {
		in := newLineReader(contextReader{ctx, io.NewSectionReader(r, 0, size)})
		for {
			l, err := in.next()
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				yield(claudeLine{}, err)
				return
			}
			if got, err := parseClaude(l.bytes); err == nil && !yield(got, nil) {
				return
			}
		}
	}
}
