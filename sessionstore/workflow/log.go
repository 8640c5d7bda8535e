package workflow

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/fault"
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

// Log keeps the phase outputs and conversations of a store's sessions.
type Log struct {
	store     *sessionstore.Store
	manifests []Manifest
	now       func() time.Time
	seam      *fault.Seam

	mu   sync.Mutex // guards subs, and is held while a payload is published
	subs []*Subscription
}

// New returns the Log of st's sessions. The first manifest is the default; a
// session keeps the one it began with. The store must stay open.
func New(st *sessionstore.Store, manifests ...Manifest) *Log {
	l := &Log{store: st, now: time.Now}
	for _, m := range manifests {
		l.manifests = append(l.manifests, Manifest{m.Name, slices.Clone(m.Phases)})
	}
	return l
}

// stamp returns the time as the logs hold it.
func (l *Log) stamp() string {
	return l.now().UTC().Format("2006-01-02T15:04:05.000Z")
}

// session returns the metadata of a session that must exist. Damaged metadata
// is no reason not to keep what an agent says.
func (l *Log) session(ctx context.Context, id string) (sessionstore.Metadata, error) {
	md, err := l.store.Metadata(ctx, id)
	switch {
	case errors.Is(err, sessionstore.ErrNotFound):
		return md, notFound(id)
	case errors.Is(err, sessionstore.ErrCorrupt):
		return md, nil
	}
	return md, err
}

// SetStatus writes how the workflow of a session stands: in_progress,
// completed or failed.
func (l *Log) SetStatus(ctx context.Context, sessionID, status string) error {
	if !slices.Contains([]string{inProgress, completed, failed}, status) {
		return &textError{text: "Invalid status: " + status + ". Must be 'in_progress', 'completed', or 'failed'"}
	}
	_, err := l.store.UpdateMetadata(ctx, sessionID, func(md *sessionstore.Metadata) error {
		return md.Set(statusMember, status)
	})
	if errors.Is(err, sessionstore.ErrNotFound) {
		return notFound(sessionID)
	}
	return err
}

// start gives a session without records the default manifest and the status
// in_progress, where it has none yet.
func (l *Log) start(ctx context.Context, id string, md sessionstore.Metadata) error {
	if l.started(md) {
		return nil
	}
	records, err := l.PhaseOutputs(ctx, id)
	if len(records) > 0 || err != nil {
		return ignoreDamage(err)
	}
	_, err = l.store.UpdateMetadata(ctx, id, func(md *sessionstore.Metadata) error {
		if len(l.manifests) > 0 && lacks(*md, manifestMember) {
			if err := md.Set(manifestMember, l.manifests[0].Name); err != nil {
				return err
			}
		}
		if lacks(*md, statusMember) {
			return md.Set(statusMember, inProgress)
		}
		return nil
	})
	return err
}

func (l *Log) started(md sessionstore.Metadata) bool {
	return !lacks(md, statusMember) && (len(l.manifests) == 0 || !lacks(md, manifestMember))
}

// lacks reports whether a member is missing or null.
func lacks(md sessionstore.Metadata, name string) bool {
	raw, ok := md.Lookup(name)
	return !ok || string(raw) == "null"
}
