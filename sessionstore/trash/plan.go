package trash

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// DefaultQuiet is [Options.Quiet] where that is 0.
const DefaultQuiet = 10 * time.Minute

// Options control a removal. A nil *Options is the zero value.
type Options struct {
	// Reason is kept in the receipt, for people.
	Reason string

	// Descendants takes the sessions along that descend from the named ones.
	Descendants bool

	// Allow lists the kinds of obstacles that do not keep a session. Only
	// [Recent], [Unsynced] and [Parent] can be allowed.
	Allow []Kind

	// Quiet is the time for which a session must not have been written; a
	// session that was written later is [Recent]. Tools that hold no lock show
	// in no other way that they run a session. 0 means [DefaultQuiet]; with a
	// negative time no session is recent.
	Quiet time.Duration

	// Unsynced returns the sessions among ids of which the cloud lacks a part, each with a
	// text that names the part. Nil means that nothing is synced.
	Unsynced func(ctx context.Context, ids []string) (map[string]string, error)

	// Progress is called after each session that was looked at or moved. Nil
	// is allowed.
	Progress func(done, total int)
}

func (o *Options) progress(done, total int) {
	if o.Progress != nil {
		o.Progress(done, total)
	}
}

// Plan is a removal before it is carried out. It changes nothing before [Plan.Delete].
type Plan struct {
	Remove []Session // these go
	Keep   []Session // these stay, each with its obstacles

	st   *sessionstore.Store
	opts Options
}

// NewPlan plans the removal of the sessions ids of st. The error Is
// [sessionstore.ErrNotFound] when one of them does not exist, and
// [sessionstore.ErrInvalidID] when an id is none.
func NewPlan(ctx context.Context, st *sessionstore.Store, ids []string, opts *Options) (*Plan, error) {
	p := &Plan{st: st}
	if opts != nil {
		p.opts = *opts
	}
	children, err := relations(ctx, st)
	if err != nil {
		return nil, err
	}
	if p.opts.Descendants {
		ids = children.descendants(ids)
	}
	unsynced := map[string]string{}
	if p.opts.Unsynced != nil {
		if unsynced, err = p.opts.Unsynced(ctx, ids); err != nil {
			return nil, fmt.Errorf("ask what is not synced: %w", err)
		}
	}
	sessions := make([]Session, 0, len(ids))
	for i, id := range ids {
		s, err := examine(ctx, st, id, cmp.Or(p.opts.Quiet, DefaultQuiet))
		if err != nil {
			return nil, fmt.Errorf("look at session %q: %w", id, err)
		}
		if text, ok := unsynced[id]; ok {
			s.obstruct(Unsynced, text)
		}
		sessions = append(sessions, s)
		p.opts.progress(i+1, len(ids))
	}
	p.Remove, p.Keep = decide(sessions, children, p.opts.Allow)
	return p, nil
}
