package workflow

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/amplifier-go/sessionstorage/internal/pyjson"
)

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
		for !utf8.RuneStart(whole[most]) {
			most--
		}
		whole = strings.Clone(whole[:most])
	}
	return &whole, size
}

// holds reports whether a text is there and not empty.
func (r *phaseRow) holds(member int) bool { return len(r.texts[member]) > len(`""`) }
