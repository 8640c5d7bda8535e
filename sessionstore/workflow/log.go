package workflow

import (
	"context"
	"errors"
	"slices"
	"sync"

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
	inside    sessionstore.Inside // of store
	manifests []Manifest
	ends      ends

	mu   sync.Mutex // guards subs, and is held while a payload is published
	subs []*Subscription
}

// New returns the Log of st's sessions. The first manifest is the default; a
// session keeps the one it began with. The Log has the store's durability,
// clock and OnChange, and its methods fail with [sessionstore.ErrClosed] when
// the store is closed, which waits for those under way.
func New(st *sessionstore.Store, manifests ...Manifest) *Log {
	l := &Log{store: st, inside: st.Inside()}
	for _, m := range manifests {
		l.manifests = append(l.manifests, Manifest{m.Name, slices.Clone(m.Phases)})
	}
	return l
}

// stamp returns the time as the logs hold it.
func (l *Log) stamp() string {
	return l.inside.Now().UTC().Format("2006-01-02T15:04:05.000Z")
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

// tries is how often the metadata is written again because a writer that
// honours no lock came between.
const tries = 4

// begin gives a session without phase outputs the default manifest and the
// status in_progress, where it has none yet. That is durable before the first
// output is: a power cut leaves no output without its manifest. Damaged
// metadata is no reason not to keep what an agent says.
func (l *Log) begin(w *sessionstore.Work) error {
	for try := 1; ; try++ {
		md, err := w.Metadata()
		if err != nil || l.begun(md) {
			return ignoreDamage(err)
		}
		if err := l.describe(&md); err != nil {
			return err
		}
		err = w.SetMetadata(md)
		if errors.Is(err, sessionstore.ErrConflict) && try < tries {
			continue
		}
		if err == nil && l.inside.Sync() {
			err = w.Dir().Sync()
		}
		return err
	}
}

func (l *Log) begun(md sessionstore.Metadata) bool {
	return !lacks(md, statusMember) && (len(l.manifests) == 0 || !lacks(md, manifestMember))
}

func (l *Log) describe(md *sessionstore.Metadata) error {
	if len(l.manifests) > 0 && lacks(*md, manifestMember) {
		if err := md.Set(manifestMember, l.manifests[0].Name); err != nil {
			return err
		}
	}
	if lacks(*md, statusMember) {
		return md.Set(statusMember, inProgress)
	}
	return nil
}

// lacks reports whether a member is missing or null.
func lacks(md sessionstore.Metadata, name string) bool {
	raw, ok := md.Lookup(name)
	return !ok || string(raw) == "null"
}
