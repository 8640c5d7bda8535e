package cosmos

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/jitter"
)

// Guard makes changes that are bound to one version of a document, the head of a
// session: each batch also replaces the head, if it still is that version. So
// nothing is changed that was decided by an older head, and whoever decided something
// by the version that was replaced, as a writer that uploaded long ago, has to
// read again. A Guard is for one goroutine.
type Guard struct {
	Conn Conn
	PK   string // of the head
	ID   string // of the head
	Body []byte // of the head, as Apply stores it again
	ETag ETag   // of the head as it was last read or written
}

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

// delay is the time between two batches. A writer that lost the head to a guard
// tries again at once, and so goes first.
const delay = 200 * time.Millisecond

// Apply makes changes, which are what [Put] and [Delete] return, in the head's partition,
// in as many batches as they need. What was removed or stored anew meanwhile,
// so that it has not the ETag of its Delete, stays as it is. Apply returns how
// many documents were removed. The error Is [ErrLost] when the head is another one:
// what was not changed until then stays.
func (g *Guard) Apply(ctx context.Context, ops []Op) (removed int, err error) {
	for first := true; len(ops) > 0; first = false {
		if !first {
			if err := jitter.Pause(ctx, delay, nil); err != nil {
				return removed, err
			}
		}
		n := fitting(ops, len(g.Body))
		done, err := g.batch(ctx, ops[:n])
		removed += done
		if err != nil {
			return removed, err
		}
		ops = ops[n:]
	}
	return removed, nil
}

// fitting returns how many operations fit into a batch with the head.
func fitting(ops []Op, size int) (n int) {
	for n < len(ops) && n < MaxOps-1 && (n == 0 || size+len(ops[n].Body) <= MaxBytes) {
		size += len(ops[n].Body)
		n++
	}
	return n
}

// batch makes what fits into one batch.
func (g *Guard) batch(ctx context.Context, ops []Op) (removed int, err error) {
	for len(ops) > 0 {
		a := g.Conn.Batch(ctx, g.PK, append([]Op{Swap(g.ID, g.Body, g.ETag)}, ops...)...)
		failed := a.Failed - 1
		switch {
		case a.Class == OK:
			g.ETag = a.ETag(0)
			return removals(ops), nil
		case failed >= 0 && (a.Class == Missing || a.Class == Changed):
			ops = append(ops[:failed:failed], ops[failed+1:]...) // removed, or stored anew
		default:
			return 0, a.Lost()
		}
	}
	return 0, nil
}

// Replace makes body the head, with changes that fit into the same batch. The error Is
// [ErrLost] when the head is another one.
func (g *Guard) Replace(ctx context.Context, body []byte, with ...Op) error {
	a := g.Conn.Batch(ctx, g.PK, append([]Op{Swap(g.ID, body, g.ETag)}, with...)...)
	if a.Class != OK {
		return a.Lost()
	}
	g.ETag, g.Body = a.ETag(0), body
	return nil
}

func removals(ops []Op) (n int) {
	for _, op := range ops {
		if op.Kind == Remove {
			n++
		}
	}
	return n
}

// Discard removes documents of one partition that no head guards. That one is
// gone, or was stored anew and so has another ETag than its Delete, is no error.
func Discard(ctx context.Context, c Conn, pk string, deletes []Op) error {
	for len(deletes) > 0 {
		n := min(len(deletes), MaxOps)
		if a := c.Batch(ctx, pk, deletes[:n]...); a.Class != OK {
			if err := discardEach(ctx, c, pk, deletes[:n]); err != nil {
				return err
			}
		}
		deletes = deletes[n:]
	}
	return nil
}

// discardEach removes documents one by one: some are gone, or the service does not
// make such a batch.
func discardEach(ctx context.Context, c Conn, pk string, deletes []Op) error {
	for _, op := range deletes {
		switch a := c.Batch(ctx, pk, op); a.Class {
		case OK, Missing, Changed:
		default:
			return a.Err
		}
	}
	return nil
}
