package picker

import "github.com/amplifier-go/sessionstorage/sessionstore/trash"

// Event is what a [Model] is told.
type Event any

// The events.
type (
	// Resized tells how many columns and rows there are.
	Resized struct{ Width, Height int }

	// Pressed tells of a key: its name, and what it writes.
	Pressed struct{ Name, Text string }

	// Pasted tells of text from the clipboard.
	Pasted struct{ Text string }

	// Listed brings sessions of the reading Gen, newest first. Err tells what
	// ended it early, and Unread, at its end, what could not be read of sessions and
	// projects that are left out.
	Listed struct {
		Gen      int
		Sessions []Session
		Done     bool
		Err      error
		Unread   []error
	}

	// Previewed brings the last turns of a session.
	Previewed struct {
		Key  Key
		Said []Said
		Err  error
	}

	// TurnsRead brings what was said in each turn of a session, from the first.
	TurnsRead struct {
		Key   Key
		Turns []string
		Err   error
	}

	// Forked tells what became of a fork. Key is the new session.
	Forked struct {
		Key  Key
		Turn int
		Err  error
	}

	// Exported tells what became of an export.
	Exported struct {
		File string
		Err  error
	}

	// Planned tells what stands against the removal of a session. It cannot be
	// removed when Refused is set. Allow are the obstacles that a person may
	// overrule.
	Planned struct {
		Session  Session
		Obstacle string
		Allow    []trash.Kind
		Refused  bool
		Err      error
	}

	// Deleted tells that a session is in the trash.
	Deleted struct {
		Key     Key
		Name    string
		Receipt trash.Receipt
		Err     error
	}

	// Restored tells that a session is out of the trash again.
	Restored struct {
		Key Key
		Err error
	}

	// Found brings what the search Gen found in a session.
	Found struct {
		Gen      int
		Key      Key
		Excerpts []Excerpt
		Done     bool
		Err      error
	}

	// Checked tells whether a session can be resumed.
	Checked struct {
		Session Session
		Obstacle
		Command string // for a shell, clean
		Err     error  // why it cannot
	}

	// Returned tells that the host has ended.
	Returned struct {
		Key Key
		Err error
	}

	// Offered tells which conversations of other tools are not here.
	Offered struct{ Offer }

	// Progressed tells how many of the histories of an import are done.
	Progressed struct{ Done, Total int }

	// Imported tells what an import did. Report is clean, and "" when nothing was
	// done. Err tells what failed.
	Imported struct {
		Report string
		Err    error
	}
)

// Obstacle is what keeps a session from being resumed.
type Obstacle int

// The obstacles.
const (
	NoObstacle Obstacle = iota
	NoHost              // the host is not on PATH
	NoDir               // nobody knows its directory
	DirGone             // its directory is gone
	Locked              // another host runs it
)

// Said is a message of a preview. Its text is clean.
type Said struct{ Role, Text string }

// Excerpt is the text around something that was found, in clean parts.
type Excerpt struct{ Role, Before, Text, After string }

// Command is what a [Model] wants done.
type Command any

// The commands. Each of the first ones is answered by the event of a like name.
type (
	List    struct{ Gen int }
	Preview struct{ Key Key }
	Turns   struct{ Key Key }
	Fork    struct {
		Key  Key
		Turn int
	}
	Export struct {
		Key  Key
		File string
	}
	Plan   struct{ Session Session }
	Delete struct {
		Session Session
		Allow   []trash.Kind
	}
	Restore struct {
		Key     Key
		Receipt trash.Receipt
	}
	Search struct {
		Gen  int
		Text string // "": only ends the search before
	}
	Check struct {
		Session Session
		Make    bool // make its directory when that is gone
	}
	Resume struct{ Session Session } // answered by Returned

	Seek       struct{} // answered by Offered
	Import     struct{} // of what the last Offered told; answered by events Progressed, then Imported
	StopImport struct{} // after the history under way; not answered

	Copy    struct{ Text string } // to the clipboard
	Suspend struct{}
	Quit    struct{}
)
