package foreign

// Action is what Import did to a session.
type Action string

// The actions.
const (
	Created   Action = "created"   // there is a new session
	Updated   Action = "updated"   // new messages were brought to a session that was as the last import left it
	Unchanged Action = "unchanged" // the session has it all
)

// Kind is what a session is made of.
type Kind string

// The kinds of sessions that Import makes.
const (
	Conversation Kind = "conversation" // the line of a history: the whole one, or what the tool would resume
	Branch       Kind = "branch"       // a line beside it
	Agent        Kind = "agent"        // what a sub-agent did
	Diverged     Kind = "diverged"     // the tool's side of a session that both sides continued
	Former       Kind = "former"       // a fork that keeps what a session had and its tool no longer has, see Report.Former
)

// Imported is one session that Import made or found.
type Imported struct {
	ID       string
	Kind     Kind
	Action   Action
	Messages int // that the tool's history makes
}

// Report tells what an import did and what it left out of the messages. All that
// is left out stands in import/original.jsonl.zst.
type Report struct {
	Project  string // name of the store's project
	Sessions []Imported

	Lines    int            // of the tool's files
	Left     map[string]int // lines that became no message, by why
	Blocks   map[string]int // parts of messages that have no place in a message, by kind
	Unknown  map[string]int // kinds of lines and names of members that this package does not know
	Branches int            // lines of the conversation and of sub-agents without a prompt of their own, which became no fork

	// Damaged are lines that could not be read, the first 1000 of them. A line of another
	// file than that of the history, as of a sub-agent's, has an [*fs.PathError] that names
	// the file.
	Damaged []LineError

	// Unplaced are lines with prompts that are in no session, and why, in the same form.
	// At most 1000 are named.
	Unplaced []LineError

	// Former has the forks that keep what sessions had and the tool no longer has, as
	// after a file was cut or turns were taken back: the number of these turns, by the id
	// of the fork. They are among Sessions, too.
	Former map[string]int

	// Home has the sessions that were exported and went on in the tool, and into which that
	// came: the number of the new turns, by the id of the session.
	Home map[string]int

	Counts []Count // of the files, the session's own first
}

// maxDamaged is how many damaged lines a report names.
const maxDamaged = 1000

// maxUnplaced is how many prompts in no session a report names.
const maxUnplaced = 1000

// maxUnknown is how many different unknown names a report has.
const maxUnknown = 100

func newReport() *Report {
	return &Report{Left: map[string]int{}, Blocks: map[string]int{}, Unknown: map[string]int{}, Former: map[string]int{}, Home: map[string]int{}}
}

// unknown counts a name that is not known. A name that may be text of a person
// is not told.
func (r *Report) unknown(what, name string) {
	if !isName(name) {
		name = "(other)"
	}
	name = what + " " + name
	if _, known := r.Unknown[name]; !known && len(r.Unknown) >= maxUnknown {
		name = what + " (other)"
	}
	r.Unknown[name]++
}

func (r *Report) block(kind string) {
	if !isName(kind) || len(r.Blocks) >= maxUnknown {
		kind = "(other)"
	}
	r.Blocks[kind]++
}

// isName reports whether a text looks like a word of a format.
func isName(s string) bool {
	for _, c := range []byte(s) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '_', c == '-':
		default:
			return false
		}
	}
	return s != "" && len(s) <= 40
}

// merge adds what another report tells of lines and their parts.
func (r *Report) merge(o *Report) {
	for why, n := range o.Left {
		r.Left[why] += n
	}
	for kind, n := range o.Blocks {
		r.Blocks[kind] += n
	}
}

// counted adds the count of a session, and counts it with its parent.
func (r *Report) counted(c Count) {
	if c.Parent != nil {
		for i := range r.Counts {
			if r.Counts[i].ID == *c.Parent {
				r.Counts[i].SubSessions++
			}
		}
	}
	r.Counts = append(r.Counts, c)
}
