package sessionstore

import (
	"bytes"
	"runtime"
	"slices"
	"sync"

	"github.com/amplifier-go/sessionstorage/internal/format/jsonl"
	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
)

// chunkSize is the size of a part of a transcript that is worth a goroutine of its own.
const chunkSize = 1 << 20

// parseRows returns the messages of f that can be read, and marks f damaged by the first
// line that cannot be read. Large files are parsed in chunks at once.
func (f *file) parseRows() []Message {
	chunks := split(f.data, min(runtime.GOMAXPROCS(0), len(f.data)/chunkSize))
	var wait sync.WaitGroup
	for i := range chunks[1:] {
		wait.Go(chunks[1+i].parse)
	}
	chunks[0].parse()
	wait.Wait()
	size, lines := 0, 0
	for _, c := range chunks {
		if c.bad != nil && f.bad == nil {
			c.bad.Path = f.path
			c.bad.Line += lines
			f.bad = c.bad
		}
		lines += c.lines
		size += len(c.rows)
	}
	rows := slices.Grow(chunks[0].rows, size-len(chunks[0].rows))
	for _, c := range chunks[1:] {
		rows = append(rows, c.rows...)
	}
	return rows
}

// chunk is a run of whole lines of a file.
type chunk struct {
	data  []byte
	at    int64 // where it begins
	lines int
	rows  []Message
	bad   *CorruptError // of the first bad line, by its number in the chunk and without the path
}

// split divides data into about n chunks at ends of lines, and into one where n
// is less than two.
func split(data []byte, n int) []chunk {
	chunks := make([]chunk, 0, max(n, 1))
	at := 0
	for i := n; i > 1; i-- {
		end := at + (len(data)-at)/i
		eol := bytes.IndexByte(data[end:], '\n')
		if eol < 0 {
			break
		}
		end += eol + 1
		chunks = append(chunks, newChunk(data, at, end))
		at = end
	}
	return append(chunks, newChunk(data, at, len(data)))
}

func newChunk(data []byte, at, end int) chunk {
	return chunk{data: data[at:end:end], at: int64(at)}
}

// parse reads the lines.
func (c *chunk) parse() {
	c.lines = jsonl.Count(c.data)
	slab := make([]message, 0, c.lines)
	c.rows = make([]Message, 0, c.lines)
	keep := func(m message) {
		if len(slab) == cap(slab) { // more rows than lines: split at CR
			slab = make([]message, 0, 64)
		}
		slab = append(slab, m)
		c.rows = append(c.rows, Message{&slab[len(slab)-1]})
	}
	var lines lineReader
	for line := range jsonl.Lines(c.data) {
		if err := lines.parse(line, keep); err != nil && c.bad == nil {
			c.bad = &CorruptError{Line: line.Number, Offset: c.at + line.Offset, Err: err}
		}
	}
}

// lineReader reads messages out of lines. The zero lineReader is ready.
type lineReader struct {
	spans []pyjson.Span // memory for the spans of a row
}

// parse hands the message of a line to keep; a blank line has none. A line that
// does not parse whole but holds carriage returns is split at them, since the
// older tools read it so.
func (r *lineReader) parse(line jsonl.Line, keep func(message)) error {
	return jsonl.ReadRows(line, func(raw []byte) error { return r.row(raw, keep) })
}

// row parses a line that needs no splitting.
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
