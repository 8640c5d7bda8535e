package hybrid

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/privacy"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/remoteread"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/replica"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/syncer"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/format/limits"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// State is the state of a session between this device and the remote.
type State uint8

// The states.
const (
	Pending  = State(syncer.Pending)  // something here was not sent, or was never compared
	UpToDate = State(syncer.UpToDate) // both sides have the same
	Behind   = State(syncer.Behind)   // the remote has more: the next sync brings it, or it waits until no program runs the session here; see Err and NextTry
	Deferred = State(syncer.Deferred) // its files are in doubt, or the remote does not serve it just now; see Err and NextTry
	Blocked  = State(syncer.Blocked)  // nothing is sent or fetched until a user acts; see Err
	Local    = State(syncer.Local)    // it never leaves this machine
	KeptLate = State(syncer.KeptLate) // a rule that came after it was sent keeps it on this machine: the remote keeps the lines that were sent, until Remove
	Absent   = State(syncer.Absent)   // it is in the remote and was deleted here
	Removed  = State(syncer.Removed)  // it was removed from the remote; the files here stay and are not sent
)

var states = [...]string{"Pending", "UpToDate", "Behind", "Deferred", "Blocked", "Local", "KeptLate", "Absent", "Removed"}

// String returns the name of the state.
func (s State) String() string { return nameOf(states[:], int(s)) }

// MarshalText returns the name of the state.
func (s State) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Outcome is the effect of a sync on a session.
type Outcome uint8

// The outcomes.
const (
	Nothing   = Outcome(syncer.Nothing)
	Pushed    = Outcome(syncer.Pushed)    // it sent
	Pulled    = Outcome(syncer.Pulled)    // it fetched
	Rewritten = Outcome(syncer.Rewritten) // it replaced the history in the remote, as after a rewind
	Diverged  = Outcome(syncer.Diverged)  // two devices had added; both histories are kept
)

var outcomes = [...]string{"Nothing", "Pushed", "Pulled", "Rewritten", "Diverged"}

// String returns the name of the outcome.
func (o Outcome) String() string { return nameOf(outcomes[:], int(o)) }

// MarshalText returns the name of the outcome.
func (o Outcome) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// LastSync returns the time of the last success of the sync of a sessions directory, to a
// minute, by any program: a call or the background synced a session with the remote, whatever
// became of others, or found that none needs it. It also returns the identity of the remote.
// It opens no store and makes no request. The zero time means never.
func LastSync(dir string) (at time.Time, remote string) {
	last := readLast(dir)
	return last.at, last.address
}

// lastSync is the file of the last success. It has the identity that the remote told, and in the
// next line the one under which it is known here.
const lastSync = "last"

// success is the last success of a directory. The zero success is none.
type success struct {
	at                time.Time
	address, identity string
}

func readLast(dir string) success {
	dir, err := sessiondir.Abs(dir)
	if err != nil {
		return success{}
	}
	path := filepath.Join(dir, sessiondir.Bookkeeping, statesDir, lastSync)
	text, err := os.ReadFile(path)
	fi, failed := os.Stat(path)
	if err != nil || failed != nil {
		return success{}
	}
	address, identity, renamed := strings.Cut(string(text), "\n")
	if !renamed {
		identity = address
	}
	return success{fi.ModTime(), address, identity}
}

// succeeded records a success, and the note of the remote.
func (e *engine) succeeded() {
	e.keepNote()
	last := readLast(e.Store.Dir())
	if last.address == e.address && last.identity == e.States.Remote && time.Since(last.at) < time.Minute {
		return
	}
	text := e.address
	if e.address != e.States.Remote {
		text += "\n" + e.States.Remote
	}
	if err := e.States.Write(lastSync, []byte(text)); err != nil {
		e.Log.Info("the time of the sync is not recorded", "err", err)
	}
}

func nameOf(names []string, i int) string {
	if i < len(names) {
		return names[i]
	}
	return strconv.Itoa(i)
}

// Status is the state of a session, with its last change. Local and Remote count
// messages; Remote is the number that the remote had when it was last asked.
type Status struct {
	SessionID     string
	State         State
	Local, Remote int
	Last          Outcome   // of the last sync by this store that did something
	LastAt        time.Time // when that sync ended; zero: none did something
	NextTry       time.Time // of the background, or the earliest for a session that waits for other programs; zero: no time is set
	Err           error     // the reason of the last failure, or why a session waits; for KeptLate the way to remove the session from the remote
}

