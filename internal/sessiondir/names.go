package sessiondir

// The other files of a session that this library knows, beside [Transcript],
// [Metadata] and [Config].
const (
	State        = "state.json"
	Events       = "events.jsonl"
	Phases       = "phase_outputs.jsonl"
	Conversation = "session_conversation.jsonl"
	StateHistory = "state_history.jsonl"
	ImportFolder = "import"
)

var (
	// Small are the files that are replaced as a whole.
	Small = [...]string{Metadata, Config, State}
	// Imported are the files that an import of another tool's history keeps, in the
	// folder [ImportFolder]. They are written with the metadata only, and never leave
	// a device that has rules for what leaves it: nobody could apply these to them.
	Imported = [...]string{ImportFolder + "/original.jsonl.zst", ImportFolder + "/map.jsonl"}
	// Logs are the files to which tools append lines in place, [Events] most of all.
	// The transcript is none of them: it can be rewritten.
	Logs = [...]string{Events, Phases, Conversation, StateHistory}
	// Files are all files of a session that go to other devices.
	Files = [1 + len(Small) + len(Logs)]string{
		Transcript,
		Small[0], Small[1], Small[2],
		Logs[0], Logs[1], Logs[2], Logs[3],
	}
)

// IsImported reports whether a file is one of [Imported].
func IsImported(name string) bool { return name == Imported[0] || name == Imported[1] }
