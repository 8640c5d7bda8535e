package phaseindex

import (
	"context"
	"io"
	"slices"

	"github.com/amplifier-go/sessionstorage/internal/show"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/workflow"
)

// A State is what an Index told of a log.
type State struct {
	Records []Record // by time of creation, then id; empty, not nil, when there are none
	Read    int64    // how many bytes of the log were read: what to call Records with the next time
	Damage  error    // of the first line that is no record, a [*sessionstore.CorruptError]; nil when there is none
}

// Records reads what is new in the log and returns the phases that changed behind
// its first since bytes: with 0 all of them, with the Read of an earlier State
// those that changed after it. It returns all when the log is shorter than that: it
// is another log then. A session without a log has no records. A last line that was
// not written whole is not read yet. The error Is [sessionstore.ErrNotFound] when
// there is no such session.
func (x *Index) Records(ctx context.Context, since int64) (State, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if err := x.refresh(ctx, nil); err != nil {
		return State{}, err
	}
	s := State{Records: []Record{}, Read: x.read, Damage: x.damage}
	for _, e := range slices.SortedStableFunc(slices.Values(x.phases), byCreation) {
		if e.changed > since || since > x.read {
			s.Records = append(s.Records, e.Record)
		}
	}
	return s, nil
}

// Record returns the record of that id, as [workflow.Log.PhaseOutputs] has it:
// with its prompts and all of its output. The error Is [sessionstore.ErrNotFound]
// when there is no such record or session.
func (x *Index) Record(ctx context.Context, id int64) (workflow.PhaseRecord, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	var rec workflow.PhaseRecord
	found := false
	err := x.refresh(ctx, func(log io.ReadSeeker) (err error) {
		i := slices.IndexFunc(x.phases, func(e *entry) bool { return e.ID == id })
		if found = i >= 0; found {
			rec, err = x.phases[i].whole(log)
		}
		return err
	})
	if err == nil && !found {
		err = show.Errorf(sessionstore.ErrNotFound, "session %q has no phase output %d", show.ID(x.id), id)
	}
	return rec, err
}
