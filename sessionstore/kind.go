package sessionstore

import (
	"github.com/amplifier-go/sessionstorage/internal/format/limits"
	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
)

// Kind is the kind of a session, as lists show it to people.
type Kind int

// The kinds of sessions.
const (
	Root     Kind = iota // a conversation of its own; a fork is one, too
	Internal             // a root whose label hides it in lists for people
	Worker               // an agent of another session ran it
)

// String returns root, internal or worker.
func (k Kind) String() string { return [...]string{"root", "internal", "worker"}[k] }

// KindOf returns the kind of session id, and the id of the session that it was made from,
// "" if unknown. A parent's id is cut after 8192 characters.
//
// The first of the given metadata with a decisive member decides: the metadata of the
// session, then the metadata of its capture in context-intelligence. A fork is a root.
// Else the label session_visibility decides where it is internal, then the parent, then
// the label chat. If nothing decides, a session whose id holds "_" is a worker, and any
// other one a root.
//
// The label only hides a session from people. It protects nothing.
func KindOf(id string, metadata ...Metadata) (kind Kind, parent string) {
	for _, md := range metadata {
		if r := relationOf(md); r.decided {
			return r.kind, r.parent
		}
	}
	if IsTopLevel(id) {
		return Root, ""
	}
	return Worker, ""
}

// relation holds the statements of metadata about the kind of a session.
type relation struct {
	kind    Kind
	parent  string
	fork    bool
	decided bool // the metadata decide the kind
}

func relationOf(md Metadata) relation {
	r := relation{parent: parentOf(md), decided: true}
	_, parent := md.lookup("parent_id")
	_, other := md.lookup("parent_session_id")
	switch label := md.Text("session_visibility"); {
	case isFork(md):
		r.fork = true
	case label == "internal":
		r.kind = Internal
	case parent || other:
		if r.parent != "" {
			r.kind = Worker
		}
	case label != "chat":
		r.decided = false
	}
	return r
}

// maxParent is the number of characters of a parent's id that count.
const maxParent = 8192

// parentOf returns the id of the parent, "" if there is none.
func parentOf(md Metadata) string {
	for _, name := range []string{"parent_id", "parent_session_id"} {
		if id := md.Text(name); !blank(id) {
			return limits.Runes(id, maxParent)
		}
	}
	return ""
}

// isFork reports whether md are the metadata of a fork, as the CLI or Unified write them.
func isFork(md Metadata) bool {
	if turn, ok := md.lookup("forked_from_turn"); ok && isCount(turn) && !blank(md.Text("forked_at")) {
		return true
	}
	fork, ok := md.lookup("fork")
	if !ok || pyjson.KindOf(fork) != pyjson.Object {
		return false
	}
	source, _ := pyjson.Lookup(fork, "source_session_id")
	turn, _ := pyjson.Lookup(fork, "through_user_turn")
	return !blank(pyjson.Text(source)) && pyjson.KindOf(turn) == pyjson.Integer
}

// isCount reports whether raw is an integer that is not negative.
func isCount(raw []byte) bool {
	return pyjson.KindOf(raw) == pyjson.Integer && (raw[0] != '-' || string(raw) == "-0")
}

// The variables of the environment that label a new session.
const (
	visibilityVariable = "AMPLIFIER_SESSION_VISIBILITY"
	purposeVariable    = "AMPLIFIER_SESSION_PURPOSE"
)

// Labels describe the audience of a session. They belong into the metadata of a new root
// session, before anything runs, and are never changed later: a session that is resumed,
// and an agent's session, get none. See [KindOf].
type Labels struct {
	Visibility string // chat, or internal: lists do not show it to people
	Purpose    string // of an internal session; "": not given
}

// NewLabels returns the labels of a new root session as the newest CLI chooses them:
// internal if AMPLIFIER_SESSION_VISIBILITY is exactly that, else chat. An internal one
// has the purpose AMPLIFIER_SESSION_PURPOSE, if that is a small letter with at most 79 of
// a-z, 0-9, "_", "." and "-" behind it. getenv is [os.Getenv] or a similar function.
func NewLabels(getenv func(name string) string) Labels {
	if getenv(visibilityVariable) != "internal" {
		return Labels{Visibility: "chat"}
	}
	l := Labels{Visibility: "internal"}
	if purpose := getenv(purposeVariable); isPurpose(purpose) {
		l.Purpose = purpose
	}
	return l
}

// Set sets session_visibility, and session_purpose if there is a purpose.
func (l Labels) Set(md *Metadata) error {
	if err := md.Set("session_visibility", l.Visibility); err != nil || l.Purpose == "" {
		return err
	}
	return md.Set("session_purpose", l.Purpose)
}

// maxPurpose is the greatest length of a purpose in bytes.
const maxPurpose = 80

func isPurpose(text string) bool {
	if text == "" || len(text) > maxPurpose || text[0] < 'a' || text[0] > 'z' {
		return false
	}
	for i := range len(text) {
		c := text[i]
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' && c != '.' && c != '-' {
			return false
		}
	}
	return true
}
