package workflow

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/format/limits"
	"github.com/amplifier-go/sessionstorage/internal/store/cache"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// The states of a session's workflow, and of a phase but for the first.
const (
	inProgress = "in_progress"
	running    = "running"
	completed  = "completed"
	failed     = "failed"
)

// The members of a session's metadata that this package writes.
const (
	manifestMember = "manifest_name"
	statusMember   = "status"
)

// Manifest is a workflow: the ids of its phases in order.
type Manifest struct {
	Name   string
	Phases []string
}

// Workflow keeps the phase outputs and conversations of a store's sessions.
type Workflow struct {
	store     *sessionstore.Store
	core      core.Store // of store
	manifests []Manifest
	states    logStates
	phases    phaseLogs
	subs      subscribers
}

// New returns the Workflow of st's sessions. The first manifest is the default; a
// session keeps the one it began with. The Workflow has the store's durability,
// clock and OnChange, and its methods fail with [sessionstore.ErrClosed] when
// the store is closed, which waits for those under way.
func New(st *sessionstore.Store, manifests ...Manifest) *Workflow {
	w := &Workflow{
		store: st, core: core.Of(st),
		states: logStates{lru: cache.New[string, *logReader](statesLimit)},
		phases: phaseLogs{lru: cache.New[string, *phaseLog](maxPhaseLogs)},
	}
	for _, m := range manifests {
		w.manifests = append(w.manifests, Manifest{m.Name, slices.Clone(m.Phases)})
	}
	return w
}

// SetStatus writes the status of a session's workflow: in_progress, completed or failed.
func (w *Workflow) SetStatus(ctx context.Context, sessionID, status string) error {
	if !slices.Contains([]string{inProgress, completed, failed}, status) {
		return limits.Reference(nil, "Invalid status: "+limits.ID(status)+". Must be 'in_progress', 'completed', or 'failed'")
	}
	_, err := w.store.UpdateMetadata(ctx, sessionID, func(md *sessionstore.Metadata) error {
		return md.Set(statusMember, status)
	})
	if errors.Is(err, sessionstore.ErrNotFound) {
		return notFound(sessionID)
	}
	return err
}

// maxRetries is how often the metadata is written again because a writer that
// honours no lock came between.
const maxRetries = 3

// start gives a session without phase outputs the default manifest and the status
// in_progress, where it has none yet. That is durable before the first output is: a power
// cut leaves no output without its manifest. Outputs are kept even if the metadata is
// damaged.
func (w *Workflow) start(tx core.Tx) error {
	for retries := 0; ; retries++ {
		md, err := tx.Metadata()
		if err != nil || w.isStarted(md) {
			return ignoreCorrupt(err)
		}
		if err := w.describe(&md); err != nil {
			return err
		}
		err = tx.SetMetadata(md)
		if errors.Is(err, sessionstore.ErrConflict) && retries < maxRetries {
			continue
		}
		if err == nil && w.core.Syncs() {
			err = tx.Dir().Sync()
		}
		return err
	}
}

func (w *Workflow) isStarted(md sessionstore.Metadata) bool {
	return !isMissing(md, statusMember) && (len(w.manifests) == 0 || !isMissing(md, manifestMember))
}

func (w *Workflow) describe(md *sessionstore.Metadata) error {
	if len(w.manifests) > 0 && isMissing(*md, manifestMember) {
		if err := md.Set(manifestMember, w.manifests[0].Name); err != nil {
			return err
		}
	}
	if isMissing(*md, statusMember) {
		return md.Set(statusMember, inProgress)
	}
	return nil
}

// isMissing reports whether a member is missing or null.
func isMissing(md sessionstore.Metadata, name string) bool {
	raw, ok := md.Lookup(name)
	return !ok || string(raw) == "null"
}

// appendRow adds the row that row returns to a log, as the only writer of the session. It
// goes on from the reader of that log that is cached, else from log, and reads the lines of
// other writers alone.
func (w *Workflow) appendRow(ctx context.Context, id string, log *logReader, row func(core.Tx, *logReader) (any, error)) error {
	key := id + "/" + log.name
	var inode uint64
	err := w.core.Change(ctx, id, func(tx core.Tx) error {
		k := w.states.take(key)
		if k == nil {
			k = log
		}
		if !tx.Dir().Knows(k.name, k.end) {
			if err := k.refresh(ctx, tx.Dir(), nil); err != nil {
				return err
			}
		}
		content, err := row(tx, k)
		if err != nil {
			return err
		}
		if err := w.add(ctx, tx, k, content); err != nil {
			return err
		}
		inode = k.end.File.Inode
		w.states.put(key, k)
		return nil
	})
	if errors.Is(err, sessionstore.ErrNotFound) {
		return notFound(id)
	}
	if err == nil && w.core.Syncs() {
		w.states.nameSynced(key, inode)
	}
	return err
}

func (w *Workflow) add(ctx context.Context, tx core.Tx, k *logReader, row any) error {
	line, err := encodeRow(row)
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	end, err := tx.Dir().AppendLog(k.name, k.end, line, w.core.Syncs())
	if err != nil {
		return fmt.Errorf("append to %s: %w", k.name, err)
	}
	k.wrote(line, end)
	if k.synced != 0 && k.synced == end.File.Inode {
		tx.Changed(k.name)
	} else {
		// The process that made the name may have been killed before it was durable.
		tx.Renamed(k.name)
	}
	return nil
}

// Emit saves p, unless its session is null, and publishes it to every subscriber, also when
// saving failed; the error is the error of saving. An output that [Workflow.SavePhaseOutput]
// refuses as invalid is not published either. All of p is saved; prompt and input are
// published with the status running only.
func (w *Workflow) Emit(ctx context.Context, p PhaseOutput) error {
	if err := p.check(); err != nil {
		return err
	}
	p = p.clone() // the agent may change the values that it handed over
	var err error
	if p.SessionID != nil {
		_, err = w.SavePhaseOutput(ctx, *p.SessionID, p)
	}
	if p.Status != running {
		p.SystemPrompt, p.UserInput = nil, nil
	}
	w.subs.publish(p)
	return err
}

// Subscribe returns a subscription to all payloads that are emitted through
// this Workflow. It is in place when Subscribe returns, and must be closed.
func (w *Workflow) Subscribe() *Subscription { return w.subs.add() }

func notFound(id string) error {
	return limits.Reference(sessionstore.ErrNotFound, "Session "+limits.ID(id)+" not found")
}

// ignoreCorrupt drops the report of a damaged log: the next lines are added behind it.
func ignoreCorrupt(err error) error {
	if errors.Is(err, sessionstore.ErrCorrupt) {
		return nil
	}
	return err
}

// wrapRead adds to err the part of the session that could not be read, or not completely.
func wrapRead(what, id string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("read %s of session %q: %w", what, limits.ID(id), err)
}
