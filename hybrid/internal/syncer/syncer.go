package syncer

import (
	"context"
	"log/slog"
	"sync"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/inuse"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/jitter"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/privacy"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/remoteread"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/replica"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/syncplan"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/throttle"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/track"
	"github.com/amplifier-go/sessionstorage/hybrid/remote"
	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// Device is who writes: a short name for streams and one for people.
type Device struct {
	ID   string // 8 hexadecimal digits
	Host string
}

// Syncer syncs the sessions of one directory, each by itself. All its fields are set
// before the first call. Its methods may be called by many goroutines.
type Syncer struct {
	// The sessions here.
	Store    *sessionstore.Store
	Core     core.Store
	Programs *inuse.Program // nil: which programs use sessions is not known

	// The cloud, and who writes there.
	Identity segment.Identity // of the sessions, without their names
	Remote   remote.Remote
	Device   Device
	Log      *slog.Logger
	Random   *jitter.Source // nil: that of the process

	// What leaves and what comes.
	Privacy     *privacy.Guard
	Policy      syncplan.Policy
	KnownOnly   bool  // nothing arrives that was never here
	LargestFile int64 // bytes of the largest small file that goes; see [LargestFile]
	Alone       bool  // one thing at a time: one session, one document

	// What this device knows.
	States *replica.States
	Dirty  *replica.DirtySet
	Stats  *replica.Stats
	Table  *replica.Table

	mu   sync.Mutex // guards busy
	busy map[string]chan struct{}
}

func (e *Syncer) identityOf(id string) segment.Identity {
	of := e.Identity
	of.Session = id
	return of
}

// SID returns the id that a session has in the cloud.
func (e *Syncer) SID(id string) string { return e.identityOf(id).SID() }

// UID returns the id that the owner has in the cloud.
func (e *Syncer) UID() string { return e.Identity.UID() }

// Connect begins a piece of work.
func (e *Syncer) Connect() *remoteread.Reader {
	return &remoteread.Reader{Remote: e.Remote, Alone: e.Alone}
}

// AtOnce returns how many of n things are done at once.
func (e *Syncer) AtOnce(n int) int { return atOnce(n, e.Alone) }

func atOnce(n int, alone bool) int {
	if alone {
		return 1
	}
	return n
}

// Enter waits until the caller alone works on a session, among those of this
// Syncer. Other processes may sync it at the same time: the head decides. [Syncer.Sync] is
// called by who entered the session; all other methods that make requests for one enter
// it themselves.
func (e *Syncer) Enter(ctx context.Context, id string) (leave func(), err error) {
	ctx, stop := throttle.Waiting(ctx)
	defer stop()
	for {
		e.mu.Lock()
		wait, taken := e.busy[id]
		if !taken {
			mine := make(chan struct{})
			if e.busy == nil {
				e.busy = map[string]chan struct{}{}
			}
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
		if jitter.Pause(ctx, 0, wait) != nil {
			return nil, context.Cause(ctx)
		}
	}
}

// again calls do again while others change the session meanwhile, or its files.
func (e *Syncer) again(ctx context.Context, do func() error) error {
	return remoteread.Again(ctx, e.Random, do, track.ErrMoved)
}

// Arrives reports whether the background brings a session that is not here. One
// that was removed here stays away.
func (e *Syncer) Arrives(id string, st *replica.SessionState) bool {
	return !e.KnownOnly && !e.WasHere(id, st)
}

// WasHere reports whether a session that is not here was here before.
func (e *Syncer) WasHere(id string, st *replica.SessionState) bool {
	return (st.Here || st.Gone || e.Dirty.Removed(id)) && !st.RemovedDead(e.SID(id))
}
