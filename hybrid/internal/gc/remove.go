package gc

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"time"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/head"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/jitter"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/remoteread"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
	"github.com/amplifier-go/sessionstorage/hybrid/remote"
	"github.com/amplifier-go/sessionstorage/internal/format/limits"
)

// # Remove
//
// A removal removes the text of a session at once, without a grace time, so the proof of
// a prune does not cover it. It goes in three steps:
//
//	bury    one request: the head becomes a tombstone, if it is still the version that
//	        was read. A session without a head gets one.
//	enter   the entry in the catalogue loses the name
//	empty   all documents go but the tombstone, which gets another version once they
//	        are listed; see [Empty]
//
// A writer that is under way meets the tombstone when it changes the head, and removes
// its documents; see package syncer. A device that recreates a session replaces the
// tombstone in the version that it read: where that is the last one, the removal of this
// session ends, with [ErrRecreated]. A reader that misses a document reads the head
// again. A removal that was interrupted leaves a whole session or a tombstone. The next
// call does the remaining steps. Prune finds documents that come even later: it looks at
// a deleted session at once, and 90 days after the last write of its tombstone.

// ErrAbsent is returned when the remote has nothing of a session. It Is [fs.ErrNotExist].
var ErrAbsent = limits.Errorf(fs.ErrNotExist, "the remote has nothing of the session")

// A Remover removes sessions for good.
type Remover struct {
	*Project
	Writer head.Writer
	Random *jitter.Source
}

// Remove removes sessions from the cloud with all their documents, except tombstones. The
// error Is [ErrAbsent] when the cloud has nothing of one: then Remove changed nothing. It
// Is [ErrRecreated] when a device recreated one at the same time; the others are removed.
func (p *Remover) Remove(ctx context.Context, sessions []string) error {
	var recreated error
	err := remoteread.Again(ctx, p.Random, func() error {
		err := p.round(ctx, sessions)
		if errors.Is(err, ErrRecreated) {
			recreated, err = err, nil
		}
		return err
	})
	return cmp.Or(recreated, err)
}

func (p *Remover) round(ctx context.Context, sessions []string) error {
	all, err := p.Read(ctx, sessions)
	if err != nil {
		return err
	}
	for _, m := range all {
		if err := p.known(ctx, m); err != nil {
			return m.Named(err)
		}
	}
	for _, m := range all {
		failed := m.Named(p.remove(ctx, m))
		if err = errors.Join(err, failed); failed != nil && !errors.Is(failed, ErrRecreated) {
			break
		}
	}
	return err
}

func (p *Remover) remove(ctx context.Context, m *Member) error {
	if err := p.bury(ctx, m); err != nil {
		return err
	}
	if err := p.enter(ctx, m); err != nil {
		return err
	}
	_, err := Empty(ctx, &Session{SID: m.SID, Reader: p.Reader, Random: p.Random}, m.Head, m.Version)
	return err
}

// known returns an error unless the cloud has a head, an entry or other documents of a
// session, and none of another format.
func (p *Remover) known(ctx context.Context, m *Member) error {
	there, err := stored(ctx, p.Reader, m.SID)
	if err == nil && m.Head == nil && m.Entry == nil && len(there) == 0 {
		err = ErrAbsent
	}
	return err
}

// bury makes a tombstone of the head, also of a tombstone that another device may
// continue from; see package syncer.
func (p *Remover) bury(ctx context.Context, m *Member) error {
	if m.Head != nil && m.Head.Deleted && m.Head.Writer.Device == p.Writer.Device {
		return nil
	}
	t := m.Head
	if t == nil {
		t = &head.Head{
			SID: m.SID, User: p.Identity.User, Project: p.Identity.Project, Session: m.Session,
			Born: p.Random.Name(8), Revision: 1, Updated: p.Reader.Time(),
		}
		if m.Entry != nil {
			t.Revision = m.Entry.Revision
		}
	}
	if !t.Deleted {
		t = t.Tombstone()
	}
	t = t.Clone()
	t.Op, t.Writer = p.Writer.Device+"-"+p.Random.Name(6), p.Writer
	doc, err := t.Encode()
	if err != nil {
		return err
	}
	v, err := p.Reader.Commit(ctx, doc.PK, nil, remoteread.Swap(doc, m.Version))
	if err != nil {
		return remoteread.Lost(err)
	}
	m.Head, m.Version = t, v
	return nil
}

// enter writes the entry of a tombstone, which has no name.
func (p *Remover) enter(ctx context.Context, m *Member) error {
	last := remote.Version("")
	if m.Entry != nil {
		if last = m.Entry.Version; m.Entry.Deleted && m.Entry.Name == "" {
			return nil
		}
	}
	entry := m.Head.Catalogue(p.Identity.UID(), "")
	if _, err := p.Reader.WriteEntry(ctx, &entry, last); err != nil {
		return fmt.Errorf("write catalogue: %w", err)
	}
	return nil
}

// ErrRecreated is returned when another device recreated a session while it was emptied.
var ErrRecreated = fmt.Errorf("%w: a device recreated the session meanwhile, and it stays", remoteread.ErrContended)

