package foreign

import (
	"context"
	"slices"
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
	return &history{path: src.segments[0].path, file: file, size: size, format: fm, layout: l, t: t, tool: tool, id: id, report: report}, shut, nil
}
