package foreign

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"iter"
	"path/filepath"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/limits"
	"github.com/amplifier-go/sessionstorage/internal/pytime"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// Longer reports whether an imported session holds more than the tool would send to a
// model: also what a compaction hid from it. It is false for a session that was not
// imported.
func Longer(st *sessionstore.Store, id string) (bool, error) {
	row, _, err := headerOf(filepath.Join(st.Dir(), id, folder, mapFile))
	return isTrue(members(row, "longer")[0]), err
}

// ForkActive makes a new session of an imported one that also holds what compactions
// hid. The new session holds only what the tool would resume, and all that was said
// here since. "" takes a new id. The session itself does not change. The new one is
// durable when ForkActive returns, if the store promises that, and no import brings it
// up to date.
//
// The error Is [ErrActive] where the session holds no whole line, [ErrEdited] where
// messages that were imported are not there as the import made them, and
// [sessionstore.ErrNotFound] when there is no such session.
//
// [sessionstore.ErrNotFound]: https://pkg.go.dev/github.com/amplifier-go/sessionstorage/sessionstore#ErrNotFound
func ForkActive(ctx context.Context, st *sessionstore.Store, id, newID string) (string, error) {
	if newID == "" {
		newID = sessionstore.NewID()
	}
	if err := forkActive(ctx, st, id, newID); err != nil {
		return "", fmt.Errorf("fork session %q: %w", id, err)
	}
	return newID, nil
}

func forkActive(ctx context.Context, st *sessionstore.Store, id, newID string) error {
	md, err := st.Metadata(ctx, id)
	if err != nil {
		return err
	}
	if core.Of(st).Has(newID) {
		return limits.Errorf(fs.ErrExist, "session %q exists already", limits.ID(newID))
	}
	was, found, err := scopeIn(filepath.Join(st.Dir(), id, folder, mapFile))
	if err != nil {
		return err
	}
	s := stateOf(md)
	h, leave := openOriginal(ctx, st, id, Tool(s.Tool), s, folder)
	if h == nil || !found || was != wholeLine {
		return ErrActive
	}
	defer leave()
	rows, r, err := h.active(ctx, st, id)
	if err != nil {
		return err
	}
	now := pytime.Format(core.Of(st).Now().UTC().Truncate(time.Microsecond))
	fork := sessionstore.Metadata{}
	members := []assignment{
		{"session_id", newID},
		{"parent_id", id},
		{"forked_from_turn", s.Turns},
		{"forked_at", now},
		{"created", now},
		{"turn_count", r.turns},
	}
	for _, name := range []string{"bundle", "model", "working_dir"} {
		if v, ok := md.Lookup(name); ok {
			members = append(members, assignment{name, json.RawMessage(v)})
		}
	}
	if err := assign(&fork, members...); err != nil {
		return err
	}
	return st.Save(ctx, newID, rows, fork)
}

// active returns what the tool would resume of a session that holds the whole line,
// and behind it the messages that the import did not make.
func (h *history) active(ctx context.Context, st *sessionstore.Store, id string) ([]sessionstore.Message, *rendering, error) {
	h.t.setScope(wholeLine)
	if err := h.findEnd(ctx); err != nil {
		return nil, nil, err
	}
	next, stop := iter.Pull2(st.Messages(ctx, id))
	defer stop()
	whole := target{history: h, chain: h.line(wholeLine)}
	if h.t.exported == id {
		var err error
		if whole.here, err = h.findHere(ctx, st, id); err != nil {
			return nil, nil, err
		}
	}
	_, err := whole.render(newReport(), func(m sessionstore.Message) error {
		ours, err, ok := next()
		if err == nil && (!ok || !same(m, ours)) {
			err = ErrEdited
		}
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	h.t.setScope(activeLine)
	var rows []sessionstore.Message
	short := target{history: h, chain: h.line(activeLine)}
	r, err := short.render(newReport(), func(m sessionstore.Message) error {
		rows = append(rows, m)
		return nil
	})
	for err == nil {
		m, failed, ok := next()
		if !ok {
			break
		}
		if err = failed; err == nil {
			rows = append(rows, m)
		}
		if m.Role() == "user" {
			r.turns++
		}
	}
	return rows, r, err
}