// Status returns the status of all sessions here, or of the named ones: each as the last
// sync left it, or as its files and the known state of the remote show it. Sessions that only
// the remote has, and whose ids may not come from outside, are [Blocked]. It makes no
// request. Lines that another device could not send show only in the Status of that
// device. Without a remote, and without Options.Identity, every session is [Local]. The error Is
// [sessionstore.ErrNotFound] when a named session is not here, and no rule keeps it from leaving.
func (s *Store) Status(ctx context.Context, ids ...string) ([]Status, error) {
	if len(ids) > 0 {
		return s.statusOfEach(ctx, ids)
	}
	if s.engine == nil {
		infos, err := s.List(ctx, &sessionstore.ListOptions{All: true})
		all := make([]Status, len(infos))
		for i, info := range infos {
			all[i] = Status{SessionID: info.ID, State: Local}
		}
		return all, wrap("status", "", err)
	}
	f, err := s.engine.scanAll(ctx)
	if err != nil {
		return nil, wrap("status", "", err)
	}
	all := make([]Status, 0, len(f.sessions))
	for _, at := range f.sessions {
		known, ok := s.engine.Table.Session(at.Name)
		if ok && !f.changed[at.Name] {
			all = append(all, s.engine.statusKnown(ctx, &known))
			continue
		}
		one, err := s.engine.statusOf(ctx, at.Name)
		if err != nil {
			return all, wrap("status", at.Name, err)
		}
		all = append(all, one)
	}
	return append(all, s.engine.staying()...), nil
}

func (s *Store) statusOfEach(ctx context.Context, ids []string) ([]Status, error) {
	all := make([]Status, len(ids))
	for i, id := range ids {
		if s.engine != nil && syncer.Foreign(id) != nil && !s.Exists(id) {
			staying := s.engine.staying()
			if at := slices.IndexFunc(staying, func(s Status) bool { return s.SessionID == id }); at >= 0 {
				all[i] = staying[at]
				continue
			}
		}
		if !s.Exists(id) && (s.engine == nil || !s.engine.Privacy.Judge(ctx, id).Kept) {
			return nil, wrap("status", id, limits.Errorf(sessionstore.ErrNotFound, "there is no such session"))
		}
		all[i] = Status{SessionID: id, State: Local}
		if s.engine == nil {
			continue
		}
		var err error
		if all[i], err = s.engine.statusOf(ctx, id); err != nil {
			return nil, wrap("status", id, err)
		}
	}
	return all, nil
}

// statusOf compares a session's files with the known state of the remote.
func (e *engine) statusOf(ctx context.Context, id string) (Status, error) {
	v := e.Privacy.Judge(ctx, id)
	if v.Kept {
		return e.statusKept(ctx, id), nil
	}
	if v.Held == nil && len(v.Unknown) > 0 && e.States.Load(e.SID(id), id).Orphan {
		v.Held = privacy.ErrOrphan
	}
	mode := syncer.Background
	if e.opts.Manual {
		mode = syncer.Asked
	}
	f := facts{id: id, held: both(e.Privacy.RedactionHolds(), v.Held)}
	if f.held == nil {
		f.Comparison, f.doubt = e.Inspect(ctx, id, mode)
	}
	return e.statusBy(f), nil
}

// both returns an error that Is both, with one line of text; nil where both are nil.
func both(one, other error) error {
	if one == nil || other == nil {
		return cmp.Or(one, other)
	}
	return fmt.Errorf("%w; %w", one, other)
}

// statusKept returns the status of a session that a rule keeps here.
func (e *engine) statusKept(ctx context.Context, id string) Status {
	f := facts{id: id, kept: true, rules: e.rulesErr()}
	if f.Remote, f.sent = e.SentBefore(id); f.sent && f.rules == nil {
		is, _ := e.Inspect(ctx, id, syncer.Asked) // without its files there is no number
		f.Local = is.Local
	}
	return e.statusBy(f)
}

// rulesErr returns the reason why all sessions stay here; nil when only rules decide.
func (e *engine) rulesErr() error {
	if e.rulesUnread != nil {
		return e.rulesUnread
	}
	return e.States.Rules().Err()
}

