package foreign

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"iter"
	"strconv"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/amplifier-go/sessionstorage/internal/pyjson"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// history is a file of the tool that is open.
type history struct {
	path   string
	file   *frames
	size   int64
	format format
	layout layout
	t      *table
	known  int64 // how much of it the session keeps whose file it was compared with, see relate
	tool   Tool
	id     string // the tool's id of the session
	report *Report
	told   func(line int, err error) LineError // what a report tells of a line

	targets []target // the sessions that are made of it
}

// target is a session that is to be made of a line of a history.
type target struct {
	*history
	kind     Kind
	id       string
	chain    []int32
	parent   string
	agent    string              // its kind
	task     string              // what it did, in short; "" where nothing tells
	foreign  string              // the tool's id of a sub-agent
	turn     int                 // after which it leaves its parent
	original bool                // it keeps the file
	beside   string              // see place
	here     *hereRows           // what was said in the session, and exported
	mine     func(at int32) bool // whether a record is of the session, on whichever branch
}

// place returns the name of the folder in which the session keeps the tool's file, and of the
// member of metadata that tells of it.
func (tg target) place() string { return cmp.Or(tg.beside, folder) }

// start returns when the conversation began.
func (r *rendering) start() time.Time {
	if r.t.first.IsZero() {
		return time.Unix(0, 0).UTC()
	}
	return r.t.first.UTC().Truncate(time.Microsecond)
}

// render hands the messages of the target to emit.
func (tg target) render(report *Report, emit func(sessionstore.Message) error) (*rendering, error) {
	r := &rendering{
		t: tg.t, format: tg.format, in: newInput(tg.file, tg.size), chain: tg.chain, report: report, emit: emit,
		from: origin{tool: tg.tool, id: tg.history.id}, shared: tg.turn, here: tg.here,
	}
	return r, r.render()
}

// tally counts and hashes the lines of messages, in the form that a save by the
// Python tools gives them.
type tally struct {
	sum          *xxh3.Hasher
	n            int
	bytes        int64
	line, normal []byte
}

func newTally() *tally { return &tally{sum: xxh3.New()} }

// add returns the line of a message, which is valid until the next call.
func (c *tally) add(m sessionstore.Message) []byte {
	c.line = m.AppendTo(c.line[:0])
	row := c.line
	if escapesBreak(row) {
		if normal, err := pyjson.AppendMessage(c.normal[:0], row, pyjson.Style{}); err == nil {
			row, c.normal = normal, normal
		}
	}
	_, _ = c.sum.Write(row)
	_, _ = c.sum.Write(endOfLine)
	c.n++
	c.bytes += int64(len(row)) + 1
	c.line = append(c.line, '\n')
	return c.line
}

var endOfLine = []byte{'\n'}

// escapesBreak reports whether a row has one of the line breaks that finish writes
// as escapes: all else of a message of this package is as Python writes it.
func escapesBreak(row []byte) bool {
	return bytes.Contains(row, []byte(`\u202`)) || bytes.Contains(row, []byte(`\u0085`))
}

func (c *tally) revision() sessionstore.Revision {
	return sessionstore.Revision{Messages: c.n, Bytes: c.bytes, Sum: c.sum.Sum128().Bytes()}
}

// plan is what a target makes.
type plan struct {
	r       *rendering
	want    sessionstore.Revision // the transcript
	extends bool                  // it begins with all that the session has
	report  *Report
}

// plan returns what the target makes where the session has a transcript, and writes
// nothing.
func (tg target) plan(has sessionstore.Revision) (*plan, error) {
	p, c := &plan{report: newReport()}, newTally()
	r, err := tg.render(p.report, func(m sessionstore.Message) error {
		c.add(m)
		p.extends = p.extends || c.n == has.Messages && c.revision() == has
		return nil
	})
	p.r, p.want = r, c.revision()
	return p, err
}

// writeTranscript writes the messages of the target as lines.
func (tg target) writeTranscript(w io.Writer, report *Report) (*rendering, sessionstore.Revision, error) {
	c, out := newTally(), bufio.NewWriterSize(w, 64<<10)
	r, err := tg.render(report, func(m sessionstore.Message) error {
		_, err := out.Write(c.add(m))
		return err
	})
	if err == nil {
		err = out.Flush()
	}
	return r, c.revision(), err
}

