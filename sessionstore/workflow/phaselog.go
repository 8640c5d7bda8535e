package workflow

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/format/jsonl"
	"github.com/amplifier-go/sessionstorage/internal/format/limits"
	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/store/cache"
)

// phaseLog is the phase log of one session as it was read. It reads on where the log grew,
// and from the beginning where another log is in its place. It holds no file open, and one
// line in memory.
type phaseLog struct {
	session string
	limits  textLimits

	mu     sync.Mutex // guards the fields below where the phaseLog is shared
	file   sessiondir.Stamp
	read   int64  // offset behind the last line that was taken
	mark   []byte // the last bytes before read: the log is still the same
	lines  int
	open   bool // the last of them lacks its LF
	ids    ids
	phases []*phaseState
	byID   map[string]*phaseState // by phase id
	damage error
}

// textLimits is how many bytes a phaseLog keeps of each text.
type textLimits struct{ prompt, input, output int }

// markSize is the size of the part that is compared again, at the end of the bytes read.
const markSize = 1 << 10

// oneRead is how much is read at once, so that no line is of two states of the log.
const oneRead = 64 << 10

// phaseState is a phase as the lines up to now describe it.
type phaseState struct {
	PhaseRecord
	hasPrompt, hasInput bool // and they are not empty
	outputSize          int  // in bytes, of the whole output
	changed             int64
	created             time.Time

	// The lines that the members of the whole record are in.
	prompt, input, output, last span
}

// span is a line in the log; the zero span is none.
type span struct {
	offset int64
	size   int
}

// refresh reads the lines appended to the log, and then calls then with the log. It does
// not call then where it is nil or the session has no log.
func (p *phaseLog) refresh(ctx context.Context, st core.Store, then func(log io.ReadSeeker) error) error {
	err := st.Read(ctx, p.session, func(dir *sessiondir.Dir) error {
		f, at, err := dir.OpenLog(phaseFile)
		if errors.Is(err, fs.ErrNotExist) {
			p.reset()
			return nil
		}
		if err != nil {
			return err
		}
		n, err := p.readOn(ctx, f, at, dir.Path(phaseFile))
		if now, _ := dir.Stat(phaseFile); !now.Same(at) && (n > oneRead || errors.Is(err, io.ErrUnexpectedEOF)) {
			p.reset() // a writer may have cut off an incomplete line, and written its own, while it was read
			_, err = p.readOn(ctx, f, now, dir.Path(phaseFile))
		}
		if err == nil && then != nil {
			err = then(f)
		}
		return errors.Join(err, f.Close())
	})
	return wrapRead("phase outputs", p.session, err)
}

func (p *phaseLog) reset() {
	p.file, p.read, p.mark, p.lines, p.open, p.ids = sessiondir.Stamp{}, 0, nil, 0, false, ids{}
	p.phases, p.byID, p.damage = nil, map[string]*phaseState{}, nil
}

// readOn takes the new lines of f, up to the size that it has at the stamp, and returns how
// many bytes they have.
func (p *phaseLog) readOn(ctx context.Context, f io.ReadSeeker, at sessiondir.Stamp, path string) (int64, error) {
	same, err := p.sameLog(f, at)
	if err != nil {
		return 0, err
	}
	if !same {
		p.reset()
	}
	p.file = at
	if _, err := f.Seek(p.read, io.SeekStart); err != nil {
		return 0, err
	}
	lines := jsonl.NewReader(io.LimitReader(f, at.Size-p.read))
	base, first := p.read, p.lines
	if p.open {
		first-- // the next bytes are the rest of that line
	}
	var failed error
	whole, open := jsonl.LogOf(func(yield func(jsonl.Line) bool) {
		for failed = ctx.Err(); failed == nil; failed = ctx.Err() {
			line, err := lines.Next()
			if failed = err; err != nil {
				return
			}
			line.Offset, line.Number = line.Offset+base, line.Number+first
			if !yield(line) {
				return
			}
			p.lines = line.Number
		}
	}, at.Size, p.takeLine, func(line jsonl.Line) {
		p.ids.skip()
		p.damage = cmp.Or(p.damage, notRecord(path, line))
	})
	if errors.Is(failed, io.EOF) {
		failed = nil
	}
	if whole > 0 {
		size := min(whole, markSize)
		p.read, p.open = whole, open
		if p.mark, err = readAt(f, span{whole - size, int(size)}); err != nil {
			p.reset()
		}
	}
	return max(0, whole-base), errors.Join(failed, err)
}

