package foreign

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/thread"
)

// line is a line of a new session.
type line struct {
	n   int // of the file with the faults, from 1; 0: it is made
	raw []byte
}

// debris is what a file with faults has.
type debris struct {
	lines  []line
	faults []Fault
	cut    []byte // what is in no line: each piece as a line
}

// tear returns the whole objects of a file, in order, and the faults of its lines. isRecord
// reports whether an object is a line of the tool: only such objects are taken out of a line
// that is no object itself.
func tear(data []byte, isRecord func(raw []byte) bool) (d debris) {
	n := 0
	for text := range bytes.Lines(data) {
		n++
		text = bytes.TrimSuffix(text, []byte("\n"))
		if raw, err := thread.Object(text); err == nil && len(text) <= thread.MaxLine {
			d.lines = append(d.lines, line{n, raw})
		} else if !isBlank(text) {
			d.take(n, text, isRecord)
		}
	}
	return d
}

// take takes a line that is no object.
func (d *debris) take(n int, text []byte, isRecord func(raw []byte) bool) {
	if len(text) > thread.MaxLine {
		d.lose(n, "unreadable", text)
		return
	}
	if whole := bytes.ReplaceAll(text, []byte{0}, nil); len(whole) < len(text) {
		d.faults = append(d.faults, Fault{Kind: "nuls", Line: n, Mend: "cut"})
		text = whole
	}
	records, gaps := [][]byte{text}, [][]byte(nil)
	if _, err := thread.Object(text); err != nil {
		records, gaps = recordsIn(text, isRecord)
	}
	for _, raw := range records {
		d.lines = append(d.lines, line{n, bytes.TrimSpace(raw)})
	}
	if len(records) > 1 {
		d.faults = append(d.faults, Fault{Kind: "joined_lines", Line: n, Mend: "split"})
	}
	for i, gap := range gaps {
		switch {
		case isBlank(gap):
		case i < len(records):
			d.lose(n, "half_object", gap)
		default:
			d.lose(n, "torn_line", gap)
		}
	}
}

// lose takes bytes that are in no line.
func (d *debris) lose(n int, why string, piece []byte) {
	d.faults = append(d.faults, Fault{Kind: why, Line: n, Mend: "cut"})
	d.cut = append(append(d.cut, piece...), '\n')
}

func isBlank(b []byte) bool { return len(bytes.TrimSpace(bytes.TrimPrefix(b, []byte("\ufeff")))) == 0 }

// maxTries is how often the bytes of a line are read in the search for records.
const maxTries = 64

// recordsIn returns the records in a line, and what stands before each of them and after the
// last one. It takes time linear in the length of the line.
func recordsIn(line []byte, isRecord func(raw []byte) bool) (records, gaps [][]byte) {
	from, budget := 0, maxTries*len(line)
	for at := 0; budget > 0; {
		next := bytes.IndexByte(line[at:], '{')
		if next < 0 {
			break
		}
		at += next
		var raw json.RawMessage
		in := json.NewDecoder(bytes.NewReader(line[at:]))
		err := in.Decode(&raw)
		if bad := (*json.SyntaxError)(nil); errors.As(err, &bad) {
			budget -= int(bad.Offset) + 512 // which the decoder reads at least
		} else {
			budget -= len(line) - at
		}
		if err != nil {
			at++
			continue
		}
		end := at + int(in.InputOffset())
		if _, err := thread.Object(raw); err == nil && isRecord(raw) {
			records, gaps, from = append(records, line[at:end]), append(gaps, line[from:at]), end
		}
		at = end
	}
	return records, append(gaps, line[from:])
}
