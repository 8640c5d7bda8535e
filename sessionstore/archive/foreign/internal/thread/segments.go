package thread

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"sort"
	"strings"
	"time"
)

// A session of a tool may be in several files: Codex begins a new one where a thread was
// reverted. Segments are such files, or parts of them, in the order in which they are read as
// one.

// Segment is a file, or a part of one.
type Segment struct {
	Path     string
	End      int64  // of the part, in bytes; -1: of the file
	Base     int    // the segment that it goes on from; -1: the one before
	After    int64  // where in the file of base it goes on
	Borrowed bool   // it is of the session that this one was forked from
	Part     string // the id of the file, if it is a history of its own while one before it is missing
}

// FileSet has for the path of a file the segments to read with it.
type FileSet map[string]Together

// Together are the segments that a session is read from, nil for one file alone. Broken is
// the reason why a file is no part of another one's, Title is its name elsewhere in the tool,
// and Origin the path of the file that it may begin with a copy of.
type Together struct {
	Segments []Segment
	Broken   error
	Title    string
	Origin   string
}

// Whole returns the segments of a file that is read alone.
func Whole(path string) []Segment { return []Segment{{Path: path, End: -1, Base: -1}} }

// Layout describes how lines follow each other where their order in the file is not enough.
// Most files have the zero layout.
type Layout struct {
	Own       int64    `json:"own,omitempty"`       // where the session's own lines begin, behind those that it was forked from
	Joins     []Join   `json:"joins,omitempty"`     // in the order of their lines
	Elsewhere []string `json:"elsewhere,omitempty"` // hashes of the uuids of parents that another file has, in order
}

// Join says that the line at the first offset follows the lines before the second one.
type Join [2]int64

// InMap returns a hash as the map of an import has it.
func InMap(hash uint64) string { return fmt.Sprintf("%016x", hash) }

// IsPlain reports whether each line follows the one before.
func (l Layout) IsPlain() bool { return l.Own == 0 && len(l.Joins) == 0 }

// LastPart returns where the last part begins that does not follow the one before, 0
// where there is none.
func (l Layout) LastPart() (at int64) {
	for _, j := range l.Joins {
		at = j[0]
	}
	return at
}

// openSegments opens the current bytes of segments for reading, as one file. main is the file
// of the history.
func openSegments(ctx context.Context, open opener, all []Segment, main string) (r *joined, l Layout, leave func(), err error) {
	var opened []func()
	shutAll := func() {
		for _, shut := range opened {
			shut()
		}
	}
	defer func() {
		if err != nil {
			shutAll()
		}
	}()
	out := &joined{}
	for i, s := range all {
		f, n, shut, err := open(ctx, s.Path)
		if err != nil {
			return nil, l, nil, err
		}
		opened = append(opened, shut)
		if p, ok := f.(*packed); ok && p.torn != nil {
			out.torn = errors.Join(out.torn, inFile(s.Path, main, p.torn))
		}
		if s.End >= 0 {
			n = min(n, s.End)
		}
		if out.size > 0 {
			if err := out.endLine(); err != nil {
				return nil, l, nil, err
			}
		}
		out.starts = append(out.starts, out.size)
		switch {
		case i > 0 && all[i-1].Borrowed && !s.Borrowed:
			l.Own = out.size
		case s.Base >= 0:
			if from := out.starts[s.Base] + s.After; from < out.size {
				l.Joins = append(l.Joins, Join{out.size, from})
			}
		}
		out.add(io.NewSectionReader(f, 0, n), n)
	}
	return out, l, shutAll, nil
}

// opener is the form of [OpenPlain].
type opener = func(ctx context.Context, path string) (r io.ReaderAt, size int64, leave func(), err error)

// joined reads several files as one.
type joined struct {
	parts  []io.ReaderAt
	ends   []int64
	starts []int64 // by segment
	size   int64
	torn   error // names the files that are not whole
}

func (j *joined) add(r io.ReaderAt, size int64) {
	if size > 0 {
		j.size += size
		j.parts, j.ends = append(j.parts, r), append(j.ends, j.size)
	}
}

// endLine ends the last line, which the tool may be writing.
func (j *joined) endLine() error {
	last := make([]byte, 1)
	if _, err := j.ReadAt(last, j.size-1); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if last[0] != '\n' {
		j.add(strings.NewReader("\n"), 1)
	}
	return nil
}

