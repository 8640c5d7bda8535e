package picker

import "github.com/amplifier-go/sessionstorage/sessionstore/trash"

// The messages about what the picker did outside of its model.
type (
	// Listed brings sessions of the reading Gen, newest first. Err is the reason why the
	// reading ended early. Unread, at its end, has the errors of the sessions and
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
		Key      Key
		Passages []Passage
		Err      error
	}

	// Noticed reports that sessions came, went or were written.
	Noticed struct{}

	// Renamed is the outcome of a renaming.
	Renamed struct {
		Key  Key
		Name string
		Kept string // the path of the copy that undo brings back; empty: nothing was written, or there was nothing to keep
		Err  error
	}

	// TurnsRead brings the first text of each turn of a session.
	TurnsRead struct {
		Key   Key
		Turns []string
		Err   error
	}

	// Forked is the outcome of a fork. Key is the new session.
	Forked struct {
		Key  Key
		Turn int
		Err  error
	}

	// Exported is the outcome of an export.
	Exported struct {
		File string
		Err  error
	}

	// Planned has the obstacles to the removal of a session. The session cannot be
	// removed when Refused is set; else the user may overrule Allow, the kinds of the
	// obstacles.
	Planned struct {
		Session  Session
		Obstacle string
		Allow    []trash.Kind
		Refused  bool
		Err      error
	}

	// Deleted reports that a session is in the trash, or Err.
	Deleted struct {
		Key     Key
		Name    string
		Receipt trash.Receipt
		Err     error
	}

	// Restored reports that a session is out of the trash again, or Err.
	Restored struct {
		Key Key
		Err error
	}

	// Found brings the matches of the search Gen in a session.
	Found struct {
		Gen      int
		Key      Key
		Excerpts []Excerpt
		Done     bool
		Err      error
	}

	// Checked reports whether a session can be resumed.
	Checked struct {
		Session Session
		Obstacle
		Command string // for a shell, clean
		Origin  string // the tool from which it came, if that is on PATH: as "claude"
		Err     error  // why it cannot be resumed
	}

	// Returned reports that the host has ended, or that the user has seen a session.
	Returned struct {
		Key Key
		Err error
	}

	// Offered counts the conversations of other tools that are not here.
	Offered struct{ Offer }

	// Unread is Offered where not all of other tools could be read.
	Unread struct {
		Offered
		Err error
	}

	// Progressed counts the histories of an import that are done.
	Progressed struct{ Done, Total int }

	// Imported is the outcome of an import. Report is clean, and "" when nothing was
	// done. Err joins the failures.
	Imported struct {
		Report string
		Err    error
	}
)

// Obstacle is the reason why a session cannot be resumed.
type Obstacle int

// The obstacles.
const (
	NoObstacle Obstacle = iota
	NoHost              // the host is not on PATH
	NoDir               // its directory is not known
	DirGone             // its directory is gone
	Locked              // another host runs it
)

// Passage is a part of a message as the preview shows it. Its texts are clean.
type Passage struct {
	Role  string
	Text  string
	Brief string // the line of a call, a result or a thought, which has no Text
}

// Excerpt is a match and the text around it, in clean parts.
type Excerpt struct{ Role, Before, Text, After string }
