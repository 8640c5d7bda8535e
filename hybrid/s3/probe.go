package s3

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/amplifier-go/sessionstorage/hybrid/remote"
)

// prove finds out, before the first write, whether the bucket keeps to the conditions of
// writes. The error Is [remote.ErrBlocked] where it does not.
func (r *Remote) prove(ctx context.Context) error {
	if r.proven.Load() {
		return context.Cause(ctx)
	}
	select {
	case r.turn <- struct{}{}:
		defer func() { <-r.turn }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if r.proven.Load() {
		return nil
	}
	err := r.probe(ctx)
	r.proven.Store(err == nil)
	return err
}

// keeps is the note of a bucket that keeps to the conditions of writes.
const keeps = "conditions"

// Note implements [remote.Noter].
func (r *Remote) Note() string {
	if r.proven.Load() {
		return keeps
	}
	return ""
}

// SetNote implements [remote.Noter].
func (r *Remote) SetNote(note string) {
	r.proven.Store(note == keeps)
}

// probes is the part of the keys that probes use. No part of a session has the name.
const probes = "_probe"

// probe writes two objects in ways of which some must be refused, and removes them. A write is
// made again after an answer that leaves open whether it was done: one that must succeed from
// the beginning, with other objects.
func (r *Remote) probe(ctx context.Context) error {
	steps := []struct {
		is      bool // with If-Match and the first version; false: with If-None-Match
		refused bool
		lacks   string // what a service lacks that does otherwise
	}{
		{false, false, "takes no If-None-Match"},
		{false, true, "ignores If-None-Match"},
		{true, true, "ignores If-Match where there is no object"}, // the other one
		{true, false, "takes no If-Match"},
		{true, true, "ignores If-Match"},
	}
	var names []string
	one, wrote, last := "", false, remote.Version("")
	defer func() {
		if !wrote {
			return
		}
		if last != "" { // they are there, also when the caller has gone
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
			defer cancel()
		}
		_ = r.Delete(ctx, probes, names) // a remaining object does no harm
	}()
	for i, tries := 0, 1; i < len(steps); i++ {
		object, step, c, said := one, steps[i], condition{swap: true}, (*statusError)(nil)
		if i == 0 || i == 2 {
			object = rand.Text() + fmt.Sprint("-", 1+i/2)
			names = append(names, object)
		}
		if i == 0 {
			one, last = object, ""
		}
		if step.is {
			c.is = last
		}
		v, err := r.put(ctx, r.key(probes, object), &remote.Object{}, c)
		wrote = wrote || err == nil || errors.Is(err, remote.ErrUnknown)
		switch changed := errors.Is(err, remote.ErrChanged); {
		case errors.Is(err, remote.ErrUnknown) && errors.As(err, &said) && tries < 2*maxAttempts && ctx.Err() == nil:
			select {
			case <-time.After(time.Second / 2):
			case <-ctx.Done(): // the next write finds that
			}
			if tries++; !step.refused {
				i = 0
			}
			i--
		case errors.Is(err, errConflict):
			return &remote.Unreachable{Err: errors.New(err.Error()), Kind: remote.Throttled}
		case errors.Is(err, errNotImplemented), err == nil && step.refused, changed && !step.refused:
			return fmt.Errorf("%w: on PUT, the bucket %s, so two devices could both replace a session: %s", remote.ErrBlocked, step.lacks, advice)
		case err != nil && !changed:
			return known(ctx, err)
		case last == "":
			last = v
		}
	}
	return nil
}

// advice names services whose documentation has both conditions.
const advice = "use a service with conditional writes, as AWS S3, Cloudflare R2, OVHcloud, Scaleway, MinIO or Versity Gateway in their present versions"

// known returns the error of a write of which only the probe needs to know whether it was
// done: nothing of a session was sent.
func known(ctx context.Context, err error) error {
	u, silence := (*remote.Unreachable)(nil), remote.NoAnswer(0)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &u):
		return u
	case errors.As(err, &silence):
		return silence
	}
	return err
}
