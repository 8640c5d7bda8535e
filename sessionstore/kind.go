package sessionstore

import (
	"unicode/utf8"

	"github.com/amplifier-go/sessionstorage/internal/pyjson"
)

// Kind is what a session is to people.
type Kind int

// The kinds of sessions.
const (
	Root     Kind = iota // a conversation of its own; a fork is one, too
	Internal             // a root that is labelled as one that lists do not show to people
	Worker               // an agent of another session ran it
)

// String returns root, internal or worker.
func (k Kind) String() string { return [...]string{"root", "internal", "worker"}[k] }

// KindOf returns what kind of session id is, and the id of the session that it
// was made from, "" if unknown. A parent's id is cut after 8192 characters.
//
// The first of the given metadata that says something decides: those of the
// session, then those of its capture in context-intelligence. A fork is a root.
// Else the label session_visibility decides where it is internal, then the
// parent, then the label chat. If nothing decides, a session whose id holds "_"
// is a worker, and any other one a root.
//
// The label is about what people are shown. It protects nothing.
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

// relation is what metadata say of the kind of a session.
type relation struct {
	kind    Kind
	parent  string
	fork    bool
	decided bool // the metadata say something
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

// maxParent is how many characters of a parent's id count.
const maxParent = 8192

// parentOf returns the id of the parent, "" if there is none.
func parentOf(md Metadata) string {
	for _, name := range []string{"parent_id", "parent_session_id"} {
		if id := md.Text(name); !blank(id) {
			return cutText(id, maxParent)
		}
	}
	return ""
}

// cutText returns the first characters of a text.
func cutText(text string, most int) string {
	if len(text) <= most || utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most])
}

// isFork reports whether metadata are those of a fork, as the CLI or Unified
// write them.
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
	return !blank(textOf(source)) && pyjson.KindOf(turn) == pyjson.Integer
}

// isCount reports whether raw is an integer that is not negative.
func isCount(raw []byte) bool {
	return pyjson.KindOf(raw) == pyjson.Integer && (raw[0] != '-' || string(raw) == "-0")
}
