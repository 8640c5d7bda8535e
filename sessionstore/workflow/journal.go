package workflow

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/amplifier-go/sessionstorage/internal/jsonl"
	"github.com/amplifier-go/sessionstorage/internal/pyjson"
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
	whole  int64 // size of the lines that were written whole
	open   bool  // the last of them lacks its LF
	damage error // of the first line that is no record
}

var errNoRecord = errors.New("not a record")

// parseJournal reads the log at path; id points to the id in a row. A row
// without one, which other tools may write, gets the next.
func parseJournal[T any](path string, data []byte, id func(*T) *int64) journal[T] {
	var j journal[T]
	for line := range jsonl.Lines(data) {
		row, ok := parseRow[T](line.Bytes)
		blank := len(bytes.TrimSpace(line.Bytes)) == 0
		if !line.Ended && !ok {
			break // never acknowledged
		}
		j.whole, j.open = line.Offset+int64(len(line.Bytes)), !line.Ended
		if line.Ended {
			j.whole++
		}
		switch {
		case ok:
			j.add(row, id)
		case !blank:
			j.skipID()
			if j.damage == nil {
				j.damage = &sessionstore.CorruptError{Path: path, Line: line.Number, Offset: line.Offset, Err: errNoRecord}
			}
		}
	}
	return j
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

// nextID returns an id that no record ever had.
func (j *journal[T]) nextID() (int64, error) {
	if j.lastID == math.MaxInt64 {
		return 0, errors.New("no id is left")
	}
	return j.lastID + 1, nil
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
