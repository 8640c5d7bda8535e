// Package throttle bounds the requests of a process to a [remote.Remote], whatever its
// kind: their cost, their rate, and the time that callers wait for them. [New] wraps a
// remote, and a [Budget] holds the state that all calls of the process to it share. The
// errors of package remote decide the next step, as its documentation says.
//
// A remote is away for half a minute when nothing takes the connection, something else
// answers, a call gets no answer in the time that it has, or the first call of all, or
// the fourth in a row, breaks. Calls fail at once then, and while it is shut for longer
// than 10 seconds. After a failure, a single call finds out whether the remote is back.
//
// A call ends with a NoAnswer when nothing has moved for half a minute, as far as the remote
// tells by [remote.Moved] and [remote.Heard]. Where it does not return then, it is left; see
// Silence in package remote.
//
// A call is made at most four times: when the remote did not do it, and when it is
// unknown whether it was done, if doing it twice is the same as doing it once. A commit
// with a swap is not such a call: its outcome is unknown then, and the caller reads the
// present state. No change is made again an hour after its first try, also where the machine
// slept in between.
package throttle

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/amplifier-go/sessionstorage/hybrid/remote"
)

// throttled is a remote within a budget.
type throttled struct {
	remote.Remote
	calls
}

// New returns a remote whose calls keep within a budget. It reports each request to
// observe, which is called by many goroutines and may be nil.
func New(inner remote.Remote, b *Budget, observe func(context.Context, remote.Request)) remote.Remote {
	return &throttled{inner, calls{b, observe}}
}

// Info implements [remote.Remote]. While the remote is away, or is asked nothing, it makes no
// request.
func (t *throttled) Info(ctx context.Context) (info remote.Info, err error) {
	c := &call{calls: t.calls, is: kind{quiet: silence}}
	c.ctx, c.end = context.WithCancelCause(ctx)
	defer c.end(nil)
	switch err := t.budget.silent(); {
	case errors.Is(err, errTooManyLeft):
		return info, err
	case err != nil:
		c.end(err)
	}
	c.listen()
	defer c.idle.Stop()
	info, err = apart(c, func() (remote.Info, error) { return t.Remote.Info(remote.Listened(c.ctx, c.move)) })
	if err != nil && c.ctx.Err() != nil {
		err = context.Cause(c.ctx)
	}
	return info, err
}

func (t *throttled) Get(ctx context.Context, part, name string, known remote.Version) (o remote.Object, err error) {
	err = t.do(ctx, kind{units: expectedRead, quiet: quietFor(remote.MaxObject)}, func(ctx context.Context, c *call) (err error) {
		o, err = apart(c, func() (remote.Object, error) { return t.Remote.Get(ctx, part, name, known) })
		if err == nil {
			err = remote.TooLarge(int64(len(o.Label)), int64(len(o.Body)))
		}
		return err
	})
	if err != nil {
		return remote.Object{}, err
	}
	return o, nil
}

// List implements [remote.Remote]. When it breaks, it goes on after the last name that came.
func (t *throttled) List(ctx context.Context, part string, q remote.Query) iter.Seq2[remote.Object, error] {
	return func(yield func(remote.Object, error) bool) {
		q := q // the sequence may be used again
		err := t.do(ctx, kind{units: expectedRead, quiet: silence}, func(ctx context.Context, c *call) error {
			for o, err := range rows(c, t.Remote.List(ctx, part, q)) {
				if err != nil {
					return err
				}
				if !c.learned { // now, since the caller may make other calls amid the list
					c.hear()
					c.budget.learn(&c.try, nil, nil)
				}
				if len(o.Label) > remote.MaxLabel {
					o.Label = nil // as of an object of another tool
				}
				if !yield(o, nil) {
					yield = nil
					return nil
				}
				q.After = o.Name
				c.row()
			}
			return nil
		})
		if err != nil && yield != nil {
			yield(remote.Object{}, err)
		}
	}
}

// Commit implements [remote.Remote]. A call that was left may still read what it was given.
func (t *throttled) Commit(ctx context.Context, part string, objects []remote.Object, swap *remote.Swap) (v remote.Version, err error) {
	if objects, err = once(objects, swap); err != nil {
		return "", err
	}
	if swap != nil {
		swap = new(*swap)
	}
	is := kind{units: expected(objects, swap), quiet: quietFor(bytesOf(objects, swap)), changes: true, swaps: swap != nil}
	err = t.do(ctx, is, func(ctx context.Context, c *call) (err error) {
		v, err = apart(c, func() (remote.Version, error) { return t.Remote.Commit(ctx, part, objects, swap) })
		return err
	})
	return v, err
}

// once returns a copy of the objects of a commit with each of them once: the pieces of a line
// that repeats itself have one name. The error Is [remote.ErrTooLarge] for an object that no
// remote takes.
func once(objects []remote.Object, swap *remote.Swap) (all []remote.Object, err error) {
	if err := remote.CheckSizes(objects, swap); err != nil {
		return nil, err
	}
	seen := map[string]*remote.Object{}
	for i := range objects {
		o := &objects[i]
		switch was := seen[o.Name]; {
		case swap != nil && o.Name == swap.Name, was != nil && !(bytes.Equal(was.Label, o.Label) && bytes.Equal(was.Body, o.Body)):
			return nil, fmt.Errorf("a commit has two objects of the name %s", o.Name)
		case was == nil:
			seen[o.Name], all = o, append(all, *o)
		}
	}
	return all, nil
}

// atOnce is the number of objects that one call removes. A call that fails is made again
// whole.
const atOnce = 100

func (t *throttled) Delete(ctx context.Context, part string, names []string) error {
	for some := range slices.Chunk(slices.Clone(names), atOnce) {
		err := t.do(ctx, kind{units: removal * float64(len(some)), quiet: silence, changes: true}, func(ctx context.Context, c *call) error {
			_, err := apart(c, func() (none struct{}, _ error) { return none, t.Remote.Delete(ctx, part, some) })
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
