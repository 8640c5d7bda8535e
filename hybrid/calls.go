package hybrid

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/head"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/remoteread"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/replica"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/syncer"
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

// Sync brings the named sessions into step with the remote, or all sessions of the
// directory: it sends the lines that the remote lacks, and takes those that other devices
// added. Of sessions that are not here it brings the named ones, and counts the others; the
// result also names the sessions that wait. Without names it asks the remote for the head of
// the six sessions that changed last, and relies on the catalogue for the rest and for the
// count: a device may enter a session there half a minute late, and where six or fewer are
// here it is read once in a Background.Interval. Sync goes on after a session that fails;
// the error joins the failures, and lines that were not sent stay on the disk for the next
// time. A session that is held back ([ErrHeld]) is a failure only where it is named: else the
// result names it, with the reason, and its state is [Blocked]. Without a remote the error Is
// [ErrNoRemote]. It Is [ErrUnreachable] when the remote gives no first answer before ctx ends,
// or, where ctx has no deadline, within Limits.FirstAnswer. For 30 seconds after that, all calls
// return it at once.
func (s *Store) Sync(ctx context.Context, ids ...string) (SyncResult, error) {
	if s.engine == nil {
		return SyncResult{}, wrap("sync", "", ErrNoRemote)
	}
	ctx = s.engine.asked(ctx)
	if len(ids) > 0 {
		return s.engine.each(ctx, "sync", ids, always(syncer.Options{Mode: syncer.Asked, Named: true, Look: true}))
	}
	p, err := s.engine.planSync(ctx)
	if err != nil {
		return SyncResult{}, wrap("sync", "", err)
	}
	r, err := s.engine.each(ctx, "sync", p.ids, p.want)
	if !p.listed && s.engine.budget.Away() == nil {
		p.usage, p.err = s.engine.listForSync(ctx)
	}
	if err == nil && p.listed { // else it serves the count alone
		err = wrap("sync", "", p.err)
	}
	r.add("", syncer.Result{}, p.usage)
	r.Sessions, r.Elsewhere, r.Blocked = r.Sessions+p.same, s.engine.elsewhere(), s.engine.exceptions()
	return r, err
}

// listForSync reads the catalogue, unless a Sync did in the last Interval.
func (e *engine) listForSync(ctx context.Context) (used remoteread.Usage, err error) {
	e.mu.Lock()
	fresh := time.Since(e.listed) < e.opts.Background.Interval
	e.mu.Unlock()
	if fresh {
		return used, nil
	}
	if used, err = e.readCatalogue(ctx); err == nil {
		e.mu.Lock()
		e.listed = time.Now()
		e.mu.Unlock()
	}
	return used, err
}

// elsewhere returns the number of sessions that the remote has, by its catalogue, and that
// were never here.
func (e *engine) elsewhere() (n int) {
	for entry := range e.Table.Entries() {
		if entry.Deleted || e.SID(entry.Session) != entry.SID || e.Core.Has(entry.Session) || e.stays(&entry) != nil {
			continue
		}
		if !e.WasHere(entry.Session, e.States.Load(entry.SID, entry.Session)) {
			n++
		}
	}
	return n
}

// always returns a want for all sessions.
func always(w syncer.Options) func(string) syncer.Options {
	return func(string) syncer.Options { return w }
}

// askedEach is the number of most recently changed sessions whose heads Sync asks the
// remote for one by one. For the others it relies on the catalogue, in which a device may
// enter a session half a minute late.
const askedEach = 6

// syncPlan lists the sessions that a Sync of all sessions has to sync.
type syncPlan struct {
	ids    []string
	want   func(id string) syncer.Options
	same   int  // sessions that need no sync
	listed bool // the catalogue was read, with what follows
	usage  remoteread.Usage
	err    error // the reason why the catalogue is not known
}

// planSync returns the sessions to sync: the sessions whose files may have changed, those
// that have more in the remote, and the most recently changed ones.
func (e *engine) planSync(ctx context.Context) (p syncPlan, err error) {
	f, err := e.scanAll(ctx)
	if err != nil {
		return p, err
	}
	if p.listed = len(f.sessions) > askedEach || len(f.sessions) == 0; p.listed {
		if p.usage, p.err = e.readCatalogue(ctx); p.err != nil && (e.budget.Away() != nil || len(f.sessions) == 0 || e.void.Load()) {
			return p, p.err
		}
	}
	current := map[string]bool{}
	for i, at := range f.sessions {
		newer, entered := false, false
		if i >= askedEach && p.err == nil {
			newer, entered = e.catalogueOf(at.Name)
		}
		current[at.Name] = entered && !newer
		if f.changed[at.Name] || !current[at.Name] {
			p.ids = append(p.ids, at.Name)
		} else {
			p.same++
		}
	}
	p.want = func(id string) syncer.Options { return syncer.Options{Mode: syncer.Asked, Look: !current[id]} }
	return p, nil
}

