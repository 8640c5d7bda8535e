package sessionstore

import (
	"bytes"
	"errors"
	"runtime"
	"sync"

	"github.com/amplifier-go/sessionstorage/internal/jsonl"
	"github.com/amplifier-go/sessionstorage/internal/pyjson"
)

// partSize is how much of a transcript is worth a goroutine of its own.
const partSize = 1 << 20

// parseRows returns the messages of f that can be read, and marks f damaged
// by the first line that cannot. Large files are parsed in parts at once.
func (f *file) parseRows() []Message {
	parts := split(f.data, min(runtime.GOMAXPROCS(0), len(f.data)/partSize))
	if len(parts) == 1 {
		parts[0].parse(0)
		return f.join(parts)
	}
	first := 0
	var wait sync.WaitGroup
	for i := range parts {
		before := first // the goroutine must not see it move on
		first += parts[i].lines
		wait.Go(func() { parts[i].parse(before) })
	}
	wait.Wait()
	return f.join(parts)
}

// join returns the rows of all parts, and notes the first damage.
func (f *file) join(parts []part) []Message {
	for _, p := range parts {
		if p.bad != nil && f.bad == nil {
			p.bad.Path = f.path
			f.bad = p.bad
		}
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
	bad   *CorruptError // of the first line that is none, without the path
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
	return part{data: data[at:end:end], at: int64(at), lines: jsonl.Count(data[at:end])}
}

// parse reads the lines, before which there are so many in the file.
func (p *part) parse(before int) {
	slab := make([]message, 0, p.lines)
	p.rows = make([]Message, 0, p.lines)
	keep := func(raw, _, role []byte, long pyjson.Long) {
		if len(slab) == cap(slab) { // more rows than lines: split at CR
			slab = make([]message, 0, 64)
		}
		slab = append(slab, message{raw: raw, role: roleOf(role), read: true, long: long})
		p.rows = append(p.rows, Message{&slab[len(slab)-1]})
	}
	for line := range jsonl.Lines(p.data) {
		if err := parseLine(line, keep); err != nil && p.bad == nil {
			p.bad = &CorruptError{Line: before + line.Number, Offset: p.at + line.Offset, Err: err}
		}
	}
}

// parseLine hands the message of a line, with and without the space around it,
// its member role and its longest member to keep; a blank line has none. A line that does not parse whole but holds carriage returns
// is split at them, since the older tools read it so.
func parseLine(line jsonl.Line, keep func(raw, value, role []byte, long pyjson.Long)) error {
	value := pyjson.TrimSpace(line.Bytes)
	if len(value) == 0 {
		return nil
	}
	role, long, err := pyjson.CheckMember(value, pyjson.Tolerant, "role")
	if err == nil {
		keep(line.Bytes, value, role, long)
		return nil
	}
	split := false
	for part := range jsonl.SplitCR(line) {
		split = split || len(part.Bytes) < len(line.Bytes)
	}
	if !split {
		return err
	}
	err = nil
	for part := range jsonl.SplitCR(line) {
		value := pyjson.TrimSpace(part.Bytes)
		if len(value) == 0 {
			continue
		}
		role, long, perr := pyjson.CheckMember(value, pyjson.Tolerant, "role")
		if perr != nil {
			err = errors.Join(err, perr)
			continue
		}
		keep(part.Bytes, value, role, long)
	}
	return err
}
