package hybrid

import (
	"context"
	"errors"
	"sync"

	"github.com/amplifier-go/sessionstorage/internal/tip"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// errorList joins errors of several goroutines.
type errorList struct {
	mu   sync.Mutex // guards list
	list []error
}

func newErrors() *errorList { return &errorList{} }

func (l *errorList) add(err error) {
	if err == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = append(l.list, err)
}

func (l *errorList) all() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return errors.Join(l.list...)
}

// Sync brings the named sessions into step with the cloud, or all that are
// here: it sends what is new, and takes what other devices added to them. It
// goes on after a session that fails; the error joins what failed, and what
// was not sent stays on the disk for the next time. Without a container it
// does nothing and the error Is [ErrNoContainer].
func (s *Store) Sync(ctx context.Context, ids ...string) (SyncResult, error) {
	var r SyncResult
	if s.engine == nil {
		return r, wrap("sync", "", ErrNoContainer)
	}
	named := len(ids) > 0
	if !named {
		all, err := s.engine.local(ctx)
		if err != nil {
			return r, wrap("sync", "", err)
		}
		ids = all
	}
	var mu sync.Mutex // guards r
	err := s.engine.each(ctx, "sync", ids, want{asked: true, named: named}, func(out outcome, u usage) {
		mu.Lock()
		defer mu.Unlock()
		r.Sessions++
		r.Segments += out.segments
		r.Requests += u.requests
		r.Bytes += u.bytes
		r.RequestUnits += u.charge
		if out.pushed {
			r.Pushed++
		}
		if out.kept != nil {
			r.Conflicts = append(r.Conflicts, *out.kept)
		}
	})
	return r, err
}

// Pull brings the named sessions from the cloud, also such as were removed
// here; without names, all of the project that are not here or have changed,
// but none that was removed here. It also fetches the logs of other devices.
// It sends nothing but a history of this device that would else be lost.
func (s *Store) Pull(ctx context.Context, ids ...string) (PullResult, error) {
	var r PullResult
	if s.engine == nil {
		return r, wrap("pull", "", ErrNoContainer)
	}
	s.engine.budget.reopen()
	named := len(ids) > 0
	if !named {
		all, err := s.engine.changedThere(ctx)
		if err != nil {
			return r, wrap("pull", "", err)
		}
		ids = all
	}
	var mu sync.Mutex // guards r
	err := s.engine.each(ctx, "pull", ids, want{asked: true, named: named, pull: true}, func(out outcome, _ usage) {
		mu.Lock()
		defer mu.Unlock()
		r.Sessions++
		if out.pulled {
			r.Pulled++
		}
		if out.kept != nil {
			r.Conflicts = append(r.Conflicts, *out.kept)
		}
	})
	return r, err
}

// each visits sessions, several at once, and joins what failed.
func (e *engine) each(ctx context.Context, op string, ids []string, w want, done func(outcome, usage)) error {
	e.budget.reopen()
	errs := newErrors()
	e.parallel(ids, func(id string) {
		if err := ctx.Err(); err != nil {
			errs.add(wrap(op, id, err))
			return
		}
		out, used := e.visit(ctx, id, w)
		errs.add(wrap(op, id, out.err))
		done(out, used)
	})
	return errs.all()
}

// local returns the ids of the sessions that are here.
func (e *engine) local(ctx context.Context) ([]string, error) {
	infos, err := e.store.List(ctx, &sessionstore.ListOptions{All: true})
	ids := make([]string, len(infos))
	for i, info := range infos {
		ids[i] = info.ID
	}
	return ids, err
}

// has reports whether a session that is here has all that its entry tells of.
func (e *engine) has(st *state, entry tip.Catalogue) bool {
	t, err := tip.Decode(st.Head.Doc, entry.SID)
	if err != nil || t.Revision < entry.Revision || st.Base == nil {
		return false
	}
	return t.Deleted || *st.Base == t.Transcript.Point() && st.holdsLogs(t, e.dev.id)
}

// changedThere returns the sessions of the project whose tip is newer than
// what is known here.
func (e *engine) changedThere(ctx context.Context) (ids []string, err error) {
	link := e.link()
	for entry, err := range link.entries(ctx, e.uid(), e.opts.Project) {
		if err != nil {
			return nil, err
		}
		st := e.states.load(entry.SID, entry.Session)
		here := e.in.Has(entry.Session)
		if !here && (st.Here || st.Gone || entry.Deleted || e.marks.removed(entry.Session)) || here && e.has(st, entry) {
			continue
		}
		if e.sid(entry.Session) == entry.SID {
			ids = append(ids, entry.Session)
		}
	}
	return ids, nil
}
