package projects

import (
	"context"
	"iter"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// Summary is a session of one of several projects.
type Summary struct {
	Project string // its name, as [Projects.Store] takes it
	sessionstore.Summary
}

// Summaries yields a summary of each session of all projects, in the order of Changed
// over all of them; o.Limit counts all of them together. See
// [sessionstore.Store.Summaries]. Rows of sessions that cannot be read have the Project,
// too. After them comes a row with an error for each project that cannot be read, which
// has only Project. The error without a Project comes last.
func (p *Projects) Summaries(ctx context.Context, o *sessionstore.ListOptions) iter.Seq2[Summary, error] {
	return func(yield func(Summary, error) bool) {
		slugs, err := p.Slugs(ctx)
		if err != nil {
			yield(Summary{}, err)
			return
		}
		err = core.Summaries(ctx, slugs, p.borrow, o, func(slug string, s sessionstore.Summary, err error) bool {
			return yield(Summary{slug, s}, err)
		})
		if err != nil && p.opts != nil && p.opts.Logger != nil {
			p.opts.Logger.Warn("project not closed", "err", err)
		}
	}
}

// borrow returns the open store of a project, or a new store, which the caller must
// close.
func (p *Projects) borrow(slug string) (st *sessionstore.Store, own bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, false, errClosed
	}
	if st := p.stores[slug]; st != nil {
		return st, false, nil
	}
	st, err = core.Open(p.sessions(slug), p.opts, p.hooks)
	return st, true, err
}
