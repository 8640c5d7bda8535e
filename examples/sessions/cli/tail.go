package cli

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/amplifier-go/sessionstorage/eventslog"
	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

type tailCommand struct {
	anywhere
	Follow  bool `short:"f" help:"Wait for what comes, until the program is ended."`
	Limit   int  `short:"n" default:"10" placeholder:"N" help:"Begin with the last so many (default: 10)."`
	Events  bool `short:"e" help:"Show the audit log instead of the conversation."`
	NoTools bool `help:"Leave out the calls of tools and their results."`
}

// Help is shown below the usage.
func (tailCommand) Help() string {
	return `With --json every message is its line in the transcript, and with --events every event a line with its line, offset, size, time, event and level. In a pipe the columns of events are line, time, event, level and size.

    sessions tail -f 8f14
    sessions tail -f --json 8f14 | jq -r .content`
}

// Run shows the end of a session.
func (c *tailCommand) Run(a *app) error {
	if err := notNegative("limit", c.Limit); err != nil {
		return err
	}
	t, err := c.reach(a)
	if err != nil {
		return err
	}
	if c.Events {
		err = c.events(a, t)
	} else {
		err = c.messages(a, t)
	}
	if c.Follow && errors.Is(err, context.Canceled) { // that is how it ends
		return nil
	}
	return err
}

// events shows the end of the log.
func (c *tailCommand) events(a *app, t target) error {
	log, err := eventslog.Open(t.dir(), nil)
	if err != nil {
		return err
	}
	a.later(log.Close)
	last, err := log.Tail(a.ctx, max(1, c.Limit))
	if err != nil {
		return err
	}
	for _, h := range last[max(0, len(last)-c.Limit):] {
		a.event(h)
	}
	if !c.Follow {
		return nil
	}
	from := eventslog.Cursor{}
	if len(last) > 0 {
		from = last[len(last)-1].Next
	}
	for h, err := range log.Follow(a.ctx, from) {
		if err != nil {
			return err
		}
		a.event(h)
	}
	return nil
}

// event writes the head of an event in a line.
func (a *app) event(h eventslog.Head) {
	switch {
	case a.json && h.Rewritten:
		_ = a.writeLine(object{{"rewritten", true}}) // a write that fails ends the command
		return
	case a.json:
		_ = a.writeLine(showHead(h))
		return
	case h.Rewritten:
		a.rewritten("— the log was rewritten; from its beginning: —")
		return
	case !a.Terminal():
		a.Table(nil, [][]string{a.headRow(h)})
		return
	}
	line := a.clock(h.Time, eventClock) + "  " + screen.Plain(h.Event)
	if h.Size > 100_000 {
		line += "  (" + size(h.Size) + ")"
	}
	a.Printf("%s\n", a.Paint(levelTint(h.Level), screen.Fit(line, max(a.Width(), 20))))
}

// rewritten writes a line that parts what follows from what was there before: on a terminal
// between the two, elsewhere as a note.
func (a *app) rewritten(line string) {
	if a.Terminal() && !a.json {
		a.Printf("\n%s\n", a.Paint(screen.Yellow, line))
		return
	}
	a.Notef("%s", line)
}

// messages shows the end of the conversation, and with -f what comes.
func (c *tailCommand) messages(a *app, t target) error {
	if !c.Follow {
		_, err := c.last(a, t)
		return err
	}
	watch, err := t.store.Watch(a.ctx) // before the first look, so that nothing is missed
	if err != nil {
		return err
	}
	a.later(watch.Close)
	at, err := c.last(a, t)
	if err != nil {
		return err
	}
	for change := range watch.Changes() {
		if change.ID != t.id && change.Op != sessionstore.Rescan {
			continue
		}
		if at, err = c.since(a, t, at); err != nil {
			return err
		}
	}
	return a.ctx.Err()
}

// last shows the last messages, and reads no others of a large transcript. It returns the
// place behind them.
func (c *tailCommand) last(a *app, t target) (at sessionstore.Cursor, err error) {
	v, damage := t.store.View(a.ctx, t.id)
	if v == nil {
		return at, damage
	}
	rows, err := v.Range(a.ctx, max(1, v.Len()-c.Limit+1), c.Limit)
	if err == nil {
		at, err = v.Cursor(a.ctx, v.Len())
	}
	if err = join(err, v.Close()); err != nil {
		return at, err
	}
	a.warn(damage)
	return at, c.show(a, rows)
}

// since shows the messages behind a place, and returns the place behind them. It notes when
// messages before the place have changed.
func (c *tailCommand) since(a *app, t target, at sessionstore.Cursor) (next sessionstore.Cursor, err error) {
	var rows []sessionstore.Message
	next = at
	for e, err := range t.store.Since(a.ctx, t.id, at) {
		switch {
		case errors.Is(err, sessionstore.ErrNotFound):
			a.Notef("%s", a.PaintError(screen.Yellow, "The session was removed."))
			return at, partly(1)
		case errors.Is(err, sessionstore.ErrCorrupt): // the next change is another chance to read it
			return at, nil
		case err != nil:
			return at, err
		case e.From == 1: // or at a message that the place does not know
			a.rewritten("— the conversation was rewritten; its end: —")
			return c.last(a, t)
		case e.N == 0:
			a.rewritten("— the conversation was rewritten after message " + strconv.Itoa(e.From-1) + " —")
		default:
			rows = append(rows, e.Message)
		}
		next = e.Next
	}
	return next, c.show(a, rows)
}

func (c *tailCommand) show(a *app, rows []sessionstore.Message) error {
	if !a.json {
		brief := slices.Clone(rows)
		for i, m := range rows {
			if a.Terminal() {
				brief[i] = briefly(m)
			}
		}
		form := arriving
		if c.NoTools {
			form = noTools
		}
		return a.conversation(brief, form)
	}
	var line []byte
	for _, m := range rows {
		if c.NoTools && (m.Role() == "tool" || m.Content() == "" && len(m.ToolCalls()) > 0) {
			continue
		}
		line = append(m.AppendTo(line[:0]), '\n')
		a.Print(string(line))
	}
	return nil
}

// mostTail limits the bytes of a message on a terminal.
const mostTail = 8000

// briefly returns a message with the beginning of a text that is too long for
// a terminal.
func briefly(m sessionstore.Message) sessionstore.Message {
	text := m.Content()
	if len(text) <= mostTail || m.Role() == "tool" { // of results a line is shown anyway
		return m
	}
	short := strings.ToValidUTF8(text[:mostTail], "") + " … (" + size(int64(len(text)-mostTail)) + " more)"
	if cut, err := m.With("content", short); err == nil {
		return cut
	}
	return m
}
