package syncer

import (
	"time"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
)

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
