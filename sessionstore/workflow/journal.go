package workflow

import (
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

var errNoRecord = errors.New("not a record")

// notRecord is the damage of a line.
func notRecord(path string, line jsonl.Line) error {
	return &sessionstore.CorruptError{Path: path, Line: line.Number, Offset: line.Offset, Err: errNoRecord}
}

// ids are the ids of a log: no record up to now has one above last, and no damaged line had.
type ids struct{ last int64 }

// of returns the id of the next record. One without an id, which other tools may write,
// gets the next.
func (i *ids) of(id int64) int64 {
	if id <= 0 {
		i.skip()
		return i.last
	}
	i.last = max(i.last, id)
	return id
}

// skip takes the next id for what may have had it.
func (i *ids) skip() {
	if i.last < math.MaxInt64 {
		i.last++
	}
}

var errNoID = errors.New("no id is left")

// next returns an id that no record ever had.
func (i *ids) next() (int64, error) {
	if i.last == math.MaxInt64 {
		return 0, errNoID
	}
	i.last++
	return i.last, nil
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
