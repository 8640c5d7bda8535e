package cosmos

import (
	"context"
	"errors"
	"fmt"
)

// ErrLost tells that a change was decided by a version of a document that is not
// the newest any more, or that nobody knows whether it was made. What decided it
// is to be read again.
var ErrLost = errors.New("the head changed meanwhile")

// Lost returns the error of a change that depends on what was there, nil when it
// was made. It Is [ErrLost] where reading again tells what to do.
func (a *Answer) Lost() error {
	switch a.Class {
	case Changed, Exists, Missing, Unknown:
		return fmt.Errorf("%w: %w", ErrLost, a.Err)
	}
	return a.Err
}

// Discard removes documents of one partition, whatever their versions. That one is gone
// is no error.
func Discard(ctx context.Context, c Conn, pk string, ids []string) error {
	for len(ids) > 0 {
		n := min(len(ids), MaxOps)
		ops := make([]Op, n)
		for i, id := range ids[:n] {
			ops[i] = Delete(id, "")
		}
		if a := c.Batch(ctx, pk, ops...); a.Class != OK {
			if err := discardEach(ctx, c, pk, ops); err != nil {
				return err
			}
		}
		ids = ids[n:]
	}
	return nil
}

// discardEach removes documents one by one: some are gone, or the service does not
// make such a batch.
func discardEach(ctx context.Context, c Conn, pk string, deletes []Op) error {
	for _, op := range deletes {
		switch a := c.Batch(ctx, pk, op); a.Class {
		case OK, Missing:
		default:
			return a.Err
		}
	}
	return nil
}