// ReadAt is the method of io.ReaderAt.
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

// History is one session of a tool, as its files say.
type History struct {
	ID       string    // the tool's own id of the session
	Path     string    // of its file
	Dir      string    // working directory that the file names first; "" where its beginning names none
	Folder   string    // name of the tool's folder for the project
	Size     int64     // of the file, in bytes
	Modified time.Time // of the file
	Agents   []string  // paths of the files of its sub-agents, those that began others before these
	Title    string    // that the tool keeps elsewhere
	Parent   string    // the tool's id of the session whose sub-agent wrote the file, where that session has none
	Rows     string    // facts of its rows in a database, which differ where one of them changed; "" for files

	Generated bool                                        // no person gave the title
	GoesOn    []string                                    // the tool's ids of the sessions in which it goes on, as its end says
	Origin    *History                                    // which goes on in this one, as a copy with an id of its own
	Spawned   bool                                        // a sub-agent wrote it, as its beginning says
	Shorter   []string                                    // paths of shorter files of it, or of its sub-agents, in other folders
	InFolder  bool                                        // it has copies elsewhere, so the folder names the project
	ThreadID  string                                      // of the thread of which this is a part: its beginning is missing
	Files     FileSet                                     // the files that are read together
	Near      func(ctx context.Context, uuid uint64) bool `json:"-"` // whether a file of its folder has a record; nil: none is known
	Beside    []string                                    // the files that Near reads
	Summaries map[uint64]string                           // titles that files of its folder have first, see facts
}

// Source returns the segments to read for the file at path.
func (h History) Source(path string) Source {
	of := h.Files[path]
	src := Source{Segments: of.Segments, main: h.Path, broken: of.Broken, origin: of.Origin, near: h.Near}
	if src.Segments == nil {
		src.Segments = Whole(path)
	}
	return src
}

// LeaveOut takes the parts out of a history that are to stay apart, and what goes on from them.
// It returns the ids of the former.
func (h *History) LeaveOut(apart func(part string) bool) (out []string) {
	of := h.Files[h.Path]
	var left []Segment
	index := make([]int, len(of.Segments)) // in left; -1: it is left out
	for i, s := range of.Segments {
		gone := s.Part != "" && apart(s.Part)
		if gone {
			out = append(out, s.Part)
		}
		if gone || s.Base >= 0 && index[s.Base] < 0 || s.Borrowed && i > 0 && index[i-1] < 0 {
			index[i] = -1
			continue
		}
		if s.Base >= 0 {
			s.Base = index[s.Base]
		}
		index[i], left = len(left), append(left, s)
	}
	if len(out) > 0 {
		of.Segments, h.Files = left, maps.Clone(h.Files)
		h.Files[h.Path] = of
	}
	return out
}

// HistorySuffix is the end of the names of the tools' files.
const HistorySuffix = ".jsonl"

// MaxBeginning is the size of the beginning of a file that is read for its first facts, in
// bytes.
const MaxBeginning = 1 << 20

// Longest returns the longest of several files with one id, of files of one length the first
// path. It is "" where no file can be read. The error names the files that cannot be read.
func Longest(ctx context.Context, paths []string) (longest string, failed error) {
	most := int64(-1)
	for _, path := range slices.Sorted(slices.Values(paths)) {
		_, size, leave, err := OpenPlain(ctx, path)
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		leave()
		if size > most {
			longest, most = path, size
		}
	}
	return longest, failed
}

// ContainsAll reports whether all has each of some; both are in order.
func ContainsAll(all, some []uint64) bool {
	for len(some) > 0 {
		i, found := slices.BinarySearch(all, some[0])
		if !found {
			return false
		}
		all, some = all[i+1:], some[1:]
	}
	return true
}

// Source is the input that a session of a tool is read from.
type Source struct {
	Segments []Segment
	main     string                                      // the file of the history; "" if an import kept the files
	broken   error                                       // why they are no part of another conversation
	origin   string                                      // see Together
	Layout   Layout                                      // of a file that an import kept
	near     func(ctx context.Context, uuid uint64) bool // whether a file beside these has a record; nil: none is known
}

// inFile names the file that an error is of, where that is not the file of the history.
func inFile(path, main string, err error) error {
	if main == "" || path == main {
		return err
	}
	return &fs.PathError{Op: "read", Path: path, Err: err}
}
