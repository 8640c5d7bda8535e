package sessionstore

import (
	"context"
	"errors"
	"iter"

	"github.com/amplifier-go/sessionstorage/internal/index"
)

// Entry is what [Store.Since] tells: a message, or that messages are void.
type Entry struct {
	N       int     // of the message, counted from 1; 0: there is no message
	Message Message // with N > 0
	From    int     // with N == 0: forget messages From and later, what follows replaces them
	Next    Cursor  // behind all that was told so far; continue here
}

// Since yields the messages behind a cursor, each once, also when messages are
// appended in between and when the program starts anew: the zero Cursor yields
// all of them, and Next of the last Entry what comes after it. It does not wait
// for more; [Store.Watch] tells when to ask again.
//
// When messages before the cursor have changed, since the transcript was
// rewritten, rewound or repaired, an Entry without a message comes first. Its
// From is the first message that changed, if that is one of the last 16 before
// the cursor. Else From is 1, since a cursor knows no places further back. What
// changes and changes back is not told.
//
// Messages are chosen and recovered as by [Store.Load]. When some cannot be
// read, Since yields those that can, and [ErrCorrupt] last. The error Is
// [ErrNotFound] when the session is gone. An Entry's Next is good even if a
// later one is an error.
//
// A transcript that is cached, or larger than 1 MiB, is not parsed again: the
// index knows the hash of each part of a large one, see [Store.Turn]. If the
// file has not changed, or only appends of this library changed it, Since reads
// only what stands at the cursor and what is new. Otherwise it reads the part
// that the index knows, compares that with the hashes, and parses what is new.
func (st *Store) Since(ctx context.Context, id string, c Cursor) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		f := &follower{yield: yield}
		var err error
		if f.at, err = readPoints([]byte(c.points)); err == nil {
			err = st.converse(ctx, id, func(c conversation) error { return f.follow(ctx, c) })
		}
		if err != nil && !errors.Is(err, errStopped) {
			yield(Entry{}, wrap("read messages of", id, err))
		}
	}
}

// errStopped tells that nobody wants more.
var errStopped = errors.New("stopped")

// follower tells what is behind a cursor.
type follower struct {
	at    points // behind what was told
	yield func(Entry, error) bool
}

// follow tells what is behind the place in c.
func (f *follower) follow(ctx context.Context, c conversation) error {
	if err := f.back(ctx, c); err != nil {
		return err
	}
	var told error
	err := c.from(ctx, f.at.n()+1, func(m Message, prefix index.Prefix) bool {
		told = f.message(m, prefix)
		return told == nil
	})
	return joinErrors(told, err)
}

// back goes back to the last point at which c is what it was. With an error, f
// is where it was.
func (f *follower) back(ctx context.Context, c conversation) error {
	messages, n := c.messages(), 0
	for _, p := range f.at {
		if p.n > messages {
			continue
		}
		now, err := c.prefix(ctx, p.n)
		if err != nil {
			return err
		}
		if now == p.prefix {
			n = p.n
			break
		}
	}
	if n == f.at.n() {
		return nil
	}
	at, err := pointsAt(ctx, c, n) // some of which the cursor no longer knew
	if err != nil {
		return err
	}
	f.at = at
	return f.tell(Entry{From: n + 1})
}

// message tells the next message; prefix is that up to it.
func (f *follower) message(m Message, prefix index.Prefix) error {
	f.at = f.at.plus(prefix)
	return f.tell(Entry{N: f.at.n(), Message: m})
}

func (f *follower) tell(e Entry) error {
	e.Next = f.at.cursor()
	if !f.yield(e, nil) {
		return errStopped
	}
	return nil
}
