package history

// View is the kind of reader that a subject has.
type View string

const (
	Session    View = "session" // transcript and metadata
	Events     View = "events"  // the event log
	Config     View = "config"
	Agent      View = "agent" // the state of an agent: approvals and history
	Workflow   View = "workflow"
	Checkpoint View = "checkpoint"
	Whole      View = "whole" // all files of a session, in its place or in the trash
	Cloud      View = "cloud" // transcript and metadata after a sync that follows the cut, here and for others
	CloudLog   View = "cloud-log"
	Share      View = "share" // a session in the directory of a file server, as a new device gets it
)

// A Subject is changed by calls and examined by readers, such as one session.
type Subject struct {
	Mode  string `json:"mode"` // how its calls write, such as "durable"
	Dir   string `json:"dir"`  // below the root of the file system
	ID    string `json:"id"`
	View  View   `json:"view"`
	Group bool   `json:"group,omitempty"` // its calls overlap; the rows of a call's state are the rows that it added

	// Relaxed is set where calls promise only the data that a sync has sent. The rest need
	// not be readable after a cut.
	Relaxed bool `json:"relaxed,omitempty"`
}

// Synced reports whether a reader has to sync before it looks.
func (s Subject) Synced() bool { return s.View == Cloud || s.View == CloudLog }

// transcript reports whether it has a number, and is there before it has rows.
func (s Subject) transcript() bool { return s.View == Session || s.View == Cloud }

// appends reports whether calls add rows at the end, some of which may stay when
// a call was under way.
func (s Subject) appends() bool { return s.View == Events || s.View == Workflow }
