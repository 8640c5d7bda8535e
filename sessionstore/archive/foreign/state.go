package foreign

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/thread"
)

// errDiffers ends a rendering that the session differs from.
var errDiffers = errors.New("the session differs")

// The files that an import keeps beside a conversation.
const (
	importFolder = "import"
	originalFile = "original.jsonl.zst"
	mapFile      = "map.jsonl"
)

// places are the folders in which a session may keep the files of tools, and the members of
// metadata that describe them: for the file that it was imported from, and for the files
// that its exports became.
var places = func() (all []string) {
	all = append(all, importFolder)
	for _, tool := range Tools() {
		all = append(all, importFolder+"_"+string(tool))
	}
	return all
}()

// state describes the file that a session was imported from, and the result of the import.
type state struct {
	Tool       string                   `json:"tool"`
	ID         string                   `json:"id"`
	SHA256     string                   `json:"sha256"`            // of the tool's file
	Transcript string                   `json:"transcript"`        // the transcript that the last import left
	Pending    string                   `json:"pending,omitempty"` // the transcript that an import is about to write
	Turns      int                      `json:"turns"`             // of it
	Rules      int                      `json:"rules,omitempty"`   // see rules
	Early      int                      `json:"early,omitempty"`   // how many of the first messages are by rules before 3
	Here       int                      `json:"here,omitempty"`    // messages that were said here, and exported
	Named      uint64                   `json:"named,omitempty"`   // hash of the name that the session has from an export: a rule may keep that here
	Usage      map[string]*thread.Usage `json:"usage,omitempty"`   // by model, of the conversation

	// Call is the id of the call that began a sub-agent, in the session that made it.
	Call string `json:"call,omitempty"`

	// ContinuedIn has the ids of the sessions in which the tool went on, as copies of this one.
	ContinuedIn []string `json:"continued_in,omitempty"`

	// Spent is the usage of the whole file by model, each response once over the sessions
	// that the file makes. The map has it by response.
	Spent map[string]*thread.Spending `json:"spent,omitempty"`
}

// rules is the version of the rules by which records become messages. Since 3, pictures in
// results are pictures, and a prompt keeps the texts of the tool before the next prompt.
const rules = 3

// early returns how many of the first messages of a session earlier rules made, or were about to
// make when their import was killed. These messages stay as they are, and what follows them is
// made by the rules of now: so no import writes messages anew because of its rules.
func (s state) early() int {
	if s.Tool == "" || s.Rules >= rules {
		return s.Early
	}
	last, next := 0, 0
	_, _ = fmt.Sscan(s.Transcript, &last)
	_, _ = fmt.Sscan(s.Pending, &next)
	return max(last, next)
}

// revisionText returns a revision in the form that a state keeps.
func revisionText(r sessionstore.Revision) string {
	return fmt.Sprintf("%d %d %x", r.Messages, r.Bytes, r.Sum)
}

// stateIn returns the state in a member of metadata, which has the name of the folder, and
// the zero state where there is none.
func stateIn(md sessionstore.Metadata, place string) (s state) {
	raw, ok := md.Lookup(place)
	if !ok || pyjson.KindOf(raw) != pyjson.Object {
		return s
	}
	if json.Unmarshal(raw, &s) != nil {
		return state{}
	}
	return s
}

// assign sets members of metadata.
func assign(md *sessionstore.Metadata, members ...assignment) error {
	for _, a := range members {
		if err := md.Set(a.name, a.value); err != nil {
			return fmt.Errorf("set %s: %w", a.name, err)
		}
	}
	return nil
}

type assignment struct {
	name  string
	value any
}
