package workflow

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"

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

// readJournal reads the log name; id points to the id in a row. A row without
// one, which other tools may write, gets the next.
func readJournal[T any](dir *sessiondir.Dir, name string, id func(*T) *int64) (journal[T], sessiondir.Tail, error) {
	var j journal[T]
	tail, err := dir.ReadLog(name, func(line jsonl.Line) bool {
		row, ok := parseRow[T](line.Bytes)
		if ok {
			j.add(row, id)
		}
		return ok
	}, func(line jsonl.Line) {
		j.skipID()
		if j.damage == nil {
			j.damage = &sessionstore.CorruptError{Path: dir.Path(name), Line: line.Number, Offset: line.Offset, Err: errNoRecord}
		}
	})
	return j, tail, err
}

func parseRow[T any](line []byte) (row T, ok bool) {
	line = bytes.TrimSpace(line)
	if len(line) == 0 || line[0] != '{' {
		return row, false
	}
	return row, json.Unmarshal(line, &row) == nil
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
