package cli

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice"
)

type diffCommand struct {
	A string `arg:"" help:"Id of a session, the beginning of one, or the path of its directory."`
	B string `arg:"" help:"Another one."`
	where
	Tools bool `help:"Show the arguments and results of tools whole, and not in a line each." group:"Output"`
}

// Help is shown below the usage.
func (diffCommand) Help() string {
	return `Compares the messages of two sessions from the first on, and shows what each says from where they part. The exit code is 0 when all messages are the same, else 1. With --json the answer has the number of messages and turns that are the same, and of each session the messages after them.

    sessions diff 8f14 45c4`
}

// Run compares.
func (c *diffCommand) Run(a *app) error {
	left, err := c.load(a, c.A)
	if err != nil {
		return err
	}
	right, err := c.load(a, c.B)
	if err != nil {
		return err
	}
	same := common(left.Messages, right.Messages)
	turns := slice.CountTurns(left.Messages[:same])
	if a.json {
		if err := a.writeJSON(object{{"same_messages", same}, {"same_turns", turns}, {"a", rest(left, same)}, {"b", rest(right, same)}}); err != nil {
			return err
		}
	} else {
		a.page()
		a.Printf("%s\n", a.Paint(screen.Dim, commonly(same, turns)))
		for _, s := range []*sessionstore.Session{left, right} {
			a.Printf("\n%s\n", a.Paint(screen.Bold, fmt.Sprintf("%s: %s more", screen.Plain(s.ID), count(len(s.Messages)-same, "message"))))
			if err := a.conversation(s.Messages[same:], formOfTools(c.Tools)); err != nil {
				return err
			}
		}
	}
	if len(left.Messages) != same || len(right.Messages) != same {
		return exitCode(exitError)
	}
	return nil
}

// commonly returns a sentence about the messages and turns that two sessions share.
func commonly(messages, turns int) string {
	switch messages {
	case 0:
		return "They part at the first message."
	case 1:
		return "The first message is the same."
	}
	return fmt.Sprintf("The first %s are the same (%s).", count(messages, "message"), count(turns, "turn"))
}

func (c *diffCommand) load(a *app, ref string) (*sessionstore.Session, error) {
	t, err := anywhere{ref, c.where}.reach(a)
	if err != nil {
		return nil, err
	}
	s, err := t.store.Load(a.ctx, t.id)
	if s == nil || err != nil && !errors.Is(err, sessionstore.ErrCorrupt) {
		return nil, err
	}
	a.warn(err)
	return s, nil
}

// common returns how many messages at the beginning are the same, byte for byte
// as they are stored.
func common(a, b []sessionstore.Message) (n int) {
	var x, y []byte
	for n < min(len(a), len(b)) {
		x, y = a[n].AppendTo(x[:0]), b[n].AppendTo(y[:0])
		if !bytes.Equal(x, y) {
			break
		}
		n++
	}
	return n
}

// rest is a session and its messages from n on.
func rest(s *sessionstore.Session, n int) object {
	return object{{"session_id", s.ID}, {"messages", rowsJSON(s.Messages[n:])}}
}
