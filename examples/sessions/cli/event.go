package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/amplifier-go/sessionstorage/eventslog"
	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
)

type eventsSummaryCommand struct{ logOf }

// Run counts.
func (c *eventsSummaryCommand) Run(a *app) error {
	log, t, err := c.open(a)
	if err != nil {
		return err
	}
	s, err := log.Summary(a.ctx)
	if err != nil {
		return err
	}
	if a.json {
		return a.writeJSON(s, jsonIndent)
	}
	if s.Total == 0 {
		a.Notef("The session has no events.")
		return nil
	}
	names := make([]string, 0, len(s.Types))
	for name := range s.Types {
		names = append(names, name)
	}
	slices.SortFunc(names, func(x, y string) int {
		if s.Types[x] != s.Types[y] {
			return s.Types[y] - s.Types[x]
		}
		return strings.Compare(x, y)
	})
	if a.Terminal() {
		a.Printf("%s of %s, %s to %s\n\n", count(s.Total, "event"), screen.Plain(t.id), screen.Plain(s.First), screen.Plain(s.Last))
	}
	rows := make([][]string, len(names))
	for i, name := range names {
		n := number(s.Types[name])
		if !a.Terminal() {
			n = strconv.Itoa(s.Types[name])
		}
		rows[i] = []string{n, name}
	}
	a.Table([]screen.Column{{Title: "Events", Right: true, Tint: screen.In(screen.Green)}, {Title: "Name", Min: 12, Tint: screen.In(screen.Cyan)}}, rows)
	return nil
}

type eventsShowCommand struct {
	logOf
	Line  int  `arg:"" optional:"" help:"Line of the event (default: the last one)."`
	Whole bool `help:"Write all of it to a terminal too."`
}

// mostShown is how much of an event a terminal is shown unasked.
const mostShown = 4000

// Run shows one event. In a pipe it is the exact line.
func (c *eventsShowCommand) Run(a *app) error {
	if c.Line < 0 {
		return usageError{fmt.Sprintf("line: %d is negative; lines are counted from 1", c.Line)}
	}
	log, _, err := c.open(a)
	if err != nil {
		return err
	}
	h, err := c.head(a, log)
	if err != nil {
		return err
	}
	in, err := log.Open(a.ctx, h)
	if err != nil {
		return err
	}
	defer in.Close()
	if !a.Terminal() {
		if _, err = io.Copy(a, in); err == nil {
			a.Print("\n")
		}
		return err
	}
	var text []byte
	if c.Whole {
		text, err = io.ReadAll(in)
	} else {
		text, err = io.ReadAll(io.LimitReader(in, mostShown))
	}
	if err != nil {
		return err
	}
	a.Print(screen.Lines(strings.ToValidUTF8(string(text), "\ufffd")) + "\n")
	if left := h.Size - int64(len(text)); left > 0 {
		a.Notef("%s", a.PaintError(screen.Dim, fmt.Sprintf("… %s more: --whole shows it, and a pipe gets all of it", size(left))))
	}
	return nil
}

var errNoEvent = errors.New("there is no event at that line")

// head finds the event of a line.
func (c *eventsShowCommand) head(a *app, log *eventslog.Log) (eventslog.Head, error) {
	if c.Line == 0 {
		last, err := log.Tail(a.ctx, 1)
		if err == nil && len(last) == 0 {
			err = errors.New("there are no events")
		}
		if err != nil {
			return eventslog.Head{}, err
		}
		return last[0], nil
	}
	for h, err := range log.Heads(a.ctx, eventslog.Cursor{}) {
		switch {
		case err != nil:
			return h, err
		case h.Line == c.Line && !h.Rewritten:
			return h, nil
		case h.Line > c.Line:
			return h, errNoEvent
		}
	}
	return eventslog.Head{}, errNoEvent
}
