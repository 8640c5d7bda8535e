package sessionstore

import (
	"bytes"
	"runtime"
	"sync"

	"github.com/amplifier-go/sessionstorage/internal/format/jsonl"
	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
)

// partSize is how much of a transcript is worth a goroutine of its own.
const partSize = 1 << 20

// parseRows returns the messages of f that can be read, and marks f damaged
// by the first line that cannot. Large files are parsed in parts at once.
func (f *file) parseRows() []Message {
	parts := split(f.data, min(runtime.GOMAXPROCS(0), len(f.data)/partSize))
	if len(parts) == 1 {
		parts[0].parse()
		return f.join(parts)
	}
	var wait sync.WaitGroup
	for i := range parts {
		wait.Go(parts[i].parse)
	}
	wait.Wait()
	return f.join(parts)
}

// join returns the rows of all parts, and notes the first damage.
func (f *file) join(parts []part) []Message {
	before := 0 // lines
	for _, p := range parts {
		if p.bad != nil && f.bad == nil {
			p.bad.Path = f.path
			p.bad.Line += before
			f.bad = p.bad
		}
		before += p.lines
	}
	if len(parts) == 1 {
		return parts[0].rows
	}
	size := 0
	for _, p := range parts {
		size += len(p.rows)
	}
	rows := make([]Message, 0, size)
	for _, p := range parts {
		rows = append(rows, p.rows...)
	}
	return rows
}

// part is a run of whole lines of a file.
type part struct {
	data  []byte
	at    int64 // where it begins
	lines int
	rows  []Message
	bad   *CorruptError // of the first line that is none, by its number in the part and without the path
}

// split divides data into about n parts at ends of lines, and into one where n
// is less than two.
func split(data []byte, n int) []part {
	parts := make([]part, 0, max(n, 1))
	at := 0
	for i := n; i > 1; i-- {
		end := at + (len(data)-at)/i
		eol := bytes.IndexByte(data[end:], '\n')
		if eol < 0 {
			break
		}
		end += eol + 1
		parts = append(parts, newPart(data, at, end))
		at = end
	}
	return append(parts, newPart(data, at, len(data)))
}

func newPart(data []byte, at, end int) part {
	return part{data: data[at:end:end], at: int64(at)}
}

// parse reads the lines.
func (p *part) parse() {
	p.lines = jsonl.Count(p.data)
	slab := make([]message, 0, p.lines)
	p.rows = make([]Message, 0, p.lines)
	keep := func(m message) {
		if len(slab) == cap(slab) { // more rows than lines: split at CR
			slab = make([]message, 0, 64)
		}
		slab = append(slab, m)
		p.rows = append(p.rows, Message{&slab[len(slab)-1]})
	}
	var lines lineReader
	for line := range jsonl.Lines(p.data) {
		if err := lines.parse(line, keep); err != nil && p.bad == nil {
			p.bad = &CorruptError{Line: line.Number, Offset: p.at + line.Offset, Err: err}
		}
	}
}

// lineReader reads messages out of lines. The zero lineReader is ready.
type lineReader struct {
	spans []pyjson.Span // memory for those of a row
}

// parse hands the message of a line to keep; a blank line has none. A line that
// does not parse whole but holds carriage returns is split at them, since the
// older tools read it so.
func (r *lineReader) parse(line jsonl.Line, keep func(message)) error {
	return jsonl.ReadRows(line, func(raw []byte) error { return r.row(raw, keep) })
}

// row is parse for what is not split.
func (r *lineReader) row(raw []byte, keep func(message)) error {
	row := pyjson.TrimSpace(raw)
	if len(row) == 0 {
		return nil
	}
	r.spans = r.spans[:0]
	if err := pyjson.CheckSpans(row, pyjson.Tolerant, &r.spans); err != nil {
		return err
	}
	m := message{raw: raw, places: places{read: true}}
	for i := range r.spans {
		m.places.note(row, &r.spans[i], offset(raw, row))
	}
	keep(m)
	return nil
}
