package hybrid

import (
	"context"
	"log/slog"
	"path"
	"sync"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/amplifier-go/sessionstorage/internal/segment"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// engine is what syncs the sessions of one directory.
type engine struct {
	store     *sessionstore.Store
	in        sessionstore.Inside
	opts      Options
	container *azcosmos.ContainerClient
	dev       device
	budget    *Budget
	log       *slog.Logger
	states    states
	rights    rights
	marks     marks
	chance    *chance
	alone     bool // one thing at a time: one session, one document

	mu     sync.Mutex // guards what follows
	busy   map[string]chan struct{}
	status map[string]Status
}

func (e *engine) identity(id string) segment.Identity {
	return segment.Identity{User: e.opts.User, Project: e.opts.Project, Session: id}
}

func (e *engine) sid(id string) string { return e.identity(id).SID() }
func (e *engine) uid() string          { return e.identity("").UID() }

func (e *engine) link() *link {
	return &link{container: e.container, budget: e.budget, observer: e.opts.Observer, alone: e.alone}
}

// atOnce returns how many of n things are done at once.
func (e *engine) atOnce(n int) int { return atOnce(n, e.alone) }

func atOnce(n int, alone bool) int {
	if alone {
		return 1
	}
	return n
}

// enter waits until the caller alone works on a session, among those of this
// store. Other processes may sync it at the same time: the tip decides.
func (e *engine) enter(ctx context.Context, id string) (leave func(), err error) {
	for {
		e.mu.Lock()
		wait, taken := e.busy[id]
		if !taken {
			mine := make(chan struct{})
			e.busy[id] = mine
			e.mu.Unlock()
			return func() {
				e.mu.Lock()
				delete(e.busy, id)
				e.mu.Unlock()
				close(mine)
			}, nil
		}
		e.mu.Unlock()
		if err := pause(ctx, 0, wait); err != nil {
			return nil, err
		}
	}
}

// tell notes how a session stands, and tells OnStatus when that is new.
func (e *engine) tell(s Status) {
	e.mu.Lock()
	last, known := e.status[s.SessionID]
	e.status[s.SessionID] = s
	e.mu.Unlock()
	same := known && last.State == s.State && last.Local == s.Local && last.Remote == s.Remote && errorText(last.Err) == errorText(s.Err)
	if e.opts.OnStatus != nil && !same {
		e.opts.OnStatus(s)
	}
}

func (e *engine) told(id string) (Status, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	s, ok := e.status[id]
	return s, ok
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// denied reports whether a session never leaves this machine.
func (e *engine) denied(ctx context.Context, id string) bool {
	if e.rights.local(id) {
		return true
	}
	if len(e.opts.Deny) == 0 {
		return false
	}
	name := ""
	if md, err := e.store.Metadata(ctx, id); err == nil {
		name = md.Text("name")
	}
	for _, glob := range e.opts.Deny {
		for _, s := range []string{id, name} {
			if ok, err := path.Match(glob, s); ok && err == nil && s != "" {
				return true
			}
		}
	}
	return false
}

// quietFor is how long a session must not have been written by others before
// its files are changed: a program at an idle prompt holds old lines in memory.
const quietFor = 10 * time.Minute
