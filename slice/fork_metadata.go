package slice

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/pytime"
	"github.com/amplifier-go/sessionstorage/internal/sessioncost"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// fields are metadata that are made member by member. It keeps the first error.
type fields struct {
	md  sessionstore.Metadata
	err error
}

func (f *fields) set(name string, v any) {
	if f.err == nil {
		f.err = f.md.Set(name, v)
	}
}

// copy sets a member to that of other metadata. If they have none it sets null,
// or nothing where that is optional.
func (f *fields) copy(from sessionstore.Metadata, name string, optional bool) {
	raw, ok := from.Lookup(name)
	switch {
	case ok:
		f.set(name, json.RawMessage(raw))
	case !optional:
		f.set(name, nil)
	}
}

// forkMetadata returns the metadata of a fork with those messages, as the newest
// CLI writes them, and with the parent's working_dir. cost is the boundary.
func (p *parent) forkMetadata(fork Forked, rows []sessionstore.Message, cost []byte, at time.Time) (sessionstore.Metadata, error) {
	now := pytime.Format(at.UTC().Truncate(time.Microsecond))
	f := &fields{}
	f.set("session_id", fork.ID)
	if cost == nil {
		f.set("parent_id", json.RawMessage(p.sessionID))
	} else {
		f.set("parent_id", p.id)
	}
	f.set("forked_from_turn", fork.Turn)
	if cost != nil {
		f.set(sessioncost.Member, json.RawMessage(cost))
	}
	f.set("forked_at", now)
	if cost != nil {
		f.set("session_visibility", "chat")
	}
	f.set("created", now)
	f.set("turn_count", CountTurns(rows))
	f.copy(p.md, "bundle", false)
	f.copy(p.md, "model", false)
	f.copy(p.md, "working_dir", true)
	if f.err != nil {
		return sessionstore.Metadata{}, fmt.Errorf("copy metadata: %w", f.err)
	}
	return f.md, nil
}
