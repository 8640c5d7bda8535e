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

// probes is the part of the keys that probes use. No part of a session has the name.
const probes = "_probe"

// probe writes two objects in ways of which some must be refused, and removes them.
func (r *Remote) probe(ctx context.Context) error {
	name := rand.Text()
	one, other := r.key(probes, name+"-1"), r.key(probes, name+"-2")
	wrote, last := false, remote.Version("")
	defer func() {
		if !wrote {
			return
		}
		if last != "" { // they are there, also when the caller has gone
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
			defer cancel()
		}
		_ = r.Delete(ctx, probes, []string{name + "-1", name + "-2"}) // a remaining object does no harm
	}()
	for _, step := range []struct {
		key     *string
		is      bool // with If-Match and the first version; false: with If-None-Match
		refused bool
		lacks   string // what a service lacks that does otherwise
	}{
		{one, false, false, "takes no If-None-Match"},
		{one, false, true, "ignores If-None-Match"},
		{other, true, true, "ignores If-Match where there is no object"},
		{one, true, false, "takes no If-Match"},
		{one, true, true, "ignores If-Match"},
	} {
		c := condition{swap: true}
		if step.is {
			c.is = last
		}
		v, err := r.put(ctx, step.key, &remote.Object{}, c)
		wrote = wrote || err == nil || errors.Is(err, remote.ErrUnknown)
		switch changed := errors.Is(err, remote.ErrChanged); {
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
