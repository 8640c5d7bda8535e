package foreign

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"
)

// A session of a tool may stand in several files: Codex begins a new one where a thread
// was reverted, and copies of a file of Claude Code grow apart in two folders. segments
// are such files, or parts of them, in the order in which they are read as one.

// segment is a file, or a part of one.
type segment struct {
	path       string
	begin, end int64 // of the file, in bytes; an end of -1 is that of the file
	base       int   // the segment that it goes on from; -1: the one before
	after      int64 // where in the file of base it goes on
	borrowed   bool  // it is of the session that this one was forked from
}

// fileSet has for the path of a file what it is read together with.
type fileSet map[string]together

// together are the segments that a session is read from, nil for one file alone. broken
// tells why a file is no part of another one's, and title how the tool calls it elsewhere.
type together struct {
	segments []segment
	broken   error
	title    string
}

// whole returns the segments of a file that stands for itself.
func whole(path string) []segment { return []segment{{path: path, end: -1, base: -1}} }

// layout tells what does not follow from the order of the lines. The zero layout is that
// of most files.
type layout struct {
	own       int64    // where the session's own lines begin, behind those that it was forked from
	joins     []join   // in the order of at
	copies    []int64  // where copies of what stands before begin, which went on otherwise
	elsewhere []uint64 // hashes of the uuids of parents that another file has, in order
}

// join says that the line at the offset at follows what stands before the offset from.
type join struct{ at, from int64 }

// isPlain reports whether each line follows the one before.
func (l layout) isPlain() bool { return l.own == 0 && len(l.joins) == 0 }

// lastPart returns where the last part begins that does not follow the one before, 0
// where there is none.
func (l layout) lastPart() (at int64) {
	for _, j := range l.joins {
		at = j.at
	}
	for _, c := range l.copies {
		at = max(at, c)
	}
	return at
}

// header adds the layout to the first line of a map.
func (l layout) header(row []byte) []byte {
	if l.own > 0 {
		row = fmt.Appendf(row, `, "own": %d`, l.own)
	}
	for i, j := range l.joins {
		row = fmt.Appendf(row, `%s[%d, %d]`, choose(i == 0, `, "joins": [`, ", "), j.at, j.from)
	}
	if len(l.joins) > 0 {
		row = append(row, ']')
	}
	for i, at := range l.copies {
		row = fmt.Appendf(row, `%s%d`, choose(i == 0, `, "copies": [`, ", "), at)
	}
	if len(l.copies) > 0 {
		row = append(row, ']')
	}
	for i, uuid := range l.elsewhere {
		row = fmt.Appendf(row, `%s"%016x"`, choose(i == 0, `, "elsewhere": [`, ", "), uuid)
	}
	if len(l.elsewhere) > 0 {
		row = append(row, ']')
	}
	return row
}

func choose(first bool, a, b string) string {
	if first {
		return a
	}
	return b
}

// layoutIn returns the layout that the first line of a map tells.
func layoutIn(row []byte) (l layout) {
	var told struct {
		Own       int64      `json:"own"`
		Joins     [][2]int64 `json:"joins"`
		Copies    []int64    `json:"copies"`
		Elsewhere []string   `json:"elsewhere"`
	}
	if row == nil || json.Unmarshal(row, &told) != nil {
		return l
	}
	l.own, l.copies = told.Own, told.Copies
	for _, j := range told.Joins {
		l.joins = append(l.joins, join{j[0], j[1]})
	}
	for _, s := range told.Elsewhere {
		var uuid uint64
		if _, err := fmt.Sscanf(s, "%x", &uuid); err == nil {
			l.elsewhere = append(l.elsewhere, uuid)
		}
	}
	slices.Sort(l.elsewhere)
	return l
}

// openSegments opens segments for reading what they hold now, as one file.
func openSegments(ctx context.Context, all []segment) (r io.ReaderAt, size int64, l layout, leave func(), err error) {
	if len(all) == 1 && all[0].begin == 0 && all[0].end < 0 {
		r, size, leave, err = openPlain(ctx, all[0].path)
		return r, size, l, leave, err
	}
	var opened []func()
	leave = func() {
		for _, shut := range opened {
			shut()
		}
	}
	defer func() {
		if err != nil {
			leave()
		}
	}()
	out, starts := &joined{}, make([]int64, len(all))
	for i, s := range all {
		f, n, shut, err := openPlain(ctx, s.path)
		if err != nil {
			return nil, 0, l, nil, err
		}
		opened = append(opened, shut)
		if s.end >= 0 {
			n = min(n, s.end)
		}
		begin := min(s.begin, n)
		if err := out.endLine(); err != nil {
			return nil, 0, l, nil, err
		}
		starts[i], out.starts = out.size-begin, append(out.starts, out.size)
		switch {
		case i > 0 && all[i-1].borrowed && !s.borrowed:
			l.own = out.size
		case s.base >= 0:
			if from := starts[s.base] + s.after; from < out.size {
				l.joins = append(l.joins, join{out.size, from})
			}
		case i > 0 && !s.borrowed:
			l.copies = append(l.copies, out.size)
		}
		out.add(io.NewSectionReader(f, begin, n-begin), n-begin)
	}
	return out, out.size, l, leave, nil
}

// joined reads several files as one.
type joined struct {
	parts  []io.ReaderAt
	ends   []int64
	starts []int64 // by segment
	size   int64
}

func (j *joined) add(r io.ReaderAt, size int64) {
	if size > 0 {
		j.size += size
		j.parts, j.ends = append(j.parts, r), append(j.ends, j.size)
	}
}

// endLine ends the last line, which the tool may be writing.
func (j *joined) endLine() error {
	if j.size == 0 {
		return nil
	}
	last := make([]byte, 1)
	if _, err := j.ReadAt(last, j.size-1); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if last[0] != '\n' {
		j.add(lineEnd{}, 1)
	}
	return nil
}

// lineEnd is a file that holds the end of a line.
type lineEnd struct{}

// ReadAt is that of io.ReaderAt.
func (lineEnd) ReadAt(b []byte, offset int64) (int, error) {
	if offset > 0 {
		return 0, io.EOF
	}
	return copy(b, "\n"), nil
}

// ReadAt is that of io.ReaderAt.
func (j *joined) ReadAt(b []byte, offset int64) (n int, err error) {
	i := sort.Search(len(j.ends), func(i int) bool { return j.ends[i] > offset })
	for ; n < len(b) && i < len(j.parts); i++ {
		begin := int64(0)
		if i > 0 {
			begin = j.ends[i-1]
		}
		at := offset + int64(n) - begin
		want := min(int64(len(b)-n), j.ends[i]-begin-at)
		k, err := j.parts[i].ReadAt(b[n:n+int(want)], at)
		n += k
		if int64(k) < want {
			return n, err
		}
	}
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}
