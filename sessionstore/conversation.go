package sessionstore

import (
	"context"
	"errors"
	"slices"

	"github.com/amplifier-go/sessionstorage/internal/store/index"
)

// conversation is a transcript of which parts are asked for.
type conversation interface {
	counts() (messages, turns int)
	turns(ctx context.Context, from, to int) ([]Message, error)
	message(ctx context.Context, n int) (Message, error)
	// run returns n messages from message first on, which are there, and the turn
	// of the first.
	run(ctx context.Context, first, n int) (found []Message, turn int, err error)
	// start returns the number of the message that begins a turn, which is there.
	start(ctx context.Context, turn int) (int, error)

	messages() int
	// prefix returns the prefix of the first n messages, of which there are so many.
	prefix(ctx context.Context, n int) (index.Prefix, error)
	// from hands the messages from n on, each with the prefix up to it, to visit
	// until it returns false.
	from(ctx context.Context, n int, visit func(Message, index.Prefix) bool) error
}

// inMemory is a conversation that was read as a whole.
type inMemory struct {
	rows   []Message
	of     *session
	cached *cachedTranscript // of rows; nil: they are not cached
	upTo   []index.Prefix    // see prefixes
}

func (c *inMemory) begins(i int) bool {
	return c.rows[i].m.places.role == userRole && c.rows[i].rowOf().Begins
}

func (c *inMemory) counts() (messages, turns int) {
	for i := range c.rows {
		if c.begins(i) {
			turns++
		}
	}
	return len(c.rows), turns
}

func (c *inMemory) turns(_ context.Context, from, to int) ([]Message, error) {
	var found []Message
	turn := 0
	for i, m := range c.rows {
		if c.begins(i) {
			turn++
		}
		if turn > 0 && from <= turn && turn <= to {
			found = append(found, m)
		}
	}
	return found, nil
}

func (c *inMemory) message(_ context.Context, n int) (Message, error) { return c.rows[n-1], nil }

func (c *inMemory) messages() int { return len(c.rows) }

func (c *inMemory) prefix(_ context.Context, n int) (index.Prefix, error) {
	return c.prefixes()[n-1], nil
}

func (c *inMemory) from(ctx context.Context, n int, visit func(Message, index.Prefix) bool) error {
	if n > len(c.rows) {
		return nil
	}
	prefixes := c.prefixes()
	for i := n - 1; i < len(c.rows); i++ {
		if err := ctx.Err(); err != nil || !visit(c.rows[i], prefixes[i]) {
			return err
		}
	}
	return nil
}

// prefixes returns the prefixes up to each message. They are cached with the
// transcript, and from then on an append adds its own.
func (c *inMemory) prefixes() []index.Prefix {
	if c.upTo == nil && c.cached != nil {
		c.upTo = c.cached.prefixes
	}
	if c.upTo == nil {
		c.upTo = addPrefixes([]index.Prefix{}, c.rows)
		if c.cached != nil {
			c.of.putPrefixes(c.cached, c.upTo)
		}
	}
	return c.upTo
}

// onDisk is a conversation of which only what is asked for is read.
type onDisk struct {
	*openTranscript
	failed bool // what was read is not what the index says, or could not be read
}

func (c *onDisk) counts() (messages, turns int) { return c.rows.Messages, c.rows.Turns }

func (c *onDisk) turns(ctx context.Context, from, to int) (found []Message, err error) {
	if to < 1 {
		return nil, nil
	}
	err = c.read(ctx, c.rows.Turn(from), to, func(m Message, _, turn int) bool {
		if turn > 0 && from <= turn && turn <= to {
			found = append(found, c.kept(m))
		}
		return turn <= to
	})
	c.failed = err != nil
	if err != nil {
		return nil, err
	}
	return slices.Clip(found), nil
}

func (c *onDisk) message(ctx context.Context, n int) (found Message, err error) {
	err = c.read(ctx, c.rows.Row(n), noTurn, func(m Message, number, _ int) bool {
		if number == n {
			found = c.kept(m)
		}
		return number < n
	})
	if err == nil && found == (Message{}) {
		err = errIndexCounts
	}
	c.failed = err != nil
	return found, err
}

func (c *onDisk) messages() int { return c.rows.Messages }

func (c *onDisk) prefix(ctx context.Context, n int) (prefix index.Prefix, err error) {
	err = c.readPrefixes(ctx, n, func(_ Message, number int, now index.Prefix) bool {
		prefix = now
		return number < n
	})
	return prefix, err
}

func (c *onDisk) from(ctx context.Context, n int, visit func(Message, index.Prefix) bool) error {
	if n > c.rows.Messages {
		return nil
	}
	return c.readPrefixes(ctx, n, func(m Message, number int, prefix index.Prefix) bool {
		return number < n || visit(c.kept(m), prefix)
	})
}

// readPrefixes reads from a place at or before message n on, and also hands
// visit the prefix up to each message.
func (c *onDisk) readPrefixes(ctx context.Context, n int, visit func(m Message, number int, prefix index.Prefix) bool) error {
	from := c.rows.Row(n)
	prefix := from.Prefix
	err := c.read(ctx, from, noTurn, func(m Message, number, _ int) bool {
		prefix = prefix.Plus(m.sum())
		return visit(m, number, prefix)
	})
	c.failed = err != nil
	return err
}

var errIndexCounts = errors.New("the index tells of more messages than there are")
