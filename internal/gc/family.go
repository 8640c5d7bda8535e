package gc

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/cosmos"
	"github.com/amplifier-go/sessionstorage/internal/head"
	"github.com/amplifier-go/sessionstorage/internal/remote"
	"github.com/amplifier-go/sessionstorage/internal/segment"
	"github.com/amplifier-go/sessionstorage/internal/show"
)

// A Family is sessions of one project of which each holds lines of another: a fork
// leads to lines of its parent, and a short one has a copy of them.
type Family struct {
	Reader  *remote.Reader
	Project segment.Identity // of all sessions, without a name

	members map[string]*Member // by SID: all sessions of the project
	firsts  map[string][]string
}

// A Member is a session as the cloud has it.
type Member struct {
	SID, Session string
	Head         *head.Head // nil: it has none
	ETag         cosmos.ETag
	Entry        *cosmos.Entry // of the catalogue; nil: none

	damage error // why its head cannot be read
}

// alive reports whether documents of the session may be there for readers.
func (m *Member) alive() bool { return m.Head != nil && !m.Head.Deleted }

// Read reads the catalogue, and the head of each session in it. It makes a point read
// for each session of the project.
func (f *Family) Read(ctx context.Context) error {
	f.members, f.firsts = map[string]*Member{}, map[string][]string{}
	for e, err := range cosmos.Entries(ctx, f.Reader, f.Project.UID(), f.Project.Project, time.Time{}) {
		if err != nil {
			return fmt.Errorf("read catalogue: %w", err)
		}
		if f.sid(e.Session) == e.SID {
			f.members[e.SID] = &Member{SID: e.SID, Session: e.Session, Entry: &e}
		}
	}
	return f.readHeads(ctx, f.sorted())
}

func (f *Family) sid(session string) string {
	of := f.Project
	of.Session = session
	return of.SID()
}

// headsAtOnce is how many heads are read at once.
const headsAtOnce = 8

func (f *Family) readHeads(ctx context.Context, all []*Member) error {
	workers := headsAtOnce
	if f.Reader.Alone {
		workers = 1
	}
	var (
		work sync.WaitGroup
		errs = make([]error, workers)
	)
	for i := range workers {
		work.Go(func() {
			for n := i; n < len(all) && errs[i] == nil; n += workers {
				errs[i] = f.readHead(ctx, all[n])
			}
		})
	}
	work.Wait()
	return errors.Join(errs...)
}

// readHead reads a member's head. One that is damaged hinders only who names it.
func (f *Family) readHead(ctx context.Context, m *Member) error {
	doc, err := f.Reader.HeadDocument(ctx, m.SID)
	if err != nil {
		return fmt.Errorf("read head of %q: %w", show.ID(m.Session), err)
	}
	m.Head, m.ETag, m.damage = nil, "", nil
	if doc != nil {
		m.ETag = doc.ETag
		m.Head, m.damage = head.Decode(doc.Body, m.SID)
	}
	return nil
}

// member returns a session, also one that has no entry in the catalogue.
func (f *Family) member(ctx context.Context, session string) (*Member, error) {
	sid := f.sid(session)
	if m := f.members[sid]; m != nil {
		return m, nil
	}
	m := &Member{SID: sid, Session: session}
	f.members[sid] = m
	return m, f.readHead(ctx, m)
}

// Of returns the whole family of the sessions named: these, and those with lines of
// them. Each one comes before the session that it was forked from. What was read by
// [Family.Read] counts.
func (f *Family) Of(ctx context.Context, sessions []string) ([]*Member, error) {
	var all []*Member
	in := map[string]bool{}
	add := func(m *Member) error {
		if m.damage != nil {
			return fmt.Errorf("session %q: %w: %w", show.ID(m.Session), remote.ErrHead, m.damage)
		}
		if !in[m.SID] {
			in[m.SID], all = true, append(all, m)
		}
		return nil
	}
	for _, session := range sessions {
		m, err := f.member(ctx, session)
		if err != nil {
			return nil, err
		}
		if err := add(m); err != nil {
			return nil, err
		}
	}
	for i := 0; i < len(all); i++ {
		others, err := f.relatives(ctx, all[i])
		if err != nil {
			return nil, err
		}
		for _, m := range others {
			if err := add(m); err != nil {
				return nil, err
			}
		}
	}
	slices.SortStableFunc(all, func(a, b *Member) int {
		return cmp.Or(cmp.Compare(f.depth(b), f.depth(a)), cmp.Compare(a.Session, b.Session))
	})
	return all, nil
}

// depth tells of how many sessions another one is a fork. Of one without a head nobody
// knows.
func (f *Family) depth(m *Member) (n int) {
	if m.Head == nil {
		return len(f.members)
	}
	for m != nil && m.Head != nil && m.Head.From != nil && n < len(f.members) {
		m, n = f.members[m.Head.From.SID], n+1
	}
	return n
}

