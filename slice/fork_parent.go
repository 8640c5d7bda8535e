package slice

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/pytime"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// parent is a session that is forked.
type parent struct {
	id        string
	sessionID []byte // JSON: its session_id, or the directory's name
	rows      []sessionstore.Message
	md        sessionstore.Metadata
	skipped   int // rows that are no objects
	recovered *sessionstore.Recovery
	damage    error
}

// readParent reads a session as far as it can be read.
func readParent(ctx context.Context, st *sessionstore.Store, id string) (*parent, error) {
	s, err := st.Load(ctx, id)
	if s == nil {
		return nil, err
	}
	if len(s.Messages) == 0 && err == nil {
		if err := hasTranscript(ctx, st, id); err != nil {
			return nil, err
		}
	}
	p := &parent{id: id, md: s.Metadata, recovered: s.Recovered, damage: err}
	p.rows = make([]sessionstore.Message, 0, len(s.Messages))
	for _, m := range s.Messages {
		if m.Role() == "" && pyjson.KindOf(value(m)) != pyjson.Object {
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

// hasTranscript returns the reference's error for a session that has no
// transcript and no backup of one.
func hasTranscript(ctx context.Context, st *sessionstore.Store, id string) error {
	return st.Inside().Read(ctx, id, func(d *sessiondir.Dir) error {
		for _, name := range []string{sessiondir.Transcript, sessiondir.Backup(sessiondir.Transcript)} {
			if _, err := d.Stat(name); !errors.Is(err, fs.ErrNotExist) {
				return nil
			}
		}
		return &missingError{filepath.Dir(d.Path(sessiondir.Transcript))}
	})
}

// missingError tells, in the reference's words, that a session has no
// transcript. It Is [fs.ErrNotExist].
type missingError struct{ dir string }

func (e *missingError) Error() string {
	return e.short() + ". This doesn't appear to be a valid session directory."
}

// short is what the reference says when it previews.
func (e *missingError) short() string { return "No " + sessiondir.Transcript + " in " + e.dir }

func (e *missingError) Unwrap() error { return fs.ErrNotExist }

// metadata returns the metadata of the new session, as the reference writes it
// and with the parent's working_dir.
func (f *forking) metadata() (md sessionstore.Metadata, err error) {
	now := pytime.Format(f.st.Inside().Now().UTC().Truncate(time.Microsecond))
	set := func(name string, v any) {
		if err == nil {
			err = md.Set(name, v)
		}
	}
	set("session_id", f.done.ID)
	set("parent_id", json.RawMessage(f.parent.sessionID))
	set("forked_from_turn", f.done.Turn)
	set("forked_at", now)
	set("created", now)
	set("turn_count", CountTurns(f.rows))
	for _, name := range []string{"bundle", "model", "working_dir"} {
		raw, ok := f.parent.md.Lookup(name)
		switch {
		case ok:
			set(name, json.RawMessage(raw))
		case name != "working_dir":
			set(name, nil)
		}
	}
	if err != nil {
		err = fmt.Errorf("copy metadata: %w", err)
	}
	return md, err
}
