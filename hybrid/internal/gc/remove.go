package gc

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/head"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/jitter"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/remoteread"
	"github.com/amplifier-go/sessionstorage/hybrid/remote"
	"github.com/amplifier-go/sessionstorage/internal/limits"
)

// # Remove
//
// A removal removes the text of a session at once, without a grace time, so it cannot count
// on what a prune counts on. It goes in three steps:
//
//	bury    one request: the head becomes a tombstone, if it is still the version that
//	        was read. A session without a head gets one.
//	enter   the entry in the catalogue loses the name
//	empty   all documents go but the tombstone, which gets another version once they
//	        are listed; see [Empty]
//
// A writer that is under way meets the tombstone when it changes the head, and removes
// what it stored; see package syncer. A device that recreates a session replaces the
// tombstone in the version that it read: where that is the last one, the removal of this
// session ends, with [ErrRecreated]. A reader that misses something reads the head
// again. A removal that was interrupted leaves a whole session or a tombstone. The next
// call does what is left. What comes later than all that, Prune finds: it looks at a deleted
// session at once, and 90 days after its tombstone was written last.

// ErrAbsent tells that the cloud has nothing of a session. It Is [fs.ErrNotExist].
var ErrAbsent = limits.Errorf(fs.ErrNotExist, "the cloud has nothing of the session")

// A Remover removes sessions for good.
type Remover struct {
	*Project
	Writer head.Writer
	Random *jitter.Source
}

// Remove removes sessions from the cloud with all that is stored of them, but for
// tombstones. The error Is [ErrAbsent] when the cloud has nothing of one: then Remove
// changed nothing. It Is [ErrRecreated] when a device recreated one meanwhile; the others
// are removed.
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

// known requires the cloud to have something of a session, and nothing of another format.
func (p *Remover) known(ctx context.Context, m *Member) error {
	there, err := stored(ctx, p.Reader, m.SID)
	if err == nil && m.Head == nil && m.Entry == nil && len(there) == 0 {
		err = ErrAbsent
	}
	return err
}

// bury makes a tombstone of the head, also of one that another device may go on from; see
// package syncer.
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
