package throttle

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/jitter"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/memremote"
	"github.com/amplifier-go/sessionstorage/hybrid/remote"
)

// fake is a remote in memory that takes its time and fails as it is told.
type fake struct {
	memremote.Remote
	takes time.Duration       // a request until its answer
	units float64             // that a request costs
	pages int                 // objects of a page; 0: all
	fails func(n int) outcome // of the n-th request

	mu     sync.Mutex // guards what follows
	stored []string   // names of the objects of the last commit
	calls  []time.Time
	spent  map[int64]float64 // by second
}

// outcome is how a request ends that fails.
type outcome struct {
	err  error // nil: it does not fail
	done bool  // though the error does not say so
	rows int   // that a list yields before; after that it fails
}

func times(n int, err error) func(int) outcome {
	return func(i int) outcome {
		if i <= n {
			return outcome{err: err}
		}
		return outcome{}
	}
}

func (f *fake) made() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.calls)
}

// request makes a request, and tells how it ends.
func (f *fake) request(ctx context.Context) (o outcome, err error) {
	f.mu.Lock()
	start := time.Now()
	f.calls = append(f.calls, start)
	if f.spent == nil {
		f.spent = map[int64]float64{}
	}
	f.spent[start.Unix()] += f.units
	if f.fails != nil {
		o = f.fails(len(f.calls))
	}
	f.mu.Unlock()
	if err = ctx.Err(); err == nil && f.takes > 0 {
		err = jitter.Pause(ctx, f.takes, nil)
	}
	if err == nil && o.rows == 0 {
		err = o.err
	}
	remote.Observe(ctx, remote.Request{Start: start, Units: f.units, Err: err})
	return o, err
}

func (f *fake) Get(ctx context.Context, part, name string, known remote.Version) (o remote.Object, err error) {
	if _, err := f.request(ctx); err != nil {
		return o, err
	}
	return f.Remote.Get(hidden(ctx), part, name, known)
}

func (f *fake) Commit(ctx context.Context, part string, objects []remote.Object, swap *remote.Swap) (v remote.Version, err error) {
	o, failed := f.request(ctx)
	f.mu.Lock()
	f.stored = nil
	for i := range objects {
		f.stored = append(f.stored, objects[i].Name)
	}
	f.mu.Unlock()
	if failed == nil || o.done {
		v, err = f.Remote.Commit(hidden(ctx), part, objects, swap)
	}
	return v, errors.Join(failed, err)
}

func (f *fake) Delete(ctx context.Context, part string, names []string) error {
	if _, err := f.request(ctx); err != nil {
		return err
	}
	return f.Remote.Delete(hidden(ctx), part, names)
}

func (f *fake) List(ctx context.Context, part string, q remote.Query) iter.Seq2[remote.Object, error] {
	return func(yield func(remote.Object, error) bool) {
		o, err := f.request(ctx)
		rows := 0
		for row := range f.Remote.List(hidden(context.WithoutCancel(ctx)), part, q) {
			switch {
			case err != nil:
			case o.err != nil && rows == o.rows:
				err = o.err
			case f.pages > 0 && rows > 0 && rows%f.pages == 0:
				_, err = f.request(ctx)
			}
			if err != nil {
				break
			}
			if rows++; !yield(row, nil) {
				return
			}
		}
		if err != nil {
			yield(remote.Object{}, err)
		}
	}
}

// hidden returns ctx without those who are told of requests: the fake tells of them itself.
func hidden(ctx context.Context) context.Context {
	return remote.Observed(ctx, func(remote.Request) {})
}

func named(names ...string) (all []remote.Object) {
	for _, name := range names {
		all = append(all, remote.Object{Name: name, Label: []byte("{}")})
	}
	return all
}

func swapOf(name string) *remote.Swap { return &remote.Swap{Object: named(name)[0]} }

// unreachable are troubles of a remote.
func unreachable(kind remote.Kind, after time.Duration) error {
	return &remote.Unreachable{Err: errors.New("the reason"), Kind: kind, After: after}
}

func unknown(err error) error { return fmt.Errorf("%w: %w", remote.ErrUnknown, err) }

// put stores an object, as a call that may be repeated.
func put(ctx context.Context, r remote.Remote) error {
	_, err := r.Commit(ctx, "p", named("a"), nil)
	return err
}

func get(ctx context.Context, r remote.Remote) error {
	_, err := r.Get(ctx, "p", "a", "")
	if errors.Is(err, remote.ErrNotExist) {
		return nil
	}
	return err
}
