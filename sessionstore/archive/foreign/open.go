package foreign

import (
	"context"
	"io"
	"io/fs"
	"slices"
	"sort"
)

// isTool reports whether a tool is known.
func isTool(tool Tool) bool { return tool == Claude || tool == Codex }

// formatOf returns how a tool that is known writes. What it returns is for one file.
// elsewhere reports whether another file of the tool has the record with a uuid.
func formatOf(tool Tool, l *layout, elsewhere func(uuid uint64) bool) format {
	if tool == Claude {
		return claudeFormat{l, elsewhere, &copyNames{starts: l.copies}}
	}
	return &codexFormat{layout: *l}
}

// open opens and scans what a tool that is known wrote.
func open(ctx context.Context, src sourceFiles, tool Tool, id string, report *Report) (*history, func(), error) {
	f, size, l, leave, err := openSegments(ctx, src.segments)
	if err != nil {
		return nil, nil, err
	}
	if len(src.segments) == 1 {
		l = src.layout
	}
	elsewhere := func(uuid uint64) bool {
		_, found := slices.BinarySearch(src.layout.elsewhere, uuid)
		return found || src.near != nil && src.near.has(ctx, uuid)
	}
	fm := formatOf(tool, &l, elsewhere)
	told := len(report.Damaged)
	t, err := scan(ctx, f, size, fm, report)
	if err != nil {
		leave()
		return nil, nil, err
	}
	report.Lines += t.linesRead
	for i := range report.Damaged[told:] {
		d := &report.Damaged[told+i]
		*d = src.told(ctx, f, t, d.Line, d.Err)
	}
	file := &frames{ReaderAt: f}
	shut := func() {
		_ = file.leave() // it was only read
		leave()
	}
	h := &history{path: src.segments[0].path, file: file, size: size, format: fm, layout: l, t: t, tool: tool, id: id, report: report}
	h.told = func(line int, err error) LineError { return src.told(ctx, f, t, line, err) }
	return h, shut, nil
}

// told returns what a report tells of a line: with its number in its own file, where
// several are read as one, and with the path of a file that is not that of the history.
func (src sourceFiles) told(ctx context.Context, f io.ReaderAt, t *table, line int, err error) LineError {
	s := src.segments[0]
	if all, several := f.(*joined); several {
		offset := t.records.at(t.recordAt(line - 1)).offset
		i := sort.Search(len(all.starts), func(i int) bool { return all.starts[i] > offset }) - 1
		first := sort.Search(t.records.len(), func(at int) bool { return t.records.at(int32(at)).offset >= all.starts[i] })
		s = src.segments[i]
		line += linesIn(ctx, s.path, s.begin) - int(t.line(int32(first)))
	}
	return LineError{line, inFile(s.path, src.main, err)}
}

// inFile names the file that an error is of, where that is not the file of the history.
func inFile(path, main string, err error) error {
	if main == "" || path == main {
		return err
	}
	return &fs.PathError{Op: "read", Path: path, Err: err}
}

// linesIn counts the lines of the first size bytes of a file, as far as it can be read.
func linesIn(ctx context.Context, path string, size int64) (n int) {
	if size == 0 {
		return 0
	}
	r, _, leave, err := openPlain(ctx, path)
	if err != nil {
		return 0
	}
	defer leave()
	for in := newLineReader(contextReader{ctx, io.NewSectionReader(r, 0, size)}); ; n++ {
		if _, err := in.next(); err != nil {
			return n
		}
	}
}
