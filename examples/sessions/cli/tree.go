package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice"
)

type treeCommand struct{ here }

// Help is shown below the usage.
func (treeCommand) Help() string {
	return `Shows a session between those it descends from and those that were forked from it or started by it, newest first. The number after @ is the turn of a fork.`
}

// Run shows.
func (c *treeCommand) Run(a *app) error {
	t, err := c.find(a)
	if err != nil {
		return err
	}
	l, err := slice.Trace(a.ctx, t.store, t.id)
	if err != nil && !errors.Is(err, sessionstore.ErrCorrupt) {
		return err
	}
	a.warn(errors.Join(append(l.Skipped, err)...))
	if a.json {
		return a.writeJSON(l, jsonIndent)
	}
	depth := 0
	for i := len(l.Ancestors) - 1; i >= 0; i-- {
		id := l.Ancestors[i]
		name, turn := a.describe(t.store, id)
		if !t.store.Exists(id) {
			name = "(not there)"
		}
		a.treeLine(depth, "", screen.Dim, id, name, turn)
		depth++
	}
	name, turn := a.describe(t.store, t.id)
	a.treeLine(depth, "", screen.Green, l.SessionID, name, turn)
	for i, child := range l.Children {
		branch := "├─ "
		if i == len(l.Children)-1 {
			branch = "└─ "
		}
		name, _ := a.describe(t.store, filepath.Base(child.Dir))
		a.treeLine(depth, branch, screen.Cyan, child.SessionID, name, child.Turn)
	}
	if l.Cyclic {
		a.Notef("%s the session descends from itself", a.PaintError(screen.Yellow, "note:"))
	}
	if a.Terminal() {
		a.Printf("\n%s\n", a.Paint(screen.Dim, fmt.Sprintf("%s above, %s below", number(l.Depth), number(len(l.Children)))))
	}
	return nil
}

// describe returns the name of a session, and the turn it was forked at.
func (a *app) describe(st *sessionstore.Store, id string) (string, *int) {
	md, err := st.Metadata(a.ctx, id)
	if err != nil {
		return "", nil
	}
	name := md.Text("name")
	if s, err := st.Summary(a.ctx, id); err == nil && s.ConflictOf != "" {
		name = markedTitle(s)
	}
	turn, ok := md.Int("forked_from_turn")
	if !ok {
		return name, nil
	}
	return name, &turn
}

func (a *app) treeLine(depth int, branch string, tint screen.Tint, id, name string, turn *int) {
	at := ""
	if turn != nil {
		at = fmt.Sprintf(" @%d", *turn)
	}
	indent := strings.Repeat("  ", min(depth, 20)) + branch
	room := 1 << 20
	if a.Terminal() {
		room = max(shortID, a.Width()-screen.Columns(indent)-len(at))
	}
	id = screen.Fit(screen.Plain(id), room)
	name = screen.Plain(name)
	if left := room - screen.Columns(id) - 2; name != "" && left >= shortID {
		name = "  " + screen.Fit(name, left)
	} else {
		name = ""
	}
	a.Printf("%s%s%s%s\n", indent, a.Paint(tint, id), a.Paint(screen.Yellow, at), name)
}