// relatives returns the sessions that have lines of m, or of which m has lines.
func (f *Family) relatives(ctx context.Context, m *Member) (all []*Member, err error) {
	if all, err = f.forks(ctx, m); err != nil {
		return nil, err
	}
	for _, o := range f.sorted() {
		if o == m || o.Head == nil {
			continue
		}
		related := leads(o, m) || leads(m, o)
		if !related && o.alive() && f.kin(m, o) {
			if related, err = f.beginAlike(ctx, m, o); err != nil {
				return nil, err
			}
		}
		if related {
			all = append(all, o)
		}
	}
	return all, nil
}

func (f *Family) sorted() []*Member {
	return slices.SortedFunc(maps.Values(f.members), func(a, b *Member) int { return strings.Compare(a.SID, b.SID) })
}

// leads reports whether a session counts on documents of another.
func leads(child, parent *Member) bool {
	return child.Head != nil && leadsTo(child.Head, parent.SID)
}

// kin reports whether two sessions may have lines of one origin by their parents.
func (f *Family) kin(a, b *Member) bool {
	up := func(m *Member) string {
		if m.Head == nil || m.Head.Parent == "" {
			return ""
		}
		return f.sid(m.Head.Parent)
	}
	return up(a) == b.SID || up(b) == a.SID || up(a) != "" && up(a) == up(b)
}

// beginAlike reports whether two sessions have the same first line, in some history.
func (f *Family) beginAlike(ctx context.Context, a, b *Member) (bool, error) {
	ours, err := f.firstLines(ctx, a)
	if err != nil || len(ours) == 0 {
		return false, err
	}
	theirs, err := f.firstLines(ctx, b)
	return slices.ContainsFunc(theirs, func(h string) bool { return slices.Contains(ours, h) }), err
}

// firstLines returns the hashes of the lines that the histories of a session begin with.
func (f *Family) firstLines(ctx context.Context, m *Member) (all []string, err error) {
	if known, ok := f.firsts[m.SID]; ok || !m.alive() {
		return known, nil
	}
	infos, err := f.Reader.Segments(ctx, m.Head, segment.Transcript, 0)
	if err != nil {
		return nil, fmt.Errorf("session %q: %w", show.ID(m.Session), err)
	}
	for _, in := range infos {
		if first, ok := in.First(); ok {
			all = append(all, first)
		}
	}
	f.firsts[m.SID] = all
	return all, nil
}

// forks returns the sessions that the documents in a session's partition name as its
// forks, also such as may be about to get their heads.
func (f *Family) forks(ctx context.Context, m *Member) (all []*Member, err error) {
	if !m.alive() {
		return nil, nil
	}
	for row, err := range f.Reader.Query(ctx, cosmos.Forks(segment.SessionPK(m.SID))) {
		if err != nil {
			return nil, err
		}
		d, ok, err := decodeFork(row)
		if err != nil {
			return nil, fmt.Errorf("session %q: %w", show.ID(m.Session), err)
		}
		if !ok {
			continue
		}
		child, known := f.members[d.Child]
		if !known {
			if child, err = f.stranger(ctx, d.Child); err != nil {
				return nil, err
			}
		}
		switch {
		case child.damage != nil || leads(child, m):
			all = append(all, child)
		case child.Head == nil && f.Reader.Time().Sub(d.written()) < firstGrace:
			all = append(all, child)
		}
	}
	return all, nil
}

// stranger reads a session that is known by its SID alone.
func (f *Family) stranger(ctx context.Context, sid string) (*Member, error) {
	m := &Member{SID: sid, Session: sid}
	if err := f.readHead(ctx, m); err != nil {
		return nil, err
	}
	if m.Head != nil {
		m.Session = m.Head.Session
	}
	f.members[sid] = m
	return m, nil
}

// Whole returns the family of the sessions named. The error Is [ErrShared], and names
// them, where others belong to it that still have a head, or may be about to get one.
func (f *Family) Whole(ctx context.Context, sessions []string) ([]*Member, error) {
	all, err := f.Of(ctx, sessions)
	if err != nil {
		return nil, err
	}
	var missing []string
	var named []*Member
	for _, m := range all {
		switch {
		case slices.Contains(sessions, m.Session):
			named = append(named, m)
		case m.Session == m.SID:
			missing = append(missing, "one that is being made")
		case m.Head == nil || m.alive():
			missing = append(missing, show.ID(m.Session))
		}
	}
	if len(missing) > 0 {
		slices.Sort(missing)
		return nil, fmt.Errorf("%w, which are to be named too: %s", ErrShared, strings.Join(missing, ", "))
	}
	return named, nil
}
