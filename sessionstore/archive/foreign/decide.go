package foreign

// facts are what is known of a session, and of the target that is to come into it.
type facts uint32

// Some facts are known only where others say that they were read.
const (
	forked    facts = 1 << iota // both went on apart, and the last fork is of this very file
	present                     // there is a session with the target's id
	keeps                       // the target is to keep the tool's file
	comesHome                   // the session was exported, and the file has lines of the export
	opened                      // its metadata were read:
	settled                     // the last import read this very file
	pending                     // an import announced a transcript, and was killed
	unknown                     // no import made the session or changed it
	misnamed                    // a person gave it another name in the tool, or its parent came since; of an export also: no import knows the name there
	related                     // the file was compared with the one that the session keeps:
	unlike                      // there is no such file that can be read, or it has no records
	covered                     // the file has no record that the kept one lacks
	renewed                     // its tool brought the kept one to a later version, and added nothing
	split                       // each has records that the other one lacks
	rendered                    // the file's messages were made, and compared with the session's:
	news                        // the session lacks some
	holds                       // the session begins with all of them, and has more only if it went on here
	extends                     // they begin with all that the session has
	unchanged                   // they are those that the last import made
	free                        // the session is as the last import left it, or the new ones follow all that it has
	searched                    // its messages were searched for in all that the file makes:
	lost                        // a record that became one of them would be in no session
)

// action is what an import does with a session.
type action uint8

const (
	toFollow action = iota // the fork has all of the file
	toCreate
	toOpen    // reads the metadata
	toCompare // compares the files
	toRender  // makes the messages
	toSearch  // searches for the records of the session
	toName    // it has all of the file but for its name
	toLeave   // the session has all of the file
	toStay    // so it has, once its messages were made
	toNote    // it has all messages, and notes that they are of this file
	toReplace // it gets the messages of the file
	toPart    // it stays, and a fork of it gets them
)

// rows say what to do: the first row counts whose facts yes all hold, and of whose facts no none does.
var rows = []struct {
	yes, no facts
	do      action
}{
	{yes: forked, do: toFollow},
	{no: present, do: toCreate}, // also a session that was removed
	{no: opened, do: toOpen},
	{yes: settled | misnamed, no: pending, do: toName},
	{yes: settled, no: pending, do: toLeave},
	{no: related, do: toCompare},
	{yes: covered, no: pending, do: toLeave},
	{no: rendered, do: toRender},
	{yes: renewed, no: holds | pending, do: toLeave},            // the tool also dropped lines that it could not read
	{yes: comesHome | unknown | misnamed, no: news, do: toNote}, // the next export leaves the name
	{yes: comesHome | unknown, no: news, do: toStay},            // the file has nothing but the export
	{yes: holds | split, do: toStay},
	{yes: holds, no: keeps | pending | misnamed, do: toStay},
	{yes: holds, do: toNote},
	{yes: free | split, do: toPart},
	{yes: free | extends, do: toReplace},
	{yes: free | keeps | unlike, do: toPart}, // nothing says which records it had
	{yes: free, no: searched, do: toSearch},
	{yes: free | lost, do: toPart},
	{yes: free, do: toReplace},
	{yes: comesHome, no: news, do: toStay},
	{yes: unchanged, no: pending, do: toStay}, // only the session went on
}

// decided is [decide]; tests watch it.
var decided = decide

// decide says what an import does with a session. Where no row counts, both went on.
func decide(f facts) action {
	for _, r := range rows {
		if f&r.yes == r.yes && f&r.no == 0 {
			return r.do
		}
	}
	return toPart
}

// add adds a fact where it holds.
func (f *facts) add(fact facts, holds bool) {
	if holds {
		*f |= fact
	}
}
