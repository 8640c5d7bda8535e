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

// PruneOptions are the options of [Store.Prune]. The zero value, and nil, are the
// defaults.
type PruneOptions struct {
	Grace            time.Duration // age by the server's clock at which documents that nothing leads to are removed; 0: 7 days
	HistoryRetention time.Duration // for how long the newest 1,000 former heads can be restored; 0: 30 days; negative: for ever
	Plan             bool          // only report what there is to do
	All              bool          // also sessions that did not change since this device pruned last
}

const (
	// defaultGrace is longer than any reader uses the list that it read.
	defaultGrace = 7 * 24 * time.Hour
	// defaultRetention is how long a rewind can be undone.
	defaultRetention = 30 * 24 * time.Hour
)

// forGC returns the options, with the defaults for those that are not set.
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

// PruneResult counts what [Store.Prune] did, or would do.
type PruneResult struct {
	Sessions int `json:"sessions"`    // inspected
	Merged   int `json:"merged"`      // small segments that larger ones replaced
	Segments int `json:"segments"`    // the larger segments
	Expired  int `json:"former_tips"` // former heads, and logs that were cut, that were given up
	Removed  int `json:"removed"`     // documents, also entries of the catalogue
	Waiting  int `json:"waiting"`     // documents that nothing leads to, but which are too young

	Requests     int     `json:"requests"`
	RequestUnits float64 `json:"request_units"`
}

// add counts the result and the cost of one session. A session without a request, as
// after the end of the context, was not inspected.
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

// Prune keeps the copy of sessions small: of the named sessions, or without names of all
// sessions of the project that changed since this device pruned last. It makes larger
// segments of runs of small ones, gives up former heads after their time, and removes
// documents that nothing leads to once they are older than the grace time: segments that
// larger ones replaced, uploads that never got a head, remains of a deletion, entries of
// the catalogue without a session. Everything that a branch or a former head needs, and
// the tombstone of a deleted session, stay.
//
// It may be called at any time, by several devices at once and beside writers, and it may
// be interrupted anywhere: each step applies only to the head that it was decided by. It
// goes on after a session that fails; the error joins the failures. No store prunes by
// itself. One device that calls it once a day is enough.
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

// pruneList returns the sessions to prune, with their entries of the catalogue, which are
// nil for named sessions.
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

// prune prunes one session, and keeps its new head, which saves the next sync a read.
// entry may be nil.
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
