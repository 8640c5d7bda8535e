package slice

import (
	"context"
	"errors"
	"fmt"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/format/jsonl"
	"github.com/amplifier-go/sessionstorage/internal/format/limits"
	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// change is one change of a stored session. It is made within a transaction, as
// the session's only writer.
type change struct {
	ctx context.Context
	st  *sessionstore.Store
	id  string
	tx  core.Tx

	force bool // it is made also where there is nothing to copy
}

// rows returns the messages of the transcript. It returns an error if a line
// cannot be read or is no JSON object.
func (c *change) rows() ([]sessionstore.Message, error) {
	rows, _, err := c.tx.Transcript()
	if err != nil {
		return nil, err
	}
	if r := c.tx.Recovered(); r != nil && errors.Is(r.Reason, sessionstore.ErrCorrupt) {
		return nil, r.Reason
	}
	for i, m := range rows {
		if !isObject(m) {
			return nil, c.notObject(i)
		}
	}
	return rows, nil
}

var errNotObject = errors.New("not a JSON object")

// notObject returns the error for message index, which is no JSON object. The
// error names the line.
func (c *change) notObject(index int) error {
	bad := &sessionstore.CorruptError{Path: c.tx.Dir().Path(sessiondir.Transcript), Err: errNotObject}
	data, _, err := c.tx.Dir().Read(sessiondir.Transcript)
	if err != nil {
		return err
	}
	for line := range jsonl.Lines(data) {
		if len(pyjson.TrimSpace(line.Bytes)) == 0 {
			continue
		}
		if index == 0 {
			bad.Line, bad.Offset = line.Number, line.Offset
			break
		}
		index--
	}
	return bad
}

// verified returns the diagnosis of the messages that will be written. It returns an error
// unless they are healthy.
func verified(rows []sessionstore.Message) (Diagnosis, error) {
	d, err := Diagnose(rows)
	if err == nil && !d.Healthy() {
		err = fmt.Errorf("%w: %v", ErrStillBroken, d.Modes)
	}
	return d, err
}

// ErrStillBroken is returned when a session would not be healthy after a repair, or
// after a rewind that chose the place itself. Nothing was written.
var ErrStillBroken = errors.New("the result would be broken")

// wrapError adds to err the operation and the session. It returns errors with the reference's
// text, and sessionstore.ErrNotFound, unchanged.
func wrapError(op, id string, err error) error {
	if limits.IsReference(err) || errors.Is(err, sessionstore.ErrNotFound) {
		return err
	}
	return fmt.Errorf("%s session %q: %w", op, limits.ID(id), err)
}