// statusKnown returns the status of a session that needs no sync.
func (e *engine) statusKnown(ctx context.Context, s *replica.Session) Status {
	if s.State != replica.Private {
		return e.statusBy(facts{id: s.ID, Comparison: syncer.Comparison{Local: s.N, Remote: s.Remote, InStep: true, Deleted: s.State == replica.Deleted}})
	}
	if _, entered := e.Table.Entry(e.SID(s.ID)); entered {
		return e.statusKept(ctx, s.ID)
	}
	return e.statusBy(facts{id: s.ID, kept: true, rules: e.rulesErr()})
}

// facts are what is known of a session without a request.
type facts struct {
	id                string
	kept, sent        bool  // a rule keeps it here; and the remote has lines of it
	rules             error // nil: only rules decide what stays here
	held              error // the reason why it is held back
	doubt             error // its files cannot be read
	syncer.Comparison       // of its files with the known head
	last              Status
	counts            bool // last still counts: it is of this store's last sync
	newer             int  // messages in the remote, where the catalogue has a later head; 0: it has none
}

// statusBy adds to the facts what the last sync by this store found and what the catalogue
// has, and returns the status that follows.
func (e *engine) statusBy(f facts) Status {
	last, known := e.lastOf(f.id)
	f.last = last.Status
	f.counts = known && last.State != Local && last.State != KeptLate && (last.State != Deferred || last.set || e.Stats.AsNoted(f.id))
	if entry, _ := e.Table.Entry(e.SID(f.id)); f.InStep && !f.counts && !entry.Deleted && entry.N > f.Remote {
		if newer, _ := e.catalogueOf(f.id); newer {
			f.newer = int(entry.N)
		}
	}
	return f.status()
}

// status decides: the first question with the answer yes counts.
func (f *facts) status() Status {
	waits := errors.Is(f.Failed, ErrDeferred)
	fails := f.Failed != nil && !waits && !f.Deleted
	why := f.Why
	if why == nil && waits {
		why = f.Failed
	}
	is := Status{SessionID: f.id, Local: int(f.Local), Remote: int(f.Remote), Last: f.last.Last, LastAt: f.last.LastAt}
	switch {
	case f.kept && (!f.sent || f.rules != nil):
		is.State, is.Err, is.Remote = Local, f.rules, 0
	case f.kept:
		is.State, is.Err = KeptLate, privacy.ErrKeptLate
	case f.held != nil:
		is.State, is.Err = Blocked, f.held
	case f.doubt != nil:
		is.State, is.Err = Deferred, f.doubt
	case f.counts && f.last.Err != nil && f.last.State != Behind,
		f.counts && f.last.State != UpToDate && f.last.Local == is.Local && (fails || !f.InStep):
		is.State, is.Err, is.NextTry = f.last.State, f.last.Err, f.last.NextTry
	case fails:
		is.State, is.Err = State(syncer.StateOf(f.Failed)), f.Failed
	case f.InStep && f.Deleted:
		is.State = Removed
	case f.InStep && f.newer > 0:
		is.State, is.Remote = Behind, f.newer
	case f.InStep:
		is.State = UpToDate
	case f.There && f.Here:
		is.State, is.Err, is.NextTry = Pending, twoAnd(why), syncer.Until(why)
	case f.There:
		is.State, is.Err, is.NextTry = Behind, why, syncer.Until(why)
	case waits:
		is.State, is.Err = Deferred, f.Failed
	default:
		is.State = Pending
	}
	return is
}

// SyncResult is the work of a [Store.Sync] or a [Store.Pull], and what waits after it.
type SyncResult struct {
	Sessions     int     `json:"sessions"` // synced
	Pushed       int     `json:"pushed"`   // sessions sent
	Pulled       int     `json:"pulled"`   // sessions brought, or changed here as intended
	Segments     int     `json:"segments"` // stored
	Requests     int     `json:"requests"`
	Bytes        int64   `json:"bytes"`
	RequestUnits float64 `json:"request_units"`

	Elsewhere int         `json:"elsewhere"` // sessions that only the remote has, without those that were deleted here; counted by a Sync of all: Pull brings them
	Behind    []Exception `json:"-"`         // the remote has more, and the files here must not be changed now
	Diverged  []Exception `json:"-"`         // two devices added to them; see Conflicts for the sessions that keep this device's history
	Blocked   []Exception `json:"-"`         // they are not here, and their ids may not come from outside: they stay in the remote, and only a call that names one fails
	Held      []Exception `json:"-"`         // they are not sent, which is no failure: they are [KeptLate], it is not known whether a rule keeps them ([ErrHeld]), or the rules cannot be read
	Failed    []Exception `json:"-"`         // they could not be synced; the call's error joins the reasons
	Partial   []Exception `json:"-"`         // they were brought without the parts that are damaged in the remote; the next Pull tries those again
	Conflicts []Conflict  `json:"conflicts"`
}

