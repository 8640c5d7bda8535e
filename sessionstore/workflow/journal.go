package workflow

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/amplifier-go/sessionstorage/internal/jsonl"
	"github.com/amplifier-go/sessionstorage/internal/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// The logs of a session.
const (
	phaseFile        = "phase_outputs.jsonl"
	conversationFile = "session_conversation.jsonl"
)

// journal is a log as it was read.
type journal[T any] struct {
	rows   []T
	lastID int64 // no record has a higher one, and no damaged line had
	damage error // of the first line that is no record
}

var errNoRecord = errors.New("not a record")

// readJournal reads the log name; parse reads a row, and id points to the id in it. A
// row without one, which other tools may write, gets the next.
func readJournal[T any](dir *sessiondir.Dir, name string, parse func(line []byte) (T, bool), id func(*T) *int64) (journal[T], sessiondir.Tail, error) {
	var j journal[T]
	record, damaged := j.takers(dir.Path(name), parse, id)
	tail, err := dir.ReadLog(name, record, damaged)
	return j, tail, err
}

// scanJournal is readJournal for one who only reads: it holds a line at a time.
func scanJournal[T any](dir *sessiondir.Dir, name string, parse func(line []byte) (T, bool), id func(*T) *int64) (journal[T], error) {
	var j journal[T]
	record, damaged := j.takers(dir.Path(name), parse, id)
	err := dir.ScanLog(name, record, damaged)
	if errors.Is(err, io.ErrUnexpectedEOF) { // another tool cut it meanwhile
		j, _, err = readJournal(dir, name, parse, id)
	}
	return j, err
}

// takers returns what takes the lines of a log: the records, and what is none.
func (j *journal[T]) takers(path string, parse func(line []byte) (T, bool), id func(*T) *int64) (record func(jsonl.Line) bool, damaged func(jsonl.Line)) {
	record = func(line jsonl.Line) bool {
		row, ok := parse(line.Bytes)
		if ok {
			j.add(row, id)
		}
		return ok
	}
	damaged = func(line jsonl.Line) {
		j.skipID()
		if j.damage == nil {
			j.damage = &sessionstore.CorruptError{Path: path, Line: line.Number, Offset: line.Offset, Err: errNoRecord}
		}
	}
	return record, damaged
}

func parseRow[T any](line []byte) (row T, ok bool) {
	line = bytes.TrimSpace(line)
	if len(line) == 0 || line[0] != '{' {
		return row, false
	}
	return row, json.Unmarshal(line, &row) == nil
}

// largePrompt is the size of a prompt from which on it is worth leaving it out.
const largePrompt = 4 << 10

// parseLeanPhase is [parseRow] of a phase for what needs no system prompt: one that is
// large reads as x. All else, also whether the line is a record, is the same.
func parseLeanPhase(line []byte) (PhaseRecord, bool) {
	var members []pyjson.Span
	if len(line) > largePrompt && pyjson.CheckSpans(line, pyjson.Tolerant, &members) == nil {
		for _, m := range slices.Backward(members) {
			if m.ValueEnd-m.Value > largePrompt && line[m.Value] == '"' && pyjson.KeyIs(line[m.Key:m.KeyEnd], "system_prompt") {
				line = slices.Concat(line[:m.Value], []byte(`"x"`), line[m.ValueEnd:])
			}
		}
	}
	return parseRow[PhaseRecord](line)
}

func (j *journal[T]) add(row T, id func(*T) *int64) {
	at := id(&row)
	if *at <= 0 {
		j.skipID()
		*at = j.lastID
	}
	j.lastID = max(j.lastID, *at)
	j.rows = append(j.rows, row)
}

// skipID takes the next id for what may have had it.
func (j *journal[T]) skipID() {
	if j.lastID < math.MaxInt64 {
		j.lastID++
	}
}

// encodeRow returns a row as a line, with its LF.
func encodeRow(row any) ([]byte, error) {
	raw, err := pyjson.Encode(row)
	if err != nil {
		return nil, err
	}
	line, err := pyjson.Append(nil, raw, pyjson.Style{Portable: true, Replace: true})
	if err != nil {
		return nil, fmt.Errorf("encode record: %w", err)
	}
	return append(line, '\n'), nil
}
