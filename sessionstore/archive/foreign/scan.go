package foreign

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/amplifier-go/sessionstorage/internal/pyjson"
)

// format is how one tool writes its files. The rest of the package knows none.
type format interface {
	// scan makes the records of a line, which is not blank. The error tells that
	// the line is damaged; there are no records then.
	scan(s *scanning, raw []byte) error

	// finish links the records, after the last line.
	finish(s *scanning)

	// part returns what a record says, which is the nth of the line at offset,
	// from 0. What it returns shares the memory of the line.
	part(raw []byte, offset int64, n int) (part, error)

	// agent returns the id, the kind and the task, where it is told, of the sub-agent whose
	// file is at path.
	agent(path string, t *table) (id, name, task string)
}

// scanning is the first reading of a file.
type scanning struct {
	t       *table
	format  format
	loose   pieces[result] // records whose parent is not the record before: the hash of its uuid, and the record
	calls   pieces[result]
	results pieces[result]
	marks   pieces[mark]
	report  *Report
	offset  int64 // of the line
}

// scan reads the first size bytes of a file.
func scan(ctx context.Context, f io.ReaderAt, size int64, fm format, report *Report) (*table, error) {
	s := scanning{t: &table{end: -1}, format: fm, report: report}
	sum, sums := sha256.New(), &frameSums{}
	in := newLineReader(io.TeeReader(io.NewSectionReader(f, 0, size), io.MultiWriter(sum, sums)))
	for {
		l, err := in.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		s.line(l)
	}
	sum.Sum(s.t.sum[:0])
	sums.end()
	s.t.sums = sums.sums
	fm.finish(&s)
	s.t.calls, s.t.results, s.t.marks, s.t.facts.spent = s.calls.take(), s.results.take(), s.marks.take(), s.t.facts.spending.take()
	s.t.orderCalls()
	s.t.orderAnswers()
	s.t.mergeSpent()
	return s.t, nil
}

func (s *scanning) line(in line) {
	s.t.linesRead++
	s.offset = in.offset
	if !in.long && len(pyjson.TrimSpace(in.bytes)) == 0 {
		s.add(record{flags: isBlank}, 0)
		return
	}
	err := errLongLine
	if !in.long {
		err = s.format.scan(s, in.bytes)
	}
	if err == nil {
		return
	}
	s.add(record{flags: isDamaged}, 0)
	s.t.facts.unread++
	if len(s.report.Damaged) < maxDamaged {
		s.report.Damaged = append(s.report.Damaged, LineError{in.number, withoutPlace(err)})
	}
}

// withoutPlace drops from an error the names of members, which may be a person's text.
func withoutPlace(err error) error {
	var e *pyjson.Error
	if !errors.As(err, &e) {
		return err
	}
	return &pyjson.Error{Offset: e.Offset, Reason: e.Reason, What: e.What}
}

// add appends the first record of a line, which follows the one with the uuid of
// the hash parent, and returns its index.
func (s *scanning) add(r record, parent uint64) int32 {
	at := int32(s.t.records.len())
	r.offset, r.parent = s.offset, -1
	switch {
	case parent == 0:
	case at > 0 && s.t.records.at(at-1).uuid == parent:
		r.parent = at - 1
	default:
		s.loose.add(result{parent, at})
	}
	s.t.records.add(r)
	return at
}

// result notes that a record has the result of a call.
func (s *scanning) result(call string, at int32) {
	if call != "" {
		s.results.add(result{hash(call), at})
	}
}

// call notes that a record has a call.
func (s *scanning) call(id string, at int32) { s.calls.add(result{hash(id), at}) }

// unknownKind counts a kind that is not known.
func (s *scanning) unknownKind(what, name string) {
	s.report.unknown(what, name)
	s.t.facts.unknownKind(what, name)
}

// cwd keeps the first working directory.
func (s *scanning) cwd(dir string) { s.t.cwd = firstOf(s.t.cwd, dir) }

// mark takes what the line of the next record tells. Only the session that the last line
// tells of counts: an export of a fork goes on behind what its origin exported.
func (s *scanning) mark(said string) {
	i := strings.LastIndexByte(said, '/')
	n, err := strconv.ParseInt(said[i+1:], 10, 32)
	if i < 0 || err != nil || n < 1 {
		return
	}
	if said[:i] != s.t.exported {
		s.t.exported, s.marks = said[:i], pieces[mark]{}
	}
	s.marks.add(mark{int32(s.t.records.len()), int32(n)})
}
