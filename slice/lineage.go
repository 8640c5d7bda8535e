package slice

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/amplifier-go/sessionstorage/internal/pyjson"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// Lineage tells where a session comes from and what was made of it.
type Lineage struct {
	SessionID string  `json:"session_id"` // of the metadata; the directory's name where that is no text
	ParentID  *string `json:"parent_id"`  // nil: none
	Turn      *int    `json:"forked_from_turn"`

	Ancestors []string `json:"ancestors"` // nearest first; the last may not be there any more
	Children  []Child  `json:"children"`  // newest first
	Depth     int      `json:"depth"`     // how many ancestors there are

	Cyclic  bool    `json:"-"` // the session, or an ancestor, descends from itself: Ancestors has each once
	Skipped []error `json:"-"` // sessions whose metadata could not be read, each of which Is sessionstore.ErrCorrupt
}

// Child is a session that names another one as its parent: a fork, or a
// sub-session.
type Child struct {
	SessionID string  `json:"session_id"` // of the metadata; the directory's name where that is no text
	Dir       string  `json:"session_dir"`
	Turn      *int    `json:"forked_from_turn"`
	ForkedAt  *string `json:"forked_at"`
	Turns     int     `json:"turn_count"`
}

// Trace returns the lineage of session id within its sessions directory. It
// ends at an ancestor that is not there, that cannot be read, or that was seen
// before. Hidden directories are not looked into.
//
// The error Is [sessionstore.ErrCorrupt] when the metadata of the session
// itself are damaged without a good backup; what is told then is of a session
// of that id without a parent.
func Trace(ctx context.Context, st *sessionstore.Store, id string) (Lineage, error) {
	md, err := st.Metadata(ctx, id)
	if err != nil && !errors.Is(err, sessionstore.ErrCorrupt) {
		return Lineage{}, err
	}
	l := Lineage{SessionID: sessionIDOf(md, id), ParentID: textMember(md, "parent_id"), Turn: intMember(md, "forked_from_turn")}
	l.climb(ctx, st, id)
	children, skipped, lerr := children(ctx, st, l.SessionID)
	l.Children, l.Skipped = children, append(l.Skipped, skipped...)
	return l, errors.Join(err, lerr)
}

// Forks returns the sessions that have session id as their parent, newest
// first, as [Trace] does. Those whose metadata cannot be read are left out.
func Forks(ctx context.Context, st *sessionstore.Store, id string) ([]Child, error) {
	md, err := st.Metadata(ctx, id)
	if err != nil {
		return nil, err
	}
	found, _, err := children(ctx, st, sessionIDOf(md, id))
	return found, err
}

// climb finds the ancestors of the session in the directory id.
func (l *Lineage) climb(ctx context.Context, st *sessionstore.Store, id string) {
	l.Ancestors = []string{}
	seen := map[string]bool{id: true, l.SessionID: true}
	for next := l.ParentID; next != nil && *next != ""; {
		if seen[*next] {
			l.Cyclic = true
			break
		}
		seen[*next] = true
		l.Ancestors = append(l.Ancestors, *next)
		md, err := st.Metadata(ctx, *next)
		if errors.Is(err, sessionstore.ErrCorrupt) {
			l.Skipped = append(l.Skipped, err)
		}
		if err != nil {
			break
		}
		next = textMember(md, "parent_id")
	}
	l.Depth = len(l.Ancestors)
}

// sessionIDOf returns the session_id of metadata, and id where that is no text.
func sessionIDOf(md sessionstore.Metadata, id string) string {
	if text := textMember(md, "session_id"); text != nil {
		return *text
	}
	return id
}

func textMember(md sessionstore.Metadata, name string) *string {
	raw, _ := md.Lookup(name)
	return optionalText(raw)
}

func intMember(md sessionstore.Metadata, name string) *int {
	if n, ok := md.Int(name); ok {
		return &n
	}
	return nil
}

// childOf returns the child whose metadata in the directory id is raw, and
// false when parent is not its parent.
func childOf(st *sessionstore.Store, parent, id string, raw []byte) (c Child, ok bool, err error) {
	found := members(raw, "parent_id")[0]
	if pyjson.KindOf(found) != pyjson.String || !pyjson.KeyIs(found, parent) {
		return Child{}, false, nil
	}
	md, err := sessionstore.ParseMetadata(raw)
	if err != nil {
		return Child{}, false, err
	}
	c = Child{
		SessionID: sessionIDOf(md, id), Dir: filepath.Join(st.Dir(), id),
		Turn: intMember(md, "forked_from_turn"), ForkedAt: textMember(md, "forked_at"),
	}
	c.Turns, _ = md.Int("turn_count")
	return c, true, nil
}
