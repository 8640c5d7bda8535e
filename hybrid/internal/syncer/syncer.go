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

// Device identifies the writer: a short name for streams and one for people.
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
	Programs *inuse.Program // nil: it is not known which programs use sessions

	// The cloud, and the device that writes there.
	Identity segment.Identity // of the sessions, without their names
	Remote   remote.Remote
	Device   Device
	Log      *slog.Logger
	Random   *jitter.Source // nil: the source of the process

	// Vanished is called before a write of a session whose known head is gone: the container is
	// another one, or was restored.
	Vanished func(ctx context.Context, sid string)

	// Rules for sending and fetching.
	Privacy     *privacy.Guard
	Policy      syncplan.Policy
	KnownOnly   bool  // nothing arrives that was never here
	LargestFile int64 // bytes of the largest small file that is sent; see [LargestFile]
	Alone       bool  // one thing at a time: one session, one document

	// The state of this device.
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

// AtOnce returns the number of things, of n, that may run at once.
func (e *Syncer) AtOnce(n int) int { return atOnce(n, e.Alone) }

func atOnce(n int, alone bool) int {
	if alone {
		return 1
	}
	return n
}

// Enter waits until the caller alone works on a session, among the callers of this
// Syncer. Other processes may sync it at the same time: the head decides. The caller of
// [Syncer.Sync] has entered the session; all other methods that make requests for a
// session enter it themselves.
func (e *Syncer) Enter(ctx context.Context, id string) (leave func(), err error) {
	ctx, stop := throttle.Waiting(ctx)
	defer stop()
	for {
		e.mu.Lock()
		wait, taken := e.busy[id]
		if !taken {
			done := make(chan struct{})
			if e.busy == nil {
				e.busy = map[string]chan struct{}{}
			}
			e.busy[id] = done
			e.mu.Unlock()
			return func() {
				e.mu.Lock()
				delete(e.busy, id)
				e.mu.Unlock()
				close(done)
			}, nil
		}
		e.mu.Unlock()
		if jitter.Pause(ctx, 0, wait) != nil {
			return nil, context.Cause(ctx)
		}
	}
}

// again calls do again when another writer changed the session, or its files, in between.
func (e *Syncer) again(ctx context.Context, do func() error) error {
	return remoteread.Again(ctx, e.Random, do, track.ErrMoved)
}

// Arrives reports whether the background brings a session that is not here. A session
// that was removed here stays away.
func (e *Syncer) Arrives(id string, st *replica.SessionState) bool {
	return !e.KnownOnly && !e.WasHere(id, st)
}

// WasHere reports whether a session that is not here was here before.
func (e *Syncer) WasHere(id string, st *replica.SessionState) bool {
	return (st.Here || st.Gone || e.Dirty.Removed(id)) && !st.RemovedDead(e.SID(id))
}

// session is the session of a piece of work: the options of the call, and the state that
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

// sentLog returns the end of a log in the cloud, by the last head that is known.
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

// State is the state of a session. Package hybrid documents the states.
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
	Absent
	Removed
)

// Outcome is the effect of a sync on a session. Package hybrid documents the outcomes.
type Outcome uint8

// The outcomes.
const (
	Nothing Outcome = iota
	Pushed
	Pulled
	Rewritten
	Diverged
)

// Mode is the purpose of a sync.
type Mode uint8

// The modes. The background waits for programs that use a session; see permit.go.
const (
	Background Mode = iota
	Closing         // as Background, for a store that is about to close: nothing is put off
	Asked           // a call brings both sides into step
	Fetch           // a call fetches, also the logs of other devices, and sends no line
	Resume          // a program is about to go on with the session: lines are fetched, and logs are not
	Recreate        // a call sends the session anew, also where it was removed from the remote
)

// Options are the options of a sync.
type Options struct {
	Mode  Mode
	Named bool // the call named the session
	Look  bool // the remote may have changed: it is asked, also where the files are in step with the known head
}

func (w Options) asked() bool { return w.Mode >= Asked }

// Result is the result of a sync.
type Result struct {
	State           State
	Did             Outcome
	Pushed, Pulled  bool
	Segments        int
	Pulls           bool   // it was to fetch, not to send
	Conflict        bool   // two devices added to it
	KeptAs          string // the session that keeps this device's history then; "" for none
	Why             error  // the reason why a session is Behind or Diverged
	Lacks           error  // parts that are damaged in the cloud and did not come
	Scanned, Asking bool   // it was begun; and the cloud was asked
	Local, Remote   int64
	Later           time.Time // when to sync the session again; zero: after the next change
	Err             error
}

// Report is the result of a check of a session in the cloud.
type Report struct {
	Lines     int64
	Bytes     int64
	Documents int
	Problems  []Problem
	Mended    int
}

// Problem describes lines or a file that cannot be read from the cloud. Package hybrid
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

// The errors of this package, for [errors.Is]. Package hybrid documents them.
var (
	ErrRemoved  = errors.New("session was removed from the remote")
	ErrDeferred = errors.New("session is deferred")

	// errLost is returned when the head is no longer the head that was read: everything
	// has to be scanned again.
	errLost = remoteread.ErrLost
	// errTooBig is returned when documents must become smaller.
	errTooBig = errors.New("document is too big for the remote")
	// errStale is returned when pruning may have removed uploaded documents.
	errStale = errors.New("the first upload took too long")
)
