package hybrid

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/gc"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/remoteread"
)

// PruneOptions say what [Store.Prune] may do. The zero value, and nil, are
// the defaults.
type PruneOptions struct {
	Grace            time.Duration // age by the server's clock at which what nothing leads to is removed; 0: 7 days
	HistoryRetention time.Duration // for how long the newest 1,000 former heads can be restored; 0: 30 days; negative: for ever
	Plan             bool          // only tell what there is to do
	All              bool          // also sessions at which nothing happened since this device pruned last
}

const (
	// defaultGrace is more than any reader needs for what it has listed.
	defaultGrace = 7 * 24 * time.Hour
	// defaultRetention is how long a rewind can be taken back.
	defaultRetention = 30 * 24 * time.Hour
)

// forGC returns the options, with the defaults for what is not set.
func (o *PruneOptions) forGC() gc.Options {
	f := gc.Options{Grace: o.Grace, Retention: o.HistoryRetention, Plan: o.Plan}
	if f.Grace <= 0 {
		f.Grace = defaultGrace
	}
	if f.Retention == 0 {
		f.Retention = defaultRetention
	}
	return f
}

// PruneResult is what [Store.Prune] did, or would do.
type PruneResult struct {
	Sessions int // inspected
	Merged   int // small segments that larger ones replaced
	Segments int // the larger ones
	Expired  int // former heads, and logs that were cut, that were given up
	Removed  int // documents, also entries of the catalogue
	Waiting  int // documents that nothing leads to, but which are too young

	Requests     int
	RequestUnits float64
}

// add counts what was done about one session, and what that cost. One that was not
// asked for, as after the end of the context, was not inspected.
func (r *PruneResult) add(o gc.Result, u remoteread.Usage) {
	if u.Requests > 0 {
		r.Sessions++
	}
	r.Merged += o.Merged
	r.Segments += o.Segments
	r.Expired += o.Expired
	r.Removed += o.Removed
	r.Waiting += o.Waiting
	r.spend(u)
}

func (r *PruneResult) spend(u remoteread.Usage) {
	r.Requests += u.Requests
	r.RequestUnits += u.Units
}

// Prune keeps the copy of sessions small: of those that are named, or without names of
// all of the project that changed since this device pruned last. It makes larger
// segments of runs of small ones, gives up former heads after their time, and removes
// what nothing leads to once that is older than the grace time: segments that larger
// ones replaced, uploads that never got a head, what a deletion left behind, entries of
// the catalogue without a session. What a branch or a former head needs, and the
// tombstone of a deleted session, stay.
//
// It may be called at any time, by several devices at once and beside writers, and it
// may be interrupted anywhere: each step is bound to the head that it was decided by.
// It goes on after a session that fails; the error joins what failed. No store prunes
// by itself. One device that does it once a day is enough.
func (s *Store) Prune(ctx context.Context, o *PruneOptions, ids ...string) (PruneResult, error) {
	var sum PruneResult
	if s.engine == nil {
		return sum, wrap("prune", "", ErrNoRemote)
	}
	if o == nil {
		o = &PruneOptions{}
	}
	e, options := s.engine, o.forGC()
	ctx = e.asked(ctx)
	j := e.readJournal(options)
	todo, err := e.pruneList(ctx, j, o.All, ids, &sum)
	if err != nil {
		return sum, wrap("prune", "", err)
	}
	var mu sync.Mutex // guards sum and j
	errs := newErrors()
	e.parallel(slices.Sorted(maps.Keys(todo)), func(id string) {
		r, used, err := e.prune(ctx, id, options, todo[id])
		errs.add(wrap("prune", id, err))
		if r.Removed > 0 && !options.Plan {
			s.worker.retryFull(id)
		}
		mu.Lock()
		defer mu.Unlock()
		sum.add(r, used)
		if err == nil && !options.Plan && todo[id] != nil {
			j.Note(todo[id], r.Due)
		}
	})
	if !options.Plan {
		errs.add(wrap("prune", "", e.writeJournal(j)))
	}
	return sum, errs.all()
}

// pruneList returns the sessions to prune, with their entries of the catalogue,
// which are nil for those that were named.
func (e *engine) pruneList(ctx context.Context, j *gc.Journal, all bool, ids []string, sum *PruneResult) (map[string]*remoteread.Entry, error) {
	if len(ids) == 0 {
		link := e.Connect()
		defer func() { sum.spend(link.Usage()) }()
		return j.Due(ctx, link, e.Identity, all)
	}
	todo := map[string]*remoteread.Entry{}
	for _, id := range ids {
		todo[id] = nil
	}
	return todo, nil
}

// prune prunes one session. It keeps the head as it is then, which saves the next
// sync a read. entry may be nil.
func (e *engine) prune(ctx context.Context, id string, o gc.Options, entry *remoteread.Entry) (gc.Result, remoteread.Usage, error) {
	if err := ctx.Err(); err != nil {
		return gc.Result{}, remoteread.Usage{}, err
	}
	leave, err := e.Enter(ctx, id)
	if err != nil {
		return gc.Result{}, remoteread.Usage{}, err
	}
	defer leave()
	sid := e.SID(id)
	st := e.States.Load(sid, id)
	link := e.Connect()
	s := &gc.Session{SID: sid, Reader: link, Head: st.Head, Entry: entry, Device: e.Device.ID, Random: e.Random}
	r, err := gc.Prune(ctx, s, o)
	if !st.IsNew() && s.Head.Version != st.Head.Version {
		st.See(sid, s.Head.Head(sid), s.Head)
		err = errors.Join(err, e.States.Save(sid, st))
	}
	return r, link.Usage(), err
}

const journalFile = "prune.json"

func (e *engine) readJournal(o gc.Options) *gc.Journal {
	text, _ := e.States.Read(journalFile) // without one all sessions are pruned once more
	return gc.ReadJournal(text, o)
}

func (e *engine) writeJournal(j *gc.Journal) error {
	text, err := j.Encode()
	if err != nil {
		return err
	}
	return e.States.Write(journalFile, text)
}