// sameLog reports whether the bytes that were read are still the beginning of f.
func (p *phaseLog) sameLog(f io.ReadSeeker, at sessiondir.Stamp) (bool, error) {
	if p.read == 0 || at.Size < p.read || at.Inode != p.file.Inode || at.Dev != p.file.Dev {
		return false, nil
	}
	now, err := readAt(f, span{p.read - int64(len(p.mark)), len(p.mark)})
	return bytes.Equal(now, p.mark), err
}

func readAt(f io.ReadSeeker, at span) ([]byte, error) {
	data := make([]byte, at.size)
	_, err := f.Seek(at.offset, io.SeekStart)
	if err == nil {
		_, err = io.ReadFull(f, data)
	}
	return data, err
}

func (p *phaseLog) takeLine(line jsonl.Line) bool {
	r, ok := parsePhase(line.Bytes)
	if ok {
		p.take(&r, span{line.Offset, len(line.Bytes)})
	}
	return ok
}

func (p *phaseLog) take(r *phaseRow, at span) {
	id, phase := p.ids.of(r.id), r.text(rowPhase)
	s := p.byID[phase]
	if s == nil {
		s = &phaseState{PhaseRecord: PhaseRecord{ID: id, SessionID: p.session, PhaseID: phase, PhaseName: r.text(rowName), CreatedAt: r.text(rowCreated)}}
		s.created = timeOf(s.CreatedAt)
		p.byID[phase] = s
		p.phases = append(p.phases, s)
	}
	s.take(r, at, p.limits)
}

// take changes the phase by the row at the span. A prompt, an input or an output that is
// null changes nothing.
func (s *phaseState) take(r *phaseRow, at span, most textLimits) {
	s.Status, s.UpdatedAt = r.text(rowStatus), r.text(rowUpdated)
	s.last, s.changed = at, at.offset+int64(at.size)
	s.Error, _ = r.optional(rowError, most.output)
	if r.texts[rowPrompt] != nil {
		s.prompt, s.hasPrompt = at, r.holds(rowPrompt)
		s.SystemPrompt, _ = r.optional(rowPrompt, most.prompt)
	}
	if r.texts[rowInput] != nil {
		s.input, s.hasInput = at, r.holds(rowInput)
		s.UserInput, _ = r.optional(rowInput, most.input)
	}
	if r.texts[rowOutput] != nil {
		s.output = at
		s.Output, s.outputSize = r.optional(rowOutput, most.output)
	}
}

// sorted returns the phases by time of creation, phases with an unreadable time first, then
// id.
func (p *phaseLog) sorted() []*phaseState {
	return slices.SortedStableFunc(slices.Values(p.phases), func(a, b *phaseState) int {
		return cmp.Or(a.created.Compare(b.created), cmp.Compare(a.ID, b.ID))
	})
}

// whole returns the record with all of its texts, read from the lines that hold them.
func (s *phaseState) whole(f io.ReadSeeker) (PhaseRecord, error) {
	rec := s.PhaseRecord
	rows := map[span]phaseRow{}
	for _, part := range []struct {
		at     span
		member int
		to     **string
	}{
		{s.prompt, rowPrompt, &rec.SystemPrompt},
		{s.input, rowInput, &rec.UserInput},
		{s.output, rowOutput, &rec.Output},
		{s.last, rowError, &rec.Error},
	} {
		if part.at == (span{}) {
			continue
		}
		r, known := rows[part.at]
		if !known {
			var err error
			if r, err = readRow(f, part.at); err != nil {
				return rec, err
			}
			rows[part.at] = r
		}
		*part.to, _ = r.optional(part.member, math.MaxInt)
	}
	return rec, nil
}

func readRow(f io.ReadSeeker, at span) (phaseRow, error) {
	line, err := readAt(f, at)
	if err != nil {
		return phaseRow{}, err
	}
	r, ok := parsePhase(line)
	if !ok {
		err = errNoRecord
	}
	return r, err
}