// Pull brings the named sessions from the remote, also sessions that were removed here;
// without names, all sessions of the project that are not here or have changed, except
// those that were removed here, and those whose ids may not come from outside: the result
// names these as Blocked, and a call that names one fails with [sessionstore.ErrInvalidID].
// It also fetches the logs of other devices. It sends nothing but a history of this device that
// would be lost otherwise. It goes on after a session that fails; the result names the sessions
// that were not brought, with the reason, and the error joins the failures, but for unnamed
// sessions that are held back ([ErrHeld]). When a log or small file of a session is damaged in
// the remote, Pull brings the rest; the result names the session, and the next Pull tries again.
func (s *Store) Pull(ctx context.Context, ids ...string) (PullResult, error) {
	if s.engine == nil {
		return PullResult{}, wrap("pull", "", ErrNoRemote)
	}
	ctx = s.engine.asked(ctx)
	named := len(ids) > 0
	if !named {
		all, err := s.engine.changedThere(ctx)
		if err != nil {
			return PullResult{}, wrap("pull", "", err)
		}
		ids = all
	}
	r, err := s.engine.each(ctx, "pull", ids, always(syncer.Options{Mode: syncer.Fetch, Named: named}))
	if !named {
		r.Blocked = s.engine.exceptions()
	}
	return r, err
}

// asked returns ctx for a call of a program. Such a call finds out by itself whether the
// remote is back, and its caller waits: until the deadline of ctx where it has one.
func (e *engine) asked(ctx context.Context) context.Context {
	e.budget.Reopen()
	if end, bounded := ctx.Deadline(); bounded {
		return e.budget.Within(ctx, time.Until(end)+time.Second) // ctx ends first
	}
	return e.soon(ctx)
}

// soon returns ctx for requests whose first answer must come within Limits.FirstAnswer.
func (e *engine) soon(ctx context.Context) context.Context {
	wait := e.opts.Limits.FirstAnswer
	switch {
	case wait < 0:
		return ctx
	case wait == 0:
		wait = 5 * time.Second
	}
	return e.budget.Within(ctx, wait)
}

// each syncs sessions, several at once, adds up the results and joins the errors. Once the
// remote is away, it skips the remaining sessions.
func (e *engine) each(ctx context.Context, op string, ids []string, w func(id string) syncer.Options) (r SyncResult, err error) {
	var mu sync.Mutex // guards r and synced
	synced := false   // a session was, with the remote
	errs := newErrors()
	var left sync.Once
	e.parallel(ids, func(id string) {
		out, used := syncer.Result{Err: ctx.Err()}, remoteread.Usage{}
		if away := e.budget.Away(); away != nil && out.Err == nil {
			out.Err = away
			left.Do(func() { errs.add(wrap(op, single(ids), away)) })
		} else {
			of := w(id)
			if out.Err == nil {
				out, used = e.syncOne(ctx, id, of)
			}
			if of.Named || !errors.Is(out.Err, ErrHeld) {
				errs.add(wrap(op, id, out.Err))
			}
		}
		if last, _ := e.lastOf(id); out.Err == nil && (out.State == syncer.Local || out.State == syncer.KeptLate) {
			out.State, out.Why = syncer.State(last.State), last.Err
		}
		mu.Lock()
		defer mu.Unlock()
		r.add(id, out, used)
		synced = synced || out.Asking && out.Err == nil
	})
	e.save(ctx)
	r.sort()
	if err = errs.all(); err == nil || synced {
		e.succeeded()
	}
	return r, err
}

// has reports whether a session of this directory has everything that its entry records.
func (e *engine) has(st *replica.SessionState, entry *replica.Entry) bool {
	t, err := head.Decode(st.Head.Doc, entry.SID)
	if err != nil || t.Revision < entry.Revision || st.Base == nil || st.Lacks {
		return false
	}
	return t.Deleted || *st.Base == t.Transcript.Point() && st.HasLogs(t, e.Device.ID)
}

// changedThere returns the sessions of the project whose head in the remote is newer than
// the head that this device knows.
func (e *engine) changedThere(ctx context.Context) (ids []string, err error) {
	if _, err := e.readCatalogue(ctx); err != nil {
		return nil, err
	}
	for entry := range e.Table.Entries() {
		if e.stays(&entry) != nil {
			continue
		}
		s, known := e.Table.Session(entry.Session)
		if known && s.State == replica.InStep && s.Logs && s.Revision >= entry.Revision || e.SID(entry.Session) != entry.SID {
			continue
		}
		st := e.States.Load(entry.SID, entry.Session)
		here := e.Core.Has(entry.Session)
		if !here && (entry.Deleted || e.WasHere(entry.Session, st)) || here && e.has(st, &entry) {
			continue
		}
		ids = append(ids, entry.Session)
	}
	slices.Sort(ids)
	return ids, nil
}
