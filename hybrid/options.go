package hybrid

import (
	"context"
	"log/slog"
	"time"

	"github.com/amplifier-go/sessionstorage/hybrid/redact"
	"github.com/amplifier-go/sessionstorage/hybrid/remote"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// Options are the settings of a store. The zero value, and nil, are a store
// without a remote.
type Options struct {
	Remote     remote.Remote         // the remote that all devices share, as of packages cosmos and dir; nil: local only, see Identity
	Identity   string                // of the remote, as [remote.Info] has it, where Remote is nil: [Store.Status] then tells what is known of that remote, and calls that would ask it return [ErrNoRemote]; "": local only
	Store      *sessionstore.Options // of the local store
	Project    string                // stable name of the project on all devices; required with a remote
	User       string                // owner of the sessions in the remote
	Device     string                // "": the device that the directory has recorded for this machine, see Devices in the package's documentation
	Private    []string              // globs of ids and names of sessions that, with their descendants, never leave this machine: as [path.Match], but * and ? match "/", too, and accents fit in either form; nil: the globs of the last store of the directory that had some
	Redact     Redactor              // nil: the built-in rules where the directory remembers them, else exact bytes; see [Exact]
	Conflict   Policy                // of every sync, also of those in the background
	Limits     *Limits               // of requests, shared by all stores that have them; nil: none
	Manual     bool                  // keep the remote, sync only on Sync and Pull; Background has no effect
	Background Background
	OnStatus   func(Status) // called when the status of a session changed, or a sync did something, one call at a time; must not block nor call the store
	Logger     *slog.Logger
	Observer   Observer // for traces and metrics; nil: none
}

// Background are the settings of the worker that syncs in the background. The zero value
// is for a program on a person's machine.
type Background struct {
	Interval  time.Duration // between scans of the directory and reads of the catalogue; 0: a minute
	Watch     bool          // for writes of other programs (see [sessionstore.Store.Watch]); without it they are found every Interval
	KnownOnly bool          // fetch only what belongs to sessions that are here; without it new sessions of other devices arrive, too
	CloseWait time.Duration // how long Close tries to send unsent lines, each session whole: one with a line of 100 MB may need longer; 0: 2 seconds, negative: not at all
}

// complete returns the settings with the defaults in the place of zeros.
func (b Background) complete() Background {
	if b.Interval <= 0 {
		b.Interval = time.Minute
	}
	if b.CloseWait == 0 {
		b.CloseWait = 2 * time.Second
	}
	return b
}

// Policy decides between two histories when two devices added to one session. Nothing is
// lost with any policy: the other history stays as a branch, or among the former heads,
// see [Store.Histories].
type Policy int

// The policies.
const (
	KeepBoth Policy = iota // the other device's goes on as the session, this one's as a new session here
	Ours                   // this device's goes on as the session
	Theirs                 // the other device's goes on as the session
)

// Redactor changes lines before they leave; see [redact.Redactor].
type Redactor = redact.Redactor

// Secrets returns the built-in rules; see [redact.Secrets]. They find the secrets of the
// process's environment as any other: by shape and by name. They do not find a value that
// has neither, as in the output of a program that prints a password alone. The reason is
// that all programs that send a session must make the same of a line, and they do not
// have the same environment: one program would send what another takes out. Give a value
// that must not leave to all of them as a pattern; see [redact.New]. A program without it
// then sends nothing.
func Secrets() Redactor { return redact.Secrets() }

// Exact returns the Redactor that changes nothing. It ends the redaction that the
// directory remembers. If lines of a session in the remote went through rules, Exact
// does not send the session: see [ErrRedaction]. After Exact, weaker rules of the same
// name are accepted.
func Exact() Redactor { return exact{} }

type exact struct{}

func (exact) Version() string         { return "" }
func (exact) Line(line []byte) []byte { return line }

// Observer receives what the copying does, for traces and metrics; the Observer of
// Options.Store receives what the store itself does. Its methods are called by many
// goroutines at once; they must not block nor call the store. Their arguments never hold
// content.
type Observer interface {
	// SessionSynced is called after each sync of a session, also a failed one: by the
	// worker, or by a call, with its ctx.
	SessionSynced(ctx context.Context, v SessionSync)
	// Requested is called for each request to the remote, of syncs and of everything
	// else.
	Requested(ctx context.Context, r Request)
}

// SessionSync is one sync of one session: its outcome and its cost.
type SessionSync struct {
	Session      string
	State        State
	Did          Outcome
	Start        time.Time
	Pull         bool // it was to fetch, not to send
	Segments     int  // stored
	Requests     int
	Bytes        int64 // of the documents sent
	RequestUnits float64
	Err          error
}

// Request is one request and its answer.
type Request struct {
	Start        time.Time
	Status       int     // of HTTP; 0: there was no answer
	RequestUnits float64 // zero where the answer does not say
	Err          error   // also when a document is missing or another device changed it
}

// observeRequests returns a function that reports requests to an observer; nil for none.
func observeRequests(o Observer) func(context.Context, remote.Request) {
	if o == nil {
		return nil
	}
	return func(ctx context.Context, r remote.Request) {
		o.Requested(ctx, Request{Start: r.Start, Status: r.Status, RequestUnits: r.Units, Err: r.Err})
	}
}

// observe reports a sync to the observer.
func (e *engine) observe(ctx context.Context, v SessionSync) {
	if o := e.opts.Observer; o != nil {
		o.SessionSynced(ctx, v)
	}
}
