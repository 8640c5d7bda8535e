package hybrid

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

// UpkeepOptions say what [Store.Upkeep] may do. The zero value, and nil, are
// the defaults.
type UpkeepOptions struct {
	Grace  time.Duration // age by the server's clock at which what nothing leads to is removed; 0: 7 days
	Former time.Duration // for how long former tips can be restored; 0: 30 days; negative: for ever
	Plan   bool          // only tell what there is to do
	All    bool          // also sessions at which nothing happened since this device last looked
}

const (
	// defaultGrace is more than any reader needs for what it has listed.
	defaultGrace = 7 * 24 * time.Hour
	// defaultFormer is how long a rewind can be taken back.
	defaultFormer = 30 * 24 * time.Hour
	// firstGrace is the least age at which documents of a session without a
	// tip are removed: they may be of a first upload that is under way, which
	// gives up after [staleAfter].
	firstGrace = 7 * 24 * time.Hour
	staleAfter = 3 * 24 * time.Hour
)

func (o *UpkeepOptions) filled() UpkeepOptions {
	f := UpkeepOptions{}
	if o != nil {
		f = *o
	}
	if f.Grace <= 0 {
		f.Grace = defaultGrace
	}
	if f.Former == 0 {
		f.Former = defaultFormer
	}
	return f
}

// UpkeepResult is what [Store.Upkeep] did, or would do.
type UpkeepResult struct {
	Sessions int // looked at
	Merged   int // small segments that larger ones stand for now
	Segments int // the larger ones
	Former   int // former tips that were given up
	Removed  int // documents, also entries of the catalogue
	Waiting  int // documents that nothing leads to, but which are too young

	Requests     int
	RequestUnits float64

	due time.Time // when there is more to do though nothing changes; zero: never
}

func (r *UpkeepResult) add(o UpkeepResult) {
	r.Sessions += o.Sessions
	r.Merged += o.Merged
	r.Segments += o.Segments
	r.Former += o.Former
	r.Removed += o.Removed
	r.Waiting += o.Waiting
	r.Requests += o.Requests
	r.RequestUnits += o.RequestUnits
}

// wait notes that there is something to do at a time.
func (r *UpkeepResult) wait(until time.Time) {
	if r.due.IsZero() || until.Before(r.due) {
		r.due = until
	}
}

// Upkeep keeps the copy of the named sessions small, or of all of the project
// at which something happened since this device last did so: runs of small
// segments become larger ones; former tips are given up after their time; and
// what nothing leads to is removed once it is older than the grace time:
// segments that larger ones replaced, uploads that never got a tip, what a
// deletion left behind, entries of the catalogue without a session. What a
// branch or a former tip needs, and the tombstone of a deleted session, stay.
//
// It may be called at any time, by several devices at once and beside writers,
// and it may be interrupted anywhere: each step is bound to the tip that it was
// decided by. It goes on after a session that fails; the error joins what
// failed. It is never done by itself: once a day by one device is plenty.
func (s *Store) Upkeep(ctx context.Context, o *UpkeepOptions, ids ...string) (UpkeepResult, error) {
	var sum UpkeepResult
	if s.engine == nil {
		return sum, wrap("upkeep", "", ErrNoContainer)
	}
	e := s.engine
	e.budget.reopen()
	options := o.filled()
	j := e.readJournal(options)
	todo, err := e.upkeepList(ctx, options, j, ids, &sum)
	if err != nil {
		return sum, wrap("upkeep", "", err)
	}
	var mu sync.Mutex // guards sum and j
	errs := newErrors()
	e.parallel(slices.Sorted(maps.Keys(todo)), func(id string) {
		if err := ctx.Err(); err != nil {
			errs.add(wrap("upkeep", id, err))
			return
		}
		r, err := e.upkeep(ctx, id, options, todo[id])
		errs.add(wrap("upkeep", id, err))
		mu.Lock()
		defer mu.Unlock()
		sum.add(r)
		if err == nil && !options.Plan && todo[id] != nil {
			j.note(e.sid(id), todo[id].Revision, r.due)
		}
	})
	if !options.Plan {
		errs.add(wrap("upkeep", "", e.writeJournal(j)))
	}
	return sum, errs.all()
}

// upkeepList returns the sessions to look at, with their entries of the
// catalogue, which are nil for those that were named.
func (e *engine) upkeepList(ctx context.Context, o UpkeepOptions, j *journal, ids []string, sum *UpkeepResult) (map[string]*listed, error) {
	todo := map[string]*listed{}
	for _, id := range ids {
		todo[id] = nil
	}
	if len(ids) > 0 {
		return todo, nil
	}
	link := e.link()
	defer func() {
		sum.Requests, sum.RequestUnits = sum.Requests+link.used.requests, sum.RequestUnits+link.used.charge
	}()
	seen := map[string]bool{}
	for entry, err := range link.listing(ctx, e.uid(), e.opts.Project) {
		if err != nil {
			return nil, err
		}
		seen[entry.SID] = true
		if e.sid(entry.Session) == entry.SID && (o.All || !j.settled(entry.SID, entry.Revision, link.serverTime())) {
			todo[entry.Session] = &entry
		}
	}
	maps.DeleteFunc(j.Sessions, func(sid string, _ entry) bool { return !seen[sid] })
	return todo, nil
}

// upkeep looks after one session; entry may be nil.
func (e *engine) upkeep(ctx context.Context, id string, o UpkeepOptions, entry *listed) (r UpkeepResult, err error) {
	leave, err := e.enter(ctx, id)
	if err != nil {
		return r, err
	}
	defer leave()
	v := e.begin(id, want{asked: true, named: true})
	u := &keeper{visit: v, options: o, entry: entry}
	u.sum.Sessions = 1
	for try := 1; ; try++ {
		if err = u.round(ctx); !errors.Is(err, errLost) || try == rounds {
			break
		}
		if err := pause(ctx, v.chance.wait(firstBackoff/8<<try), nil); err != nil {
			return u.sum, err
		}
	}
	if errors.Is(err, errLost) {
		err = fmt.Errorf("%w: %w", ErrContended, err)
	}
	if v.st.stored != nil { // the tip as it is now saves a read
		err = errors.Join(err, v.states.save(v.sid, v.st))
	}
	u.sum.Requests, u.sum.RequestUnits = v.link.used.requests, v.link.used.charge
	return u.sum, err
}

// keeper looks after one session.
type keeper struct {
	*visit
	options UpkeepOptions
	entry   *listed
	sum     UpkeepResult
}

// round does all of it, and begins with what is there.
func (u *keeper) round(ctx context.Context) error {
	u.sum.Waiting, u.sum.due = 0, time.Time{}
	if u.options.Plan {
		u.sum = UpkeepResult{Sessions: 1}
	}
	if err := u.readTip(ctx); err != nil {
		return err
	}
	switch {
	case u.tip == nil || u.etag == "":
		return u.clearLeftovers(ctx)
	case u.tip.Deleted:
		return u.clearDeleted(ctx)
	}
	if err := u.dropFormer(ctx); err != nil {
		return err
	}
	s, err := u.take(ctx)
	if err != nil {
		return err
	}
	damage := u.compact(ctx, s)
	if damage != nil && !errors.Is(damage, ErrDamaged) {
		return damage
	}
	return errors.Join(damage, u.collect(ctx, s))
}
