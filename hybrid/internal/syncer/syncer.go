package syncer

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/head"
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

// session is the session that a piece of work is about: what it is asked for, and what
// this device keeps of the session from one sync to the next.
type session struct {
	*Syncer
	Options
	id, sid string
	st      *replica.SessionState
	verdict privacy.Verdict // of the rules of the directory

	fetches   bool // lines are fetched, and not sent
	recreates bool // the session is sent anew
}

func (e *Syncer) session(id string, w Options) *session {
	sid := e.SID(id)
	return &session{
		Syncer: e, Options: w, id: id, sid: sid, st: e.States.Load(sid, id),
		fetches: w.Mode == Fetch || w.Mode == Resume, recreates: w.Mode == Recreate,
	}
}

// sentLog returns how much of a log the cloud has, by the last head that is known.
func (s *session) sentLog(st segment.Stream) segment.Point {
	if t, err := head.Decode(s.st.Head.Doc, s.sid); err == nil {
		if r, ok := t.Logs[st]; ok {
			return r.Point()
		}
	}
	return segment.Origin(st)
}

// redaction returns the version of the rules; "" for none.
func (s *session) redaction() string {
	if s.Privacy.Redact == nil {
		return ""
	}
	return s.Privacy.Redact.Version()
}

// State is how a session stands. Package hybrid documents the states.
type State uint8

// The states.
const (
	Pending State = iota
	UpToDate
	Behind
	Deferred
	Blocked
	Local
	KeptLate
	Remote
	Removed
)

// Outcome is what a sync did about a session. Package hybrid documents the outcomes.
type Outcome uint8

// The outcomes.
const (
	Nothing Outcome = iota
	Pushed
	Pulled
	Rewritten
	Diverged
)

// Mode is what a sync is for.
type Mode uint8

// The modes. The background waits for programs that use a session; see use.go.
const (
	Background Mode = iota
	Closing         // as Background, for a store that is about to close: nothing is put off
	Asked           // a call brings both sides into step
	Fetch           // a call fetches, also the logs of other devices, and sends no line
	Resume          // a program is about to go on with the session: lines are fetched, and logs are not
	Recreate        // a call sends the session anew, also where it was removed from the remote
)

// Options are what a sync is for.
type Options struct {
	Mode  Mode
	Named bool // the call named the session
	Look  bool // the remote may have changed: it is asked, also where the files are in step with the head that is known
}

func (w Options) asked() bool { return w.Mode >= Asked }

// Result is what a sync did.
type Result struct {
	State           State
	Did             Outcome
	Pushed, Pulled  bool
	Segments        int
	Pulls           bool   // it was to fetch, not to send
	Conflict        bool   // two devices added to it
	KeptAs          string // the session that keeps this device's history then; "" for none
	Why             error  // why a session is Behind or Diverged
	Lacks           error  // what of it is damaged in the cloud and did not come
	Vanished        bool   // the head that was known is not there any more: the container is another one, or was restored
	Scanned, Asking bool   // it was begun; and the cloud was asked
	Local, Remote   int64
	Later           time.Time // when the session is to be synced again; zero: when something happens
	Err             error
}

// Report is what a check of a session found in the cloud.
type Report struct {
	Lines     int64
	Bytes     int64
	Documents int
	Problems  []Problem
	Mended    int
}

// Problem is lines or a file that cannot be read from the cloud. Package hybrid
// documents its fields.
type Problem struct {
	Stream   string
	File     string
	From, To int64
	Document string
	Mended   bool
	Err      error

	start, end segment.Point
	listed     []segment.Info // of Stream, where Document is damaged
}

// What callers branch on, with [errors.Is]. Package hybrid documents them.
var (
	ErrRemoved  = errors.New("session was removed from the remote")
	ErrDeferred = errors.New("session is deferred")

	// errLost tells that the head is not the one that was read: everything is to be
	// scanned again.
	errLost = remoteread.ErrLost
	// errTooBig tells that documents must become smaller.
	errTooBig = errors.New("document is too big for the account")
	// errStale tells that pruning may have removed what was uploaded.
	errStale = errors.New("the first upload took too long")
)
