package resync

import (
	"context"
	"errors"
	"fmt"

	"github.com/amplifier-go/sessionstorage/internal/cosmos"
	"github.com/amplifier-go/sessionstorage/internal/gc"
	"github.com/amplifier-go/sessionstorage/internal/jitter"
	"github.com/amplifier-go/sessionstorage/internal/segment"
)

// Resync writes sessions anew, one after the other. The error Is [gc.ErrAbsent] when the
// cloud has no such session, and [cosmos.ErrContended] when other devices changed them all
// the time.
func (r *Resyncer) Resync(ctx context.Context, sessions []string) error {
	for try := 1; ; try++ {
		err := r.round(ctx, sessions)
		if errors.Is(err, errTooBig) && r.cap != minCap {
			r.cap = max(max(r.cap, segment.Capacity)/2, minCap)
			if r.cap > segment.Capacity/2 {
				r.cap = segment.Capacity / 2
			}
			err = fmt.Errorf("%w: %w", cosmos.ErrLost, err)
		}
		if !errors.Is(err, cosmos.ErrLost) {
			return err
		}
		if try == maxRounds {
			return fmt.Errorf("%w: %w", cosmos.ErrContended, err)
		}
		if err := jitter.Pause(ctx, r.Random.Wait(jitter.FirstBackoff/8<<try), nil); err != nil {
			return err
		}
	}
}

func (r *Resyncer) round(ctx context.Context, sessions []string) error {
	all, err := r.begin(ctx, sessions)
	if err != nil {
		return err
	}
	for _, m := range all {
		for _, step := range []func(context.Context, *gc.Member) error{r.write, r.enter, r.sweep} {
			if err := step(ctx, m); err != nil {
				return m.Named(err)
			}
		}
	}
	return nil
}

// begin reads the sessions, and requires that all may be written anew.
func (r *Resyncer) begin(ctx context.Context, sessions []string) ([]*gc.Member, error) {
	r.kept = map[string]bool{}
	all, err := r.Read(ctx, sessions)
	if err != nil {
		return nil, err
	}
	for _, m := range all {
		if m.Head == nil {
			return nil, m.Named(gc.ErrAbsent)
		}
		if err := r.Allowed(m.Head); err != nil {
			return nil, m.Named(err)
		}
	}
	return all, nil
}

// enter writes the entry of a session.
func (r *Resyncer) enter(ctx context.Context, m *gc.Member) error {
	if m.Head.Deleted || m.Entry != nil && m.Entry.Revision >= m.Head.Revision {
		return nil
	}
	entry := m.Head.Catalogue(r.Identity.UID(), m.Head.Name())
	last := cosmos.ETag("")
	if m.Entry != nil {
		last = m.Entry.ETag
	}
	if r.cost != nil {
		return r.cost.entry(&entry, m.Entry != nil)
	}
	if _, err := cosmos.WriteEntry(ctx, r.Reader, &entry, last); err != nil {
		return fmt.Errorf("write catalogue: %w", err)
	}
	return nil
}

// sweep removes what no head leads to.
func (r *Resyncer) sweep(ctx context.Context, m *gc.Member) error {
	if m.Head.Deleted {
		return nil
	}
	return gc.Sweep(ctx, r.swept(m))
}

func (r *Resyncer) swept(m *gc.Member) *gc.Session {
	return &gc.Session{SID: m.SID, Reader: r.Reader, Device: r.Writer.Device, Random: r.Random}
}
