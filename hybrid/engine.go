package hybrid

import (
	"context"
	"errors"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/inuse"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/remoteread"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/syncer"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/throttle"
)

// engine syncs the sessions of one directory.
type engine struct {
	*syncer.Syncer // each session by itself
	opts           Options
	budget         *throttle.Budget
	address        string // the identity that the remote tells; States.Remote is the one under which it is known here
	rulesUnread    error  // the reason why Options.Private of earlier stores is not known; nil: it is known

	checked time.Time   // when the catalogue was last found to be the known one; guarded by Enter("")
	doubted atomic.Bool // a sign was seen that it no longer is
	void    atomic.Bool // it is another one, and no file says so yet
	noted   atomic.Bool // the note of the remote is recorded

	reporting sync.Mutex // held while OnStatus runs, so that it runs once at a time
	mu        sync.Mutex // guards the fields below
	last      map[string]lastStatus
	listed    time.Time // when a Sync read the catalogue
	saved     time.Time // when the known state was saved, or the store was opened
}

// lastStatus is the status of a session after its last sync.
type lastStatus struct {
	Status
	set bool // the background has set the time of the next one: a write does not change it
}

// syncOne syncs a session, and records and reports its status. It waits for other syncs
// of the session.
func (e *engine) syncOne(ctx context.Context, id string, w syncer.Options) (syncer.Result, remoteread.Usage) {
	leave, err := e.Enter(ctx, id)
	if err != nil {
		return syncer.Result{Err: err}, remoteread.Usage{}
	}
	defer leave()
	start := time.Now()
	out, used := e.Syncer.Sync(ctx, id, w)
	did := Outcome(out.Did)
	if last, _ := e.lastOf(id); did == Diverged && last.Last == Diverged && !out.Conflict && !out.Pushed && !out.Pulled {
		did = Nothing // the branch is stored and this was reported: it waits
	}
	e.observe(ctx, SessionSync{
		Session: id, State: State(out.State), Did: did, Start: start, Pull: out.Pulls,
		Segments: out.Segments, Requests: used.Requests, Bytes: used.Bytes, RequestUnits: used.Units, Err: out.Err,
	})
	now := Status{SessionID: id, State: State(out.State), Local: int(out.Local), Remote: int(out.Remote), Err: out.Err}
	switch {
	case errors.Is(now.Err, context.Canceled): // the status before is all that is known
		return out, used
	case now.Err != nil:
		now.NextTry = e.budget.Opens()
	case now.State == Behind:
		now.Err, now.NextTry = waitsFor(&out), syncer.Until(out.Why)
	case now.State == Local, now.State == KeptLate:
		now = e.statusKept(ctx, id)
	}
	e.report(now, did)
	return out, used
}

// vanished doubts that the catalogue is the known one, and forgets the note of the remote, but for
// one that was found out after another session vanished. Where the entry that shows which
// catalogue it is would be the next to be written, it makes no entry show that.
func (e *engine) vanished(ctx context.Context, sid string) {
	if at := e.Table.Cursor(); at.Last == sid {
		at.Revision = math.MaxInt64
		e.Table.Advance(nil, at)
		e.saveNow(ctx)
	}
	if !e.doubted.Swap(true) || e.noted.Load() {
		e.forgetNote()
	}
}

// report records the status of a session after a sync, whatever the sync did, and calls
// OnStatus when the status is new.
func (e *engine) report(s Status, did Outcome) {
	e.mu.Lock()
	last, known := e.last[s.SessionID]
	if s.Last, s.LastAt = last.Last, last.LastAt; did != Nothing {
		s.Last, s.LastAt = did, time.Now()
	}
	e.last[s.SessionID] = lastStatus{Status: s}
	e.mu.Unlock()
	same := known && did == Nothing && last.State == s.State && last.Local == s.Local && last.Remote == s.Remote && errorText(last.Err) == errorText(s.Err)
	if e.opts.OnStatus != nil && !same {
		e.reporting.Lock()
		defer e.reporting.Unlock()
		e.opts.OnStatus(s)
	}
}

// triesAt notes when a session that failed is tried again.
func (e *engine) triesAt(id string, at time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if s, ok := e.last[id]; ok && s.Err != nil {
		s.NextTry, s.set = at, true
		e.last[id] = s
	}
}

func (e *engine) lastOf(id string) (lastStatus, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	s, ok := e.last[id]
	return s, ok
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// join announces this store to the other programs of the device. Where that fails, they
// wait ten minutes after each of its writes.
func (e *engine) join() {
	dir, err := e.Core.Bookkeeping(programsDir)
	if err == nil {
		e.Programs, err = inuse.Begin(dir, e.Random.Name(8))
	}
	if err != nil {
		e.Log.Warn("the use of sessions is not announced to other programs", "err", err)
	}
}

const programsDir = "processes"

// leave ends the announcement of join.
func (e *engine) leave() error {
	if e.Programs == nil {
		return nil
	}
	return e.Programs.End(e.Dirty.Wrote())
}

// uses announces to the other programs of the device that this one uses a session, and
// whether it wrote the transcript.
func (e *engine) uses(id string, wrote bool) {
	if e.Programs == nil {
		return
	}
	announce := e.Programs.Use
	if wrote {
		announce = e.Programs.Wrote
	}
	if err := announce(id); err != nil {
		e.Log.Warn("the use of a session is not announced to other programs", "session", id, "err", err)
	}
}

// Limits bound the request units that stores spend. Stores that are opened with the same
// Limits share them, and also their view of the remote: how fast it takes requests, and
// when it may be asked again. A request is made as long as the limit has anything
// left beside the expected cost of the requests under way. So the last request may exceed
// the limit, and so may requests that cost more than expected. The fields are set before
// the first store is opened.
type Limits struct {
	RequestUnitsPerSecond float64       // 0: no limit; Open refuses another limit where the remote counts no units, as all but package cosmos
	FirstAnswer           time.Duration // how long Refresh, and a call whose context has no deadline, waits for the remote's first answer, not for all that it fetches; 0: 5 seconds, negative: as long as the context

	once   sync.Once
	budget *throttle.Budget
}

func (l *Limits) shared() *throttle.Budget {
	l.once.Do(func() { l.budget = throttle.NewBudget(l.RequestUnitsPerSecond, nil) })
	return l.budget
}
