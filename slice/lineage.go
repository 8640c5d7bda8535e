package slice

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/format/pytime"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// Lineage is the origin of a session, with its children.
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
// The error Is [sessionstore.ErrCorrupt] when the metadata of the session itself are
// damaged and have no good backup. The lineage then has this id and no parent.
func Trace(ctx context.Context, st *sessionstore.Store, id string) (Lineage, error) {
	md, err := st.Metadata(ctx, id)
	if err != nil && !errors.Is(err, sessionstore.ErrCorrupt) {
		return Lineage{}, err
	}
	l := Lineage{SessionID: sessionIDOf(md, id), ParentID: textMember(md, "parent_id"), Turn: intMember(md, "forked_from_turn")}
	all, lerr := scan(ctx, st, id, l.SessionID)
	l.findAncestors(ctx, st, id, all.stored)
	l.Children, l.Skipped = all.children, append(l.Skipped, all.skipped...)
	return l, errors.Join(err, lerr)
}

// findAncestors finds the ancestors of the session in the directory id. stored has the
// directories of sessions that have another session_id in their metadata.
func (l *Lineage) findAncestors(ctx context.Context, st *sessionstore.Store, id string, stored map[string]string) {
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

// scanned holds the facts about one session from the metadata of all sessions.
type scanned struct {
	children []Child           // newest first
	stored   map[string]string // directories by a session_id that is not their name; "": several have it
	skipped  []error           // an error for each session that could not be read
}

// scan reads the metadata of all sessions, for the session in the directory id that
// has the session_id sessionID.
func scan(ctx context.Context, st *sessionstore.Store, id, sessionID string) (all scanned, err error) {
	all = scanned{children: []Child{}, stored: map[string]string{}}
	infos, err := st.List(ctx, &sessionstore.ListOptions{All: true})
	if err != nil {
		return all, err
	}
	lost, err := vfs.LostLinks(st.Dir())
	for _, name := range lost {
		_, reason := os.Stat(filepath.Join(st.Dir(), name))
		all.skipped = append(all.skipped, &sessionstore.Error{Op: "read metadata of", Session: name, Err: vfs.Lost(reason)})
	}
	for _, info := range infos {
		md, err := st.Metadata(ctx, info.ID)
		switch {
		case ctx.Err() != nil:
			return all, ctx.Err()
		case errors.Is(err, sessionstore.ErrNotFound):
			continue // it was removed in between
		case err != nil:
			all.skipped = append(all.skipped, err)
			continue
		}
		stored, _ := md.Lookup("session_id")
		all.noteStored(info.ID, stored)
		if parent, _ := md.Lookup("parent_id"); isText(parent, id) || isText(parent, sessionID) {
			all.children = append(all.children, childOf(st, info.ID, md))
		}
	}
	newestFirst(all.children)
	return all, err
}

// noteStored takes the session_id of the session in the directory name.
func (all *scanned) noteStored(name string, sessionID []byte) {
	if pyjson.KindOf(sessionID) != pyjson.String || pyjson.KeyIs(sessionID, name) {
		return
	}
	id := pyjson.Text(sessionID)
	if _, twice := all.stored[id]; twice {
		name = ""
	}
	all.stored[id] = name
}

// isText reports whether raw is that text.
func isText(raw []byte, text string) bool {
	return pyjson.KindOf(raw) == pyjson.String && pyjson.KeyIs(raw, text)
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

// childOf returns the session in the directory id, which has these metadata.
func childOf(st *sessionstore.Store, id string, md sessionstore.Metadata) Child {
	c := Child{
		SessionID: sessionIDOf(md, id), Dir: filepath.Join(st.Dir(), id),
		Turn: intMember(md, "forked_from_turn"), ForkedAt: textMember(md, "forked_at"),
	}
	if n, ok := md.Int("turn_count"); ok {
		c.Turns = n
	}
	return c
}

// sessionIDOf returns the session_id of metadata, or id if that is no string.
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

// newestFirst sorts children: first those whose forked_at is a time, by that
// time; then those with another forked_at, by its text; then the others.
func newestFirst(all []Child) {
	slices.SortStableFunc(all, func(a, b Child) int {
		at, aok := forkTime(a)
		bt, bok := forkTime(b)
		switch {
		case aok && bok:
			return cmp.Or(bt.Compare(at), cmp.Compare(a.Dir, b.Dir))
		case aok:
			return -1
		case bok:
			return 1
		}
		return cmp.Or(cmp.Compare(forkText(b), forkText(a)), cmp.Compare(a.Dir, b.Dir))
	})
}

func forkText(c Child) string {
	if c.ForkedAt == nil {
		return ""
	}
	return *c.ForkedAt
}

func forkTime(c Child) (time.Time, bool) {
	at, _, err := pytime.Parse(forkText(c))
	return at, err == nil && c.ForkedAt != nil
}
