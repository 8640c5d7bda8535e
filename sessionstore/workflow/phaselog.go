package workflow

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/format/jsonl"
	"github.com/amplifier-go/sessionstorage/internal/format/limits"
	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/format/pytime"
	"github.com/amplifier-go/sessionstorage/internal/store/cache"
)

// phaseLog is the phases of one session, as the lines of its log describe them up to now.
type phaseLog struct {
	mu sync.Mutex // guards the fields below where the phaseLog is shared
	logReader

	session string
	limits  textLimits
	phases  []*phaseState
	byID    map[string]*phaseState // by phase id
}

func newPhaseLog(session string, most textLimits) *phaseLog {
	p := &phaseLog{session: session, limits: most, byID: map[string]*phaseState{}}
	p.logReader = logReader{name: phaseFile, rows: p}
	return p
}

// textLimits is how many bytes a phaseLog keeps of each text.
type textLimits struct{ prompt, input, output int }

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

func (p *phaseLog) forget() { p.phases, p.byID = nil, map[string]*phaseState{} }

func (p *phaseLog) take(r *logReader, line jsonl.Line) bool {
	row, ok := parsePhase(line.Bytes)
	if !ok {
		return false
	}
	id, phase := r.ids.of(row.id), row.text(rowPhase)
	s := p.byID[phase]
	if s == nil {
		s = &phaseState{PhaseRecord: PhaseRecord{ID: id, SessionID: p.session, PhaseID: phase, PhaseName: row.text(rowName), CreatedAt: row.text(rowCreated)}}
		s.created = pytime.Of(s.CreatedAt)
		p.byID[phase] = s
		p.phases = append(p.phases, s)
		r.size += phaseSize + int64(len(phase)+len(s.PhaseName))
	}
	s.take(&row, span{line.Offset, len(line.Bytes)}, p.limits)
	return true
}

// phaseSize is the memory of a phase without its texts, roughly.
const phaseSize = 512

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
	mu  sync.Mutex // guards lru
	lru *cache.LRU[string, *phaseLog]
}

// of returns the phase log of a session.
func (ps *phaseLogs) of(sessionID string) *phaseLog {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	p, known := ps.lru.Get(sessionID)
	if !known {
		p = newPhaseLog(sessionID, textLimits{output: maxSummaryText})
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
