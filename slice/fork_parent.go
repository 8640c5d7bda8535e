package slice

import (
	"context"
	"fmt"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/limits"
	"github.com/amplifier-go/sessionstorage/internal/pyjson"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// parent is what is read of a session that is forked.
type parent struct {
	id        string
	sessionID []byte // JSON: its session_id, or the directory's name
	rows      []sessionstore.Message
	md        sessionstore.Metadata
	skipped   int // rows that are no objects
	recovered *sessionstore.Recovery
	damage    error
}

// readParent reads a session as far as it can be read. If damaged is not empty,
// the messages are read from the file of that name.
func readParent(ctx context.Context, st *sessionstore.Store, id, damaged string) (*parent, error) {
	s, err := st.Load(ctx, id)
	if s == nil {
		return nil, err
	}
	if damaged != "" {
		rows, err := core.Of(st).Damaged(ctx, id, damaged)
		if err != nil {
			return nil, fmt.Errorf("fork session %q: read %q: %w", limits.ID(id), limits.Path(damaged), err)
		}
		s.Messages = rows
	}
	if len(s.Messages) == 0 && damaged == "" && err == nil {
		if err := hasTranscript(ctx, st, id); err != nil {
			return nil, err
		}
	}
	p := &parent{id: id, md: s.Metadata, recovered: s.Recovered, damage: err}
	p.rows = make([]sessionstore.Message, 0, len(s.Messages))
	for _, m := range s.Messages {
		if !isObject(m) {
			p.skipped++
			continue
		}
		p.rows = append(p.rows, m)
	}
	sessionID, ok := s.Metadata.Lookup("session_id")
	if !ok {
		sessionID = pyjson.AppendQuoted(nil, id, pyjson.Style{})
	}
	p.sessionID = sessionID
	return p, nil
}
