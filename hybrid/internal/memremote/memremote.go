// Package memremote is a remote that keeps objects in memory, for tests of code that
// sends and fetches them. It answers at once.
package memremote

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/amplifier-go/sessionstorage/hybrid/remote"
)

// Remote holds objects. The zero Remote is empty. Its methods may be called by several
// goroutines.
type Remote struct {
	// Refuse is called before each request when it is not nil. The request is not made
	// when it returns an error.
	Refuse func() error
	// Now is the remote's clock; nil is the machine's clock.
	Now func() time.Time
	// Version names the version of an object that is stored; nil: no two are the same.
	Version func(o *remote.Object) remote.Version

	mu       sync.Mutex // guards the fields below
	parts    map[string]map[string]*remote.Object
	versions int
}

// Clone returns a remote with the same objects, and no hooks.
func (r *Remote) Clone() *Remote {
	r.mu.Lock()
	defer r.mu.Unlock()
	return &Remote{parts: maps.Clone(r.parts), versions: r.versions} // parts and objects never change
}

// begin counts a request. It returns an error for a refused request.
func (r *Remote) begin(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	start := time.Now()
	var err error
	if r.Refuse != nil {
		err = r.Refuse()
	}
	remote.Observe(ctx, remote.Request{Start: start, Err: err})
	return err
}

func (r *Remote) now() time.Time {
	if r.Now == nil {
		return time.Now().UTC()
	}
	return r.Now().UTC()
}

// Info implements [remote.Remote].
func (r *Remote) Info(context.Context) (remote.Info, error) {
	return remote.Info{Identity: fmt.Sprintf("memory %p", r), Time: r.now(), Batch: remote.Batch{Objects: 100, Bytes: 1800 << 10}}, nil
}

// Get implements [remote.Remote].
func (r *Remote) Get(ctx context.Context, part, name string, known remote.Version) (remote.Object, error) {
	if err := r.begin(ctx); err != nil {
		return remote.Object{}, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	o, ok := r.parts[part][name]
	switch {
	case !ok:
		return remote.Object{}, remote.ErrNotExist
	case o.Version == known:
		return remote.Object{}, remote.ErrUnchanged
	}
	return clone(o), nil
}

func clone(o *remote.Object) remote.Object {
	c := *o
	c.Label, c.Body = bytes.Clone(o.Label), bytes.Clone(o.Body)
	return c
}

// List implements [remote.Remote].
func (r *Remote) List(ctx context.Context, part string, q remote.Query) iter.Seq2[remote.Object, error] {
	return func(yield func(remote.Object, error) bool) {
		if err := r.begin(ctx); err != nil {
			yield(remote.Object{}, err)
			return
		}
		r.mu.Lock()
		objects := r.parts[part]
		r.mu.Unlock()
		for _, name := range slices.Sorted(maps.Keys(objects)) {
			o := objects[name]
			if !strings.HasPrefix(name, q.Prefix) || name <= q.After || o.Time.Before(q.Since) {
				continue
			}
			listed := clone(o)
			listed.Body = nil
			if !yield(listed, nil) {
				return
			}
		}
	}
}

// Commit implements [remote.Remote]. It stores all or nothing.
func (r *Remote) Commit(ctx context.Context, part string, objects []remote.Object, swap *remote.Swap) (remote.Version, error) {
	if err := r.begin(ctx); err != nil {
		return "", err
	}
	if err := remote.CheckSizes(objects, swap); err != nil {
		return "", err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	var was remote.Version
	if swap != nil {
		if o, ok := r.parts[part][swap.Name]; ok {
			was = o.Version
		}
		if was != swap.If {
			return "", remote.ErrChanged
		}
	}
	next := r.change(part)
	for i := range objects {
		r.store(next, &objects[i])
	}
	if swap == nil {
		return "", nil
	}
	v := r.store(next, &swap.Object)
	for _, name := range swap.Remove {
		delete(next, name)
	}
	return v, nil
}

// Delete implements [remote.Remote].
func (r *Remote) Delete(ctx context.Context, part string, names []string) error {
	if err := r.begin(ctx); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	next := r.change(part)
	for _, name := range names {
		delete(next, name)
	}
	return nil
}

// change puts a copy of a part in its place, and returns it.
func (r *Remote) change(part string) map[string]*remote.Object {
	next := maps.Clone(r.parts[part])
	if next == nil {
		next = map[string]*remote.Object{}
	}
	if r.parts == nil {
		r.parts = map[string]map[string]*remote.Object{}
	}
	r.parts[part] = next
	return next
}

func (r *Remote) store(to map[string]*remote.Object, o *remote.Object) remote.Version {
	stored := clone(o)
	r.versions++
	stored.Time, stored.Version = r.now(), remote.Version(strconv.Itoa(r.versions))
	if r.Version != nil {
		stored.Version = r.Version(o)
	}
	to[o.Name] = &stored
	return stored.Version
}
