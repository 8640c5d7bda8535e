package foreign

import (
	"context"
	"io"
	"os"
	"strings"
)

// formatOf returns how a tool writes, nil for a tool that is not known. What it
// returns is for one file.
func formatOf(tool Tool) format {
	switch tool {
	case Claude:
		return claudeFormat{}
	case Codex:
		return &codexFormat{}
	}
	return nil
}

// open opens and scans a file of a tool that is known.
func open(ctx context.Context, path string, tool Tool, id string, report *Report) (*history, func(), error) {
	f, size, leave, err := openPlain(ctx, path)
	if err != nil {
		return nil, nil, err
	}
	fm := formatOf(tool)
	t, err := scan(ctx, f, size, fm, report)
	if err != nil {
		leave()
		return nil, nil, err
	}
	report.Lines += t.linesRead
	file := &frames{ReaderAt: f}
	shut := func() {
		_ = file.leave() // it was only read
		leave()
	}
	return &history{path: path, file: file, size: size, format: fm, t: t, tool: tool, id: id, report: report}, shut, nil
}

// openPlain opens a file, also a compressed one, for reading what it holds now.
func openPlain(ctx context.Context, path string) (r io.ReaderAt, size int64, leave func(), err error) {
	f, fi, err := openRegular(path)
	if err != nil {
		return nil, 0, nil, err
	}
	shut := func() { _ = f.Close() } // it was only read
	if strings.HasSuffix(path, packedSuffix) {
		p, err := newPacked(ctx, f)
		if err != nil {
			shut()
			return nil, 0, nil, err
		}
		return p, p.size, func() { p.close(); shut() }, nil
	}
	return readerOf(f), fi.Size(), shut, nil
}

// readerOf returns what reads a file that is open. A test counts there.
var readerOf = func(f *os.File) io.ReaderAt { return f }
