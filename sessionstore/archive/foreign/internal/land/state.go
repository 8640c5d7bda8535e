package land

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/thread"
)

// The reasons why an import, an export or a fork is not made.
var (
	ErrEmpty   = errors.New("it holds no conversation")
	ErrWhole   = errors.New("the session holds the whole line")
	ErrActive  = errors.New("it holds no whole line of an imported conversation")
	ErrEdited  = errors.New("the imported messages were changed here")
	errDiffers = errors.New("the session differs") // it ends a rendering that the session differs from
)

// The kinds of sessions.
const (
	KindConversation = "conversation"
	KindBranch       = "branch"
	KindAgent        = "agent"
	KindDiverged     = "diverged"
	KindFormer       = "former"
)

// The effects of an import on a session.
const (
	WasCreated   = "created"
	WasUpdated   = "updated"
	WasUnchanged = "unchanged"
)

// The files that an import keeps beside a conversation.
const (
	Folder       = "import"
	OriginalFile = "original.jsonl.zst"
	MapFile      = "map.jsonl"
)

// places are the folders in which a session may keep the files of tools, and the members of
// metadata that describe them: for the file that it was imported from, and for the files
// that its exports became.
var places = []string{Folder, Folder + "_claude", Folder + "_codex"}

// State describes the file that a session was imported from, and the result of the import.
type State struct {
	Tool       string                   `json:"tool"`
	ID         string                   `json:"id"`
	SHA256     string                   `json:"sha256"`            // of the tool's file
	Transcript string                   `json:"transcript"`        // the transcript that the last import left
	Pending    string                   `json:"pending,omitempty"` // the transcript that an import is about to write
	Turns      int                      `json:"turns"`             // of it
	Rules      int                      `json:"rules,omitempty"`   // see rules
	Here       int                      `json:"here,omitempty"`    // messages that were said here, and exported
	Usage      map[string]*thread.Usage `json:"usage,omitempty"`   // by model, of the conversation

	// ContinuedIn has the ids of the sessions in which the tool went on, as copies of this one.
	ContinuedIn []string `json:"continued_in,omitempty"`

	// Spent is the usage of the whole file by model, each response once over the sessions
	// that the file makes. The map has it by response.
	Spent map[string]*thread.Spending `json:"spent,omitempty"`
}

// rules is the version of the rules by which records become messages.
const rules = 2

// RevisionText returns a revision in the form that a state keeps.
func RevisionText(r sessionstore.Revision) string {
	return fmt.Sprintf("%d %d %x", r.Messages, r.Bytes, r.Sum)
}

// StateOf returns the state of the import that made a session, and the zero state where
// none did.
func StateOf(md sessionstore.Metadata) State { return StateIn(md, Folder) }

// StateIn returns the state in a member of metadata, which has the name of the folder.
func StateIn(md sessionstore.Metadata, place string) (s State) {
	raw, ok := md.Lookup(place)
	if !ok || pyjson.KindOf(raw) != pyjson.Object {
		return s
	}
	if json.Unmarshal(raw, &s) != nil {
		return State{}
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
