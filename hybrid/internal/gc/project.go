package gc

import (
	"context"
	"fmt"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/head"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/remoteread"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
	"github.com/amplifier-go/sessionstorage/hybrid/remote"
	"github.com/amplifier-go/sessionstorage/internal/limits"
)

// A Project reads sessions of one project by their ids.
type Project struct {
	Reader   *remoteread.Reader
	Identity segment.Identity // of all sessions, without a name
}

// A Member is a session of a project as the cloud has it.
type Member struct {
	SID, Session string
	Head         *head.Head // nil: it has none
	Version      remote.Version
	Entry        *remoteread.Entry // of the catalogue; nil: none
}

// Read reads the head of each session, and its entry in the catalogue.
func (p *Project) Read(ctx context.Context, sessions []string) (all []*Member, err error) {
	for _, session := range sessions {
		m := &Member{Session: session}
		if err := p.read(ctx, m); err != nil {
			return nil, m.Named(err)
		}
		all = append(all, m)
	}
	return all, nil
}

func (p *Project) read(ctx context.Context, m *Member) error {
	of := p.Identity
	of.Session = m.Session
	m.SID = of.SID()
	t, known, err := p.Reader.Head(ctx, m.SID, remoteread.Known{})
	if err != nil {
		return err
	}
	m.Head, m.Version = t, known.Version
	m.Entry, err = p.Reader.EntryOf(ctx, of.UID(), m.SID)
	return err
}

// Named adds which session an error is about; nil stays nil.
func (m *Member) Named(err error) error {
	if err != nil {
		err = fmt.Errorf("session %q: %w", limits.ID(m.Session), err)
	}
	return err
}
