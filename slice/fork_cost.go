package slice

import (
	"context"
	"path/filepath"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/sessioncost"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// costOf returns the boundary of a fork that has the messages child.
func (p *parent) costOf(ctx context.Context, st *sessionstore.Store, child []sessionstore.Message) ([]byte, error) {
	from := sessioncost.Parent{ID: p.id, Rows: make([]sessioncost.Row, len(p.rows))}
	for i, m := range p.rows {
		from.Rows[i] = costRow(m)
	}
	_, from.Forked = p.md.Lookup("forked_from_turn")
	from.Boundary, _ = p.md.Lookup(sessioncost.Member)
	rows := make([]sessioncost.Row, len(child))
	for i, m := range child {
		if i < len(p.rows) && m == p.rows[i] { // nearly all
			rows[i] = from.Rows[i]
		} else {
			rows[i] = costRow(m)
		}
	}
	return sessioncost.Build(from, rows, sessioncost.CountTurns(rows), func() (*sessioncost.Events, error) {
		return sessioncost.Open(ctx, sessioncost.LocateHere(filepath.Join(st.Dir(), p.id)).Capture, p.id)
	})
}

// isKnown tells what the boundary says of itself.
func isKnown(boundary []byte) (known bool, problems []string) {
	b := sessioncost.Verify(boundary)
	if b.Verified {
		return true, nil
	}
	return false, b.Problems[1:] // the first one tells that there are others
}

func costRow(m sessionstore.Message) sessioncost.Row {
	return sessioncost.Row{JSON: core.Row(m), Role: m.Role()}
}
