package foreign

import (
	"errors"
	"fmt"

	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/thread"
)

// The kinds of errors, for [errors.Is].
var (
	ErrTool    = errors.New("unknown tool")
	ErrChanged = thread.ErrChanged
	ErrEmpty   = errors.New("it holds no conversation")
)

// LineError is the reason why a line of the tool's file could not be used. It has no text
// of the line. The error of [Import] is a *LineError, for [errors.As], where it is about a
// line.
type LineError struct {
	Line int // from 1
	Err  error
}

func (e *LineError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }

// Unwrap returns the reason.
func (e *LineError) Unwrap() error { return e.Err }

// lineErrors is an error that may be a *thread.LineError.
type lineErrors struct{ error }

func (e lineErrors) Unwrap() error { return e.error }

// As makes a *LineError of it.
func (e lineErrors) As(target any) bool {
	to, ok := target.(**LineError)
	var found *thread.LineError
	if !ok || !errors.As(e.error, &found) {
		return false
	}
	*to = (*LineError)(found)
	return true
}

// Action is the effect of an import on a session.
type Action string

// The actions.
const (
	Created   Action = "created"   // there is a new session
	Updated   Action = "updated"   // new messages were brought to a session that was as the last import left it
	Unchanged Action = "unchanged" // the session has all messages
)

// Kind is the origin of a session's messages.
type Kind string

// The kinds of sessions that Import makes.
const (
	Conversation Kind = "conversation" // the line of a history
	Branch       Kind = "branch"       // a line beside it
	Agent        Kind = "agent"        // the work of a sub-agent
	Diverged     Kind = "diverged"     // what the tool has apart from a session, whose fork it is
)

// Imported is one session that Import made or found.
type Imported struct {
	ID       string
	Kind     Kind
	Action   Action
	Messages int // that the tool's history makes
}

// Report describes the work of an import and the lines that it left out of the messages.
// All lines left out are in import/original.jsonl.zst.
type Report struct {
	Project  string // name of the store's project
	Sessions []Imported

	Lines    int            // of the tool's files
	Left     map[string]int // lines that became no message, by why
	Blocks   map[string]int // parts of messages that have no place in a message, by kind
	Unknown  map[string]int // kinds of lines and names of members that this package does not know
	Branches int            // lines of the conversation and of sub-agents without a prompt of their own, which became no fork

	// Damaged are lines that could not be read, the first 1000 of them. A line of a file
	// other than the history's own, such as a sub-agent's, has an [*fs.PathError] that
	// names the file.
	Damaged []LineError

	// Unplaced are lines with prompts that are in no session, and why, in the same form.
	// At most 1000 are named.
	Unplaced []LineError

	// Shorter are the paths of files of the history, or of its sub-agents, in other folders
	// of the tool: a longer one has the session, and nothing of these came.
	Shorter []string

	// TakenUp are sessions that are in the trash now: earlier imports made them of parts of
	// a thread that stood alone, and the session of the thread has all of them.
	TakenUp []string

	// StandAlone are sessions of parts of the thread that stay what they are: a rule of
	// package hybrid keeps them on this machine, so the session of the thread has none of
	// their words, or they were changed after their import.
	StandAlone []string

	// Home has the sessions that were exported and went on in the tool, and that received
	// the new turns: the number of these turns, by the id of the session.
	Home map[string]int
}
