package hybrid

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/remoteread"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/syncer"
)

// SyncResult is what a [Store.Sync] did.
type SyncResult struct {
	Sessions, Pushed, Segments, Requests int // sessions synced and sent, segments stored, requests made
	Bytes                                int64
	RequestUnits                         float64
	Conflicts                            []Conflict
}

// add counts what was done about a session.
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
	if out.Conflict {
		r.Conflicts = append(r.Conflicts, Conflict{id, out.KeptAs})
	}
}

// PullResult is what a [Store.Pull] did.
type PullResult struct {
	Sessions, Pulled int         // sessions synced; those that were brought, or changed here as they were to be
	Behind           []Exception // the cloud has more, and the files here must not be changed now
	Diverged         []Exception // two devices added to them; see Conflicts for what keeps this device's history
	Failed           []Exception // they could not be brought; the call's error joins the reasons
	Partial          []Exception // they were brought but for what is damaged in the cloud, which the next Pull tries again
	Conflicts        []Conflict
}

// Exception is a session that was not synced as usual, and the reason. Err of a session
// that is Behind Is [ErrDeferred].
type Exception struct {
	SessionID string
	Err       error
}

// add counts what was done about a session.
func (r *PullResult) add(id string, out syncer.Result) {
	if out.Scanned {
		r.Sessions++
	}
	if out.Conflict {
		r.Conflicts = append(r.Conflicts, Conflict{id, out.KeptAs})
	}
	switch {
	case out.Err != nil:
		r.Failed = append(r.Failed, Exception{id, out.Err})
	case out.Did == syncer.Diverged:
		r.Diverged = append(r.Diverged, Exception{id, errors.Join(errTwo, out.Why)})
	case out.State == syncer.Behind:
		r.Behind = append(r.Behind, Exception{id, out.Why})
	}
	if out.Err == nil && out.Lacks != nil {
		r.Partial = append(r.Partial, Exception{id, out.Lacks})
	}
	if out.Pulled && out.Err == nil {
		r.Pulled++
	}
}

// errTwo is why a session is Diverged.
var errTwo = errors.New("two devices added to the session")

// sort puts the lists into the order of the sessions' ids: several sessions are
// pulled at once.
func (r *PullResult) sort() {
	for _, list := range [][]Exception{r.Behind, r.Diverged, r.Failed, r.Partial} {
		slices.SortFunc(list, func(a, b Exception) int { return cmp.Compare(a.SessionID, b.SessionID) })
	}
	slices.SortFunc(r.Conflicts, func(a, b Conflict) int { return cmp.Compare(a.SessionID, b.SessionID) })
}

// Conflict is a session that two devices added to, and the session that keeps
// this device's history, if it became one.
type Conflict struct{ SessionID, KeptAs string }

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
