package foreign

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/thread"
)

// The kinds of errors, for [errors.Is].
var (
	ErrTool    = errors.New("unknown tool")
	ErrChanged = thread.ErrChanged
	ErrEmpty   = errors.New("it holds no conversation")
	ErrWhole   = errors.New("the session holds the whole line")
	ErrActive  = errors.New("it holds no whole line of an imported conversation")
	ErrEdited  = errors.New("the imported messages were changed here")
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
	Conversation Kind = "conversation" // the line of a history: the whole one, or the part that the tool would resume
	Branch       Kind = "branch"       // a line beside it
	Agent        Kind = "agent"        // the work of a sub-agent
	Diverged     Kind = "diverged"     // the tool's side of a session that both sides continued
	Former       Kind = "former"       // a fork that keeps messages which the tool no longer has, see Report.Former
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

	// Former has the forks with messages that a session had and the tool no longer has, as
	// after a file was cut or turns were taken back: the number of these turns, by the id
	// of the fork. They are among Sessions, too.
	Former map[string]int

	// Home has the sessions that were exported and went on in the tool, and that received
	// the new turns: the number of these turns, by the id of the session.
	Home map[string]int

	// Counts has a JSON object for each session in the files, the history's own first, for
	// other programs to compare with. A text or a number that the file does not have is null.
	//
	//	tool, id, foreign_id   the tool, the id here, the tool's own id
	//	parent                 id of the session that began it, or that it was forked from
	//	file, cwd              the path as found, and the first working directory in it
	//	first, last            the earliest and the latest time of a line, in its own text
	//	prompts                what a person typed. whole: on the line that goes on before
	//	                       compactions; active: on the line that the tool would resume;
	//	                       all: on all lines. Codex: the events of prompts, or the typed
	//	                       items where there is none; active and whole are those that
	//	                       were not rolled back
	//	agent_prompts          the tasks of a sub-agent, whose prompts are 0
	//	queued, slash, shell   typed while the model worked, commands of the tool, commands
	//	                       for the shell: these are no prompts
	//	last_prompt_sha256     of the text of the last prompt on both lines, several text
	//	                       blocks joined by a newline
	//	responses              each message.id once (Codex: the messages of the model)
	//	calls, results         each id once, and calls_without_result (Codex: items)
	//	sub_sessions, forks    sub-agents, which are objects of their own, and the forks that
	//	                       the import makes of branches
	//	models                 by name: responses (Codex: turns)
	//	usage                  input, output, cache_read, cache_write in tokens, each response
	//	                       once (Codex: the last total; the input has what was cached)
	//	unread_lines, unknown  lines that could not be read, and how often each kind that is
	//	                       not known
	//
	// Responses, calls, results, models and usage are of the whole file, without its
	// sub-sessions.
	Counts []json.RawMessage
}
