package verify

import (
	"errors"
	"fmt"
)

// Kind is a kind of finding.
type Kind string

// The kinds of findings.
const (
	Damaged   Kind = "damaged"   // neither the file nor its backup can be read, or the directory cannot
	Recovered Kind = "recovered" // the file is damaged; the backup is read instead
	Pending   Kind = "pending"   // another tool's append was cut off, or is under way; the backup is read instead
	Strict    Kind = "strict"    // the older Amplifier tools read the session, the newer ones refuse it
	Backup    Kind = "backup"    // the file is sound; its backup is damaged
	Log       Kind = "log"       // an event log has lines that are no events, or cannot be read
	State     Kind = "state"     // another file of the session has lines or JSON that cannot be read
	Foreign   Kind = "foreign"   // the directory holds no file of a session, or is a symlink, or another program left something in it
)

// Advice returns a remedy for findings of the kind, in one sentence.
func (k Kind) Advice() string { return advice[k] }

var advice = map[Kind]string{
	Damaged:   "Store.Load returns what can be read; bring the file back from a copy of the session.",
	Recovered: "Store.Salvage brings back messages that the backup lacks; the next save writes the file anew and keeps the damaged one beside it.",
	Pending:   "If no tool is writing, the next save writes the transcript anew from the backup.",
	Strict:    "Correct the named line, so that the newer tools read the session again.",
	Backup:    "The next save that changes the file makes a new backup.",
	Log:       "Readers of the log pass over these lines; nothing has to be done.",
	State:     "Bring the file back from its backup or from a copy of the session.",
	Foreign:   "Move what does not belong there out of the sessions directory. Let the program that copies the folder fetch a file that is not on this device; Store.Salvage offers the messages of another device's version.",
}

// Finding is a fault of a session.
type Finding struct {
	Session string
	Kind    Kind
	File    string // below the session's directory, with slashes; "" for the session as a whole
	Line    int    // from 1; 0 for the file as a whole
	Err     error  // the fault; of the kind Log, it may be a *LogError
}

func (f Finding) String() string {
	place := f.File
	if f.Line > 0 {
		place = fmt.Sprintf("%s:%d", f.File, f.Line)
	}
	if place != "" {
		place += ": "
	}
	return fmt.Sprintf("session %q: %s: %s%v", f.Session, f.Kind, place, f.Err)
}

// LogError counts the lines of an event log that are no events, or have a time that cannot
// be read.
type LogError struct{ Skipped, Lines int }

func (e *LogError) Error() string {
	return fmt.Sprintf("%d of %d lines are no events, or have a time that cannot be read", e.Skipped, e.Lines)
}

// The errors of findings of the kind Foreign and State.
var (
	ErrSymlink   = errors.New("it is a symlink, which no tool removes and which may lead elsewhere")
	ErrNoSession = errors.New("the directory holds no file of a session")

	errNoObject = errors.New("it is no JSON object")
	errTooLarge = errors.New("it is larger than 256 MiB and was not checked")
)