// writeMap writes which conversation the session holds, and for each line of the
// file what became of it, and then what each response of Claude Code used. Where the session keeps no original, the map has for each
// message the hash of its record, by which it is found in another state of the file.
func (tg target) writeMap(r *rendering, w io.Writer) error {
	out := bufio.NewWriterSize(w, 64<<10)
	row := append(append([]byte(`{"conversation": "`), scopeNames[r.t.scope]...), '"')
	if r.longer() {
		row = append(row, `, "longer": true`...)
	}
	row = tg.layout.header(row)
	row = append(row, "}\n"...)
	if _, err := out.Write(row); err != nil {
		return err
	}
	for line, n := range r.lines() {
		row = strconv.AppendInt(append(row[:0], `{"line": `...), int64(line)+1, 10)
		if n.message > 0 {
			row = strconv.AppendInt(append(row, `, "message": `...), int64(n.message), 10)
			if !tg.original {
				row = fmt.Appendf(row, `, "record": "%016x"`, n.uuid)
			}
		} else {
			row = append(append(append(row, `, "why": "`...), n.why...), '"')
		}
		if _, err := out.Write(append(row, "}\n"...)); err != nil {
			return err
		}
	}
	if tg.tool == Claude {
		for u := range tg.responses() {
			row = fmt.Appendf(row[:0], `{"response": "%016x", "model": `, u.id)
			row = pyjson.AppendQuoted(row, u.model, pyjson.Style{Replace: true})
			row = fmt.Appendf(row, `, "tokens": [%d, %d, %d, %d]}`+"\n", u.tokens[0], u.tokens[1], u.tokens[2], u.tokens[3])
			if _, err := out.Write(row); err != nil {
				return err
			}
		}
	}
	return out.Flush()
}

// longer reports whether the line goes on before what the tool would resume.
func (r *rendering) longer() bool {
	if r.t.scope != wholeLine || len(r.chain) == 0 {
		return false
	}
	first, here := int32(-1), false
	for at := range r.t.walk(r.chain[len(r.chain)-1], activeLine) {
		first, here = at, at == r.chain[0]
		if here {
			break
		}
	}
	return first >= 0 && !here
}

// outcome is what became of a line: the number of the first message that it is
// part of, or why there is none.
type outcome struct {
	message int32
	uuid    uint64
	why     string
}

// lines yields what became of each line.
func (r *rendering) lines() iter.Seq2[int, outcome] {
	return func(yield func(int, outcome) bool) {
		for at, line := 0, 0; at < len(r.numbers); line++ {
			o := outcome{why: r.why(int32(at))}
			offset := r.t.records.at(int32(at)).offset
			for ; at < len(r.numbers) && r.t.records.at(int32(at)).offset == offset; at++ {
				if o.message == 0 && r.numbers[at] > 0 {
					o.message, o.uuid = r.numbers[at], r.t.records.at(int32(at)).uuid
				}
			}
			if !yield(line, o) {
				return
			}
		}
	}
}

// countLeft counts the lines that became no message, once for each file.
func (tg target) countLeft(r *rendering, report *Report) {
	if !tg.original {
		return
	}
	for _, o := range r.lines() {
		if o.message == 0 && o.why != whyHere {
			report.Left[o.why]++
		}
	}
}

// responses yields what each response of the session used, as its file of Claude Code tells.
func (tg target) responses() iter.Seq[used] {
	return func(yield func(used) bool) {
		for _, r := range tg.t.facts.spent {
			if tg.mine == nil || !tg.mine(r.at) || r.has == 0 || tg.t.isMarked(r.at) {
				continue
			}
			u := used{id: r.id, model: unknownModel}
			if r.model > 0 {
				u.model = tg.t.facts.models[r.model-1]
			}
			for i, n := range r.tokens {
				u.tokens[i] = int64(n)
			}
			if !yield(u) {
				return
			}
		}
	}
}
