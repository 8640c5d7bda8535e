package slice

import (
	"context"
	"errors"

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

	Cyclic  bool    `json:"-"` // the session, or an ancestor, descends from itself; Ancestors names each session once
	Skipped []error `json:"-"` // sessions whose metadata could not be read; an error Is sessionstore.ErrCorrupt where a file is damaged
}

// Trace returns the lineage of session id within its sessions directory. A
// parent_id names the directory of the parent, as the newest tools write it, or the
// session_id in its metadata, as older ones do; where it may be both, the parent is
// the session in the directory. An id that several sessions have in their metadata
// names none of them. The children are all sessions that name this one by either,
// even where such a parent_id names another directory too. The ancestors end at one
// that does not exist, that cannot be read, or that was met before. Trace does not
// read hidden directories.
//
// The error Is [sessionstore.ErrCorrupt] when the metadata of the session itself
// are damaged and have no good backup. The lineage is then that of a session
// with this id and without a parent.
func Trace(ctx context.Context, st *sessionstore.Store, id string) (Lineage, error) {
	md, err := st.Metadata(ctx, id)
	if err != nil && !errors.Is(err, sessionstore.ErrCorrupt) {
		return Lineage{}, err
	}
	l := Lineage{SessionID: sessionIDOf(md, id), ParentID: textMember(md, "parent_id"), Turn: intMember(md, "forked_from_turn")}
	all, lerr := scan(ctx, st, id, l.SessionID)
	l.climb(ctx, st, id, all.stored)
	l.Children, l.Skipped = all.children, append(l.Skipped, all.skipped...)
	return l, errors.Join(err, lerr)
}

// Forks returns the sessions that have session id as their parent, newest
// first, as [Trace] does. Those whose metadata cannot be read are left out.
func Forks(ctx context.Context, st *sessionstore.Store, id string) ([]Child, error) {
	md, err := st.Metadata(ctx, id)
	if err != nil {
		return nil, err
	}
	all, err := scan(ctx, st, id, sessionIDOf(md, id))
	return all.children, err
}

// climb finds the ancestors of the session in the directory id. stored has the
// directories of sessions that have another session_id in their metadata.
func (l *Lineage) climb(ctx context.Context, st *sessionstore.Store, id string, stored map[string]string) {
	l.Ancestors = []string{}
	seen := map[string]bool{id: true}
	for next := l.ParentID; next != nil && *next != ""; {
		dir := *next
		md, err := st.Metadata(ctx, dir)
		if other := stored[dir]; other != "" && errors.Is(err, sessionstore.ErrNotFound) {
			dir = other
			md, err = st.Metadata(ctx, dir)
		}
		if seen[dir] {
			l.Cyclic = true
			break
		}
		seen[dir] = true
		l.Ancestors = append(l.Ancestors, *next)
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
