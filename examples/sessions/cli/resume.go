package cli

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign"
)

type resumeCommand struct {
	here
	ForceBundle  string  `short:"B" placeholder:"NAME" help:"Resume with this bundle instead of the one it began with."`
	NoHistory    bool    `help:"Leave the conversation out."`
	FullHistory  bool    `help:"Show all messages (default: the last 10)."`
	ShowThinking bool    `help:"Show what the model thought, too."`
	Replay       bool    `help:"On a terminal, show the messages in the time they took, at most 10 seconds each."`
	ReplaySpeed  float64 `short:"s" default:"2" placeholder:"N" help:"So many times as fast (default: 2)."`
}

// Help is shown below the usage.
func (resumeCommand) Help() string {
	return `Shows what "amplifier session resume" would continue. This tool runs no model: it shows the last messages, the bundle, and whether models take the conversation as it stands. With - as SESSION it is the one saved last of those that can be read.`
}

// Run shows.
func (c *resumeCommand) Run(a *app) error {
	if c.ReplaySpeed < 0 {
		return usageError{"--replay-speed: must be positive"}
	}
	t, err := c.newest(a)
	if err != nil {
		return err
	}
	s, err := t.store.Load(a.ctx, t.id)
	if s == nil || err != nil && !errors.Is(err, sessionstore.ErrCorrupt) {
		return err
	}
	damage := err
	bundle, _ := s.Metadata.Bundle()
	command := "amplifier session resume " + t.id
	if c.ForceBundle != "" && c.ForceBundle != bundle {
		a.Notef("%s the session began with the bundle %q", a.PaintError(screen.Yellow, "note:"), bundle)
		bundle = c.ForceBundle
		command += " --force-bundle " + bundle
	}
	longer, err := foreign.Longer(t.store, t.id)
	if err != nil {
		return err
	}
	if longer {
		a.Notef("%s the session holds more than the tool that it was imported from would send: sessions fork --active %s makes a short one", a.PaintError(screen.Yellow, "note:"), screen.Plain(t.id))
	}
	if a.typed {
		return errors.Join(a.writeJSON(resumableOf(t, s, bundle), jsonIndent), damage)
	}
	judged := judge(s.Messages)
	if a.json {
		return errors.Join(a.writeJSON(c.report(t, s, bundle, judged), jsonIndent), damage)
	}
	a.Printf("%s %s\n", a.Paint(screen.Bold, "Session"), screen.Plain(t.id))
	rows := [][2]string{{"Name", s.Metadata.Text("name")}, {"Bundle", bundle}, {"Model", s.Metadata.Text("model")}, {"Messages", number(len(s.Messages))}}
	if created, ok := s.Metadata.Created(); ok {
		rows = append(rows, [2]string{"Started", screen.Ago(a.now(), created)})
	}
	if damage == nil || len(s.Messages) > 0 {
		rows = append(rows, [2]string{"Accepted by", a.accepted(t, judged)}, [2]string{"Not judged", strings.Join(judged.open, "; ")})
	}
	a.fields(rows)
	if !c.NoHistory {
		if err := c.history(a, s.Messages); err != nil {
			return err
		}
	}
	a.Printf("\nResume with: %s\n", a.Paint(screen.Cyan, screen.Plain(command)))
	return damage
}

// newest finds the session, the last one for a dash.
func (c *resumeCommand) newest(a *app) (target, error) {
	if c.Session != "-" {
		return c.find(a)
	}
	st, _, err := c.openStore(a)
	if err != nil {
		return target{}, err
	}
	id := ""
	var failed []error
	if st != nil {
		for s, err := range st.Summaries(a.ctx, &sessionstore.ListOptions{Limit: 1}) {
			switch {
			case err == nil:
				id = s.ID
			case s.ID == "":
				return target{}, err
			default:
				failed = append(failed, err)
			}
		}
	}
	a.warn(errors.Join(failed...))
	if id == "" {
		return target{}, referenceError("No sessions found to resume.")
	}
	return target{st, id}, nil
}

func (c *resumeCommand) history(a *app, rows []sessionstore.Message) error {
	var shown []sessionstore.Message
	for _, m := range rows {
		if role := m.Role(); role == "user" || role == "assistant" {
			shown = append(shown, m)
		}
	}
	const last = 10
	if earlier := len(shown) - last; earlier > 0 && !c.FullHistory && !c.Replay {
		a.Printf("\n%s\n", a.Paint(screen.Dim, "… "+count(earlier, "earlier message")+"; --full-history shows all"))
		shown = shown[earlier:]
	}
	var before time.Time
	for _, m := range shown {
		if c.Replay && a.Terminal() {
			at, _ := m.Timestamp()
			if err := wait(a.ctx, replayDelay(before, at, c.ReplaySpeed, len(m.Content()))); err != nil {
				return err
			}
			before = at
		}
		if err := a.conversation([]sessionstore.Message{m}, noTools); err != nil {
			return err
		}
		if c.ShowThinking {
			a.thinking(m)
		}
	}
	return nil
}

// replayDelay returns the wait before a message: the time that the message took, or the
// time to read it where the times are not known, divided by speed.
func replayDelay(before, at time.Time, speed float64, length int) time.Duration {
	const shortest, longest = 500 * time.Millisecond, 10 * time.Second
	took := 1500*time.Millisecond + time.Duration(length)*5*time.Millisecond
	if !before.IsZero() && !at.IsZero() {
		took = at.Sub(before)
	}
	if speed <= 0 {
		speed = 1
	}
	return max(shortest, min(longest, time.Duration(min(float64(took)/speed, float64(longest)))))
}

// wait waits for d or the end of ctx.
func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *resumeCommand) report(t target, s *sessionstore.Session, bundle string, judged judgement) object {
	open, _ := encoded(judged.open) // strings never fail
	return object{
		{"session_id", quoted(t.id)},
		{"path", quoted(t.dir())},
		{"bundle", quoted(bundle)},
		{"model", memberOf(s.Metadata, "model")},
		{"messages", strconv.AppendInt(nil, int64(len(s.Messages)), 10)},
		{"refused", judged.refusals()},
		{"not_judged", open},
	}
}