// MarshalJSON returns the members under their names. A result without conflicts has an
// empty array of them.
func (r SyncResult) MarshalJSON() ([]byte, error) {
	type members SyncResult
	r.Conflicts = append([]Conflict{}, r.Conflicts...)
	return json.Marshal(members(r))
}

// PullResult is the result of a [Store.Pull].
type PullResult = SyncResult

// Exception is a session that was not synced as usual, and the reason. The Err of a
// Behind session Is [ErrDeferred], that of one which is held back [ErrHeld].
type Exception struct {
	SessionID string
	Err       error
	Until     time.Time // the earliest time at which a sync goes on; zero: another program, or the user, ends it
}

// add counts the result for a session.
func (r *SyncResult) add(id string, out syncer.Result, u remoteread.Usage) {
	if out.Scanned {
		r.Sessions++
	}
	r.Segments += out.Segments
	r.Requests += u.Requests
	r.Bytes += u.Bytes
	r.RequestUnits += u.Units
	if out.Pushed {
		r.Pushed++
	}
	if out.Pulled && out.Err == nil {
		r.Pulled++
	}
	if out.Conflict {
		r.Conflicts = append(r.Conflicts, Conflict{id, out.KeptAs})
	}
	waits := Exception{id, waitsFor(&out), syncer.Until(out.Why)}
	if out.Err != nil {
		waits.Err = out.Err
	}
	switch {
	case errors.Is(waits.Err, sessionstore.ErrInvalidID):
		r.Blocked = append(r.Blocked, waits)
	case out.State == syncer.Local && out.Why != nil, out.State == syncer.KeptLate, errors.Is(waits.Err, ErrHeld):
		r.Held = append(r.Held, waits)
	case out.Err != nil:
		r.Failed = append(r.Failed, waits)
	case out.Did == syncer.Diverged:
		r.Diverged = append(r.Diverged, waits)
	case out.State == syncer.Behind:
		r.Behind = append(r.Behind, waits)
	}
	if out.Err == nil && out.Lacks != nil {
		r.Partial = append(r.Partial, Exception{SessionID: id, Err: out.Lacks})
	}
}

// errTwo is the reason for a Diverged session.
var errTwo = errors.New("two devices added to the session")

// waitsFor returns the reason why a session is Behind or Diverged.
func waitsFor(out *syncer.Result) error {
	if out.Did == syncer.Diverged {
		return twoAnd(out.Why)
	}
	return out.Why
}

// twoAnd returns errTwo with the reason why, which may be nil.
func twoAnd(why error) error {
	if why == nil {
		return errTwo
	}
	return fmt.Errorf("%w: %w", errTwo, why)
}

// sort puts the lists into the order of the sessions' ids: several sessions are
// synced at once.
func (r *SyncResult) sort() {
	for _, list := range [][]Exception{r.Behind, r.Diverged, r.Blocked, r.Held, r.Failed, r.Partial} {
		slices.SortFunc(list, bySession)
	}
	slices.SortFunc(r.Conflicts, func(a, b Conflict) int { return cmp.Compare(a.SessionID, b.SessionID) })
}

func bySession(a, b Exception) int { return cmp.Compare(a.SessionID, b.SessionID) }

// Conflict is a session that two devices added to, and the session that keeps
// this device's history, if it became one.
type Conflict struct {
	SessionID string `json:"session_id"`
	KeptAs    string `json:"kept_as"`
}

// RemoteSession is a session as the catalogue of its user has it, which may be
// half a minute behind.
type RemoteSession struct {
	SessionID string    `json:"session_id"`
	Project   string    `json:"project"`
	Parent    string    `json:"parent_id"` // of a fork, a conflict copy or a sub-session when it was first sent; "" for none
	Name      string    `json:"name"`
	Updated   time.Time `json:"updated"`
	Messages  int       `json:"n"`
	Turns     int       `json:"turns"`
	Revision  int64     `json:"rev"`
	Removed   bool      `json:"deleted"`
	Conflict  bool      `json:"conflict"`
}