// maxSummaryText is how many bytes of an output a PhaseSummary has at most.
const maxSummaryText = 32 << 10

// maxPhaseLogs is the number of sessions whose phase logs a Workflow keeps.
const maxPhaseLogs = 8

// phaseLogs are the phase logs of the sessions that were asked for last.
type phaseLogs struct {
	mu  sync.Mutex // guards kept
	lru *cache.LRU[string, *phaseLog]
}

// of returns the phase log of a session.
func (ps *phaseLogs) of(sessionID string) *phaseLog {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	p, known := ps.lru.Get(sessionID)
	if !known {
		p = &phaseLog{session: sessionID, limits: textLimits{output: maxSummaryText}}
		ps.lru.Put(sessionID, p, 1)
	}
	if ps.lru.Over() {
		ps.lru.Evict()
	}
	return p
}

// The members of a line of the phase log, by their places in rowNames.
const (
	rowID = iota
	rowSession
	rowPhase
	rowName
	rowStatus
	rowPrompt
	rowInput
	rowOutput
	rowError
	rowCreated
	rowUpdated
	rowMembers
)

var rowNames = [rowMembers]string{
	"id", "session_id", "phase_id", "phase_name", "status", "system_prompt", "user_input", "output", "error", "created_at", "updated_at",
}

// phaseRow is a line of the phase log. It shares the memory of the line.
type phaseRow struct {
	id    int64
	texts [rowMembers][]byte // JSON strings; nil for null and for a member that is missing
}

// parsePhase reads a line as [json.Unmarshal] reads a [PhaseRecord]; ok is false when
// the line is no record. It decodes no text.
func parsePhase(line []byte) (r phaseRow, ok bool) {
	line = bytes.TrimSpace(line)
	if len(line) == 0 || line[0] != '{' {
		return r, false
	}
	members := make([]pyjson.Span, 0, 16)
	if pyjson.CheckSpans(line, pyjson.Tolerant, &members) != nil {
		// encoding/json takes more than pyjson: bytes that are not UTF-8, deeper nesting, longer numbers.
		var rec PhaseRecord
		if json.Unmarshal(line, &rec) != nil {
			return r, false
		}
		line, _ = json.Marshal(rec)
		if members = members[:0]; pyjson.CheckSpans(line, pyjson.Tolerant, &members) != nil {
			return r, false
		}
	}
	for _, m := range members {
		if !r.set(line[m.Key:m.KeyEnd], line[m.Value:m.ValueEnd]) {
			return r, false
		}
	}
	return r, true
}

// set takes a member and reports whether its value may be in a record.
func (r *phaseRow) set(key, value []byte) bool {
	i := memberOf(key)
	switch {
	case value[0] == '"' && i < 0:
		return true
	case value[0] == '"':
		r.texts[i] = value
		return i != rowID
	case string(value) == "null":
		if i >= rowPrompt && i <= rowError { // another member keeps the value that an earlier one of its name gave it
			r.texts[i] = nil
		}
		return true
	case i == rowID:
		n, err := strconv.ParseInt(string(value), 10, 64)
		r.id = n
		return err == nil
	}
	return i < 0 && json.Valid(value) // pyjson takes NaN too
}

// memberOf returns the member of that key, -1 for one of another name. Names are
// compared as encoding/json compares them.
func memberOf(key []byte) int {
	name := pyjson.Text(key)
	if i := slices.Index(rowNames[:], name); i >= 0 {
		return i
	}
	return slices.IndexFunc(rowNames[:], func(known string) bool { return strings.EqualFold(known, name) })
}

// text returns a member that is a text in each record.
func (r *phaseRow) text(member int) string { return pyjson.Text(r.texts[member]) }

// optional returns at most so many bytes of a text, up to the end of a character, and
// the size of the whole text. The text is nil for null and where most is 0.
func (r *phaseRow) optional(member, most int) (text *string, size int) {
	if r.texts[member] == nil || most == 0 {
		return nil, 0
	}
	whole := r.text(member)
	if size = len(whole); size > most {
		whole = strings.Clone(limits.Cut(whole, most))
	}
	return &whole, size
}

// holds reports whether a text is there and not empty.
func (r *phaseRow) holds(member int) bool { return len(r.texts[member]) > len(`""`) }