// Empty removes all documents of a session but its head t, which is its tombstone in the
// version version, and returns the tombstone's new version. Documents of other tools
// stay. Documents that it leaves when it is interrupted are removed by the next call, and
// by Prune.
//
// It lists, gives the tombstone another version, and then removes the listed documents. A
// device that recreates the session replaces the version of the tombstone that it read
// before it stored anything. Where that fails, it stores all again, under names that were
// not listed. Where it is first, nothing is removed, and the error Is [ErrRecreated].
func Empty(ctx context.Context, s *Session, t *head.Head, version remote.Version) (remote.Version, error) {
	names, err := stored(ctx, s.Reader, t.SID)
	if err != nil {
		return version, fmt.Errorf("remove documents: %w", err)
	}
	if len(names) == 0 {
		return version, nil
	}
	if version, err = Renew(ctx, s, t, version); err != nil {
		now, _, unread := s.Reader.Head(ctx, t.SID, remoteread.Known{})
		if errors.Is(err, remoteread.ErrLost) && unread == nil && now != nil && !now.Deleted {
			err = ErrRecreated
		}
		return "", err
	}
	p := &pruner{s: s}
	return version, p.discard(ctx, names)
}

// Renew gives the tombstone t another version, if it still has the version version: every
// change that was decided by that version fails. The error Is [remoteread.ErrLost] when
// it has not.
func Renew(ctx context.Context, s *Session, t *head.Head, version remote.Version) (remote.Version, error) {
	p := &pruner{s: s, head: t}
	s.Head.Version = version
	err := p.swap(ctx, t.Clone(), nil)
	return s.Head.Version, err
}

// Removable returns an error that Is [segment.ErrFormat] when a session has a document of
// another format: then none of its documents may be removed.
func Removable(ctx context.Context, r *remoteread.Reader, sid string) error {
	_, err := stored(ctx, r, sid)
	return err
}

// stored lists all documents of a session but its head, reachable or not. The error Is
// [segment.ErrFormat] when one has another format.
func stored(ctx context.Context, r *remoteread.Reader, sid string) (names []string, err error) {
	for o, err := range r.List(ctx, segment.SessionPK(sid), remote.Query{Prefix: sid + "-"}) {
		if err != nil {
			return nil, err
		}
		if o.Name == segment.HeadID(sid) {
			continue
		}
		if err := segment.CheckFormat(o.Label); err != nil {
			return nil, err
		}
		names = append(names, o.Name)
	}
	return names, nil
}

// Journal records the revision of the catalogue's entry at which each session was last
// pruned, so that an unchanged session costs nothing. Without a journal all sessions are
// pruned once more.
type Journal struct {
	V         int             `json:"v"`
	Grace     time.Duration   `json:"grace"` // of the last prune
	Retention time.Duration   `json:"retention"`
	Sessions  map[string]done `json:"sessions"` // by SID
}

type done struct {
	Revision int64     `json:"rev"`
	Due      time.Time `json:"due,omitzero"` // when there will be more to do though nothing changes
}

const journalVersion = 1

// ReadJournal reads a text that [Journal.Encode] returned. It returns an empty journal
// for every other text, and for a journal of other options.
func ReadJournal(text []byte, o Options) *Journal {
	j := &Journal{}
	if json.Unmarshal(text, j) != nil || j.V != journalVersion || j.Sessions == nil || j.Grace != o.Grace || j.Retention != o.Retention {
		return &Journal{V: journalVersion, Grace: o.Grace, Retention: o.Retention, Sessions: map[string]done{}}
	}
	return j
}

// Encode returns the journal's text.
func (j *Journal) Encode() ([]byte, error) { return json.Marshal(j) }

// Note records that a session was pruned, and when there will be more to do though
// nothing changes.
func (j *Journal) Note(e *remoteread.Entry, due time.Time) {
	j.Sessions[e.SID] = done{e.Revision, due}
}

// Due returns the entries of a project's sessions that there may be work for, by the
// sessions' ids; with all, the entries of all its sessions. It forgets sessions without
// an entry.
func (j *Journal) Due(ctx context.Context, r *remoteread.Reader, project segment.Identity, all bool) (map[string]*remoteread.Entry, error) {
	due, seen := map[string]*remoteread.Entry{}, map[string]bool{}
	for e, err := range r.Entries(ctx, project.UID(), "", time.Time{}) {
		if err != nil {
			return nil, err
		}
		seen[e.SID] = true
		session := project
		session.Session = e.Session
		if session.SID() == e.SID && (all || !j.settled(&e, r.Time())) {
			due[e.Session] = &e
		}
	}
	maps.DeleteFunc(j.Sessions, func(sid string, _ done) bool { return !seen[sid] })
	return due, nil
}

// settled reports whether there is nothing to do for a session.
func (j *Journal) settled(e *remoteread.Entry, now time.Time) bool {
	s, known := j.Sessions[e.SID]
	return known && s.Revision == e.Revision && (s.Due.IsZero() || now.Before(s.Due))
}
