package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/amplifier-go/sessionstorage/eventslog"
	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
)

type eventsCommand struct {
	List    eventsListCommand    `cmd:"" default:"withargs" help:"Show the heads of events: line, time, name, level and size."`
	Summary eventsSummaryCommand `cmd:"" help:"Count the events by name."`
	Show    eventsShowCommand    `cmd:"" help:"Write one event."`
}

// Help is shown below the usage.
func (eventsCommand) Help() string {
	return `events.jsonl may have gigabytes, and lines of many megabytes: only heads are shown, and an event is written as a stream.

    sessions events 8f14
    sessions events 8f14 --name 'tool:*' -n 0
    sessions events show 8f14 4711 | jq .data`
}

// logOf are the arguments of a command about a session's log.
type logOf struct {
	anywhere
	Newer bool `help:"Look at the log of the newer tools instead, in the directory context-intelligence."`
}

func (l logOf) open(a *app) (*eventslog.Log, target, error) {
	t, err := l.reach(a)
	if err != nil {
		return nil, t, err
	}
	open := eventslog.Open
	if l.Newer {
		open = eventslog.OpenCapture
	}
	log, err := open(t.dir(), nil)
	if err == nil {
		a.later(log.Close)
	}
	return log, t, err
}

type eventsListCommand struct {
	logOf
	Limit int    `short:"n" default:"20" placeholder:"N" help:"The last so many; 0: all (default: 20)."`
	Name  string `placeholder:"GLOB" help:"Only events of such a name, as tool:* or *error*."`
	Level string `placeholder:"LEVEL" help:"Only events of this level, as ERROR."`
}

// Run lists.
func (c *eventsListCommand) Run(a *app) error {
	if err := notNegative("limit", c.Limit); err != nil {
		return err
	}
	if _, err := path.Match(c.Name, ""); err != nil {
		return usageError{"--name: " + err.Error()}
	}
	log, _, err := c.open(a)
	if err != nil {
		return err
	}
	var last []eventslog.Head
	for h, err := range log.Heads(a.ctx, eventslog.Cursor{}) {
		if err != nil {
			return err
		}
		if h.Rewritten {
			last = last[:0]
			continue
		}
		if !c.wants(h) {
			continue
		}
		if last = append(last, h); c.Limit > 0 && len(last) >= 2*c.Limit {
			last = slices.Delete(last, 0, len(last)-c.Limit)
		}
	}
	if c.Limit > 0 {
		last = last[max(0, len(last)-c.Limit):]
	}
	shown, rows := []headShown{}, [][]string{}
	for _, h := range last {
		shown, rows = append(shown, showHead(h)), append(rows, a.headRow(h))
	}
	return a.list(shown, c.none(), []screen.Column{
		{Title: "Line", Right: true, Tint: screen.In(screen.Green)},
		{Title: "Time", Tint: screen.In(screen.Yellow), Drop: 1},
		{Title: "Event", Min: 12, Tint: screen.In(screen.Cyan)},
		{Title: "Level", Tint: levelTint},
		{Title: "Size", Right: true, Drop: 2},
	}, rows)
}

// none returns the message for an empty list.
func (c *eventsListCommand) none() string {
	if c.Name != "" || c.Level != "" {
		return "No event has that name or level; \"sessions events summary\" counts those there are."
	}
	return "The session has no events."
}

func (c *eventsListCommand) wants(h eventslog.Head) bool {
	if c.Level != "" && !strings.EqualFold(c.Level, h.Level) {
		return false
	}
	fits, err := path.Match(c.Name, h.Event)
	return c.Name == "" || err == nil && fits
}

// headShown is the head of an event as JSON.
type headShown struct {
	Line    int     `json:"line"`
	Offset  int64   `json:"offset"`
	Size    int64   `json:"size"`
	Time    *string `json:"time"`
	Event   string  `json:"event"`
	Level   string  `json:"level"`
	Session string  `json:"session_id"`
}

func showHead(h eventslog.Head) headShown {
	return headShown{h.Line, h.Offset, h.Size, moment(h.Time), h.Event, h.Level, h.SessionID}
}

// headRow is the head of an event as a row of a table.
func (a *app) headRow(h eventslog.Head) []string {
	bytes := size(h.Size)
	if !a.Terminal() {
		bytes = strconv.FormatInt(h.Size, 10)
	}
	return []string{strconv.Itoa(h.Line), a.clock(h.Time, eventClock), h.Event, h.Level, bytes}
}

// eventClock is how times of events are shown.
const eventClock = "2006-01-02 15:04:05.000"

// levelTint is the colour of a level.
func levelTint(level string) screen.Tint {
	switch strings.ToUpper(level) {
	case "ERROR", "CRITICAL":
		return screen.Red
	case "WARNING", "WARN":
		return screen.Yellow
	}
	return screen.Dim
}

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
	names := slices.SortedFunc(maps.Keys(s.Types), func(x, y string) int {
		return cmp.Or(s.Types[y]-s.Types[x], strings.Compare(x, y))
	})
	if a.Terminal() && !a.json && s.Total > 0 {
		a.Printf("%s of %s, %s to %s\n\n", count(s.Total, "event"), screen.Plain(t.id), screen.Plain(s.First), screen.Plain(s.Last))
	}
	var rows [][]string
	for _, name := range names {
		n := number(s.Types[name])
		if !a.Terminal() {
			n = strconv.Itoa(s.Types[name])
		}
		rows = append(rows, []string{n, name})
	}
	return a.list(s, "The session has no events.", []screen.Column{
		{Title: "Events", Right: true, Tint: screen.In(screen.Green)},
		{Title: "Name", Min: 12, Tint: screen.In(screen.Cyan)},
	}, rows)
}

type eventsShowCommand struct {
	logOf
	Line  int  `arg:"" optional:"" help:"Line of the event (default: the last one)."`
	Whole bool `help:"Write all of it to a terminal too."`
}

// mostShown limits the bytes of an event that a terminal gets without --whole.
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
	switch {
	case a.json:
		text, err := io.ReadAll(in)
		if err != nil {
			return err
		}
		return a.writeJSON(json.RawMessage(text))
	case !a.Terminal():
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
