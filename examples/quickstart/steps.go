package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// steps are the steps of the program. Each prints its result.
type steps struct {
	store *sessionstore.Store
	out   io.Writer
}

const shownSessions = 10

// list shows the sessions modified last and returns how many there are.
func (s *steps) list(ctx context.Context) (int, error) {
	all, err := s.store.List(ctx, &sessionstore.ListOptions{All: true})
	if err != nil {
		return 0, err
	}
	top := slices.DeleteFunc(slices.Clone(all), func(i sessionstore.Info) bool { return !sessionstore.IsTopLevel(i.ID) })
	if len(top) == 0 {
		s.tell("list", "no sessions here")
		return 0, nil
	}
	s.tell("list", "%s, %s", count(len(top), "session"), count(len(all)-len(top), "sub-session"))
	fmt.Fprintln(s.out)
	table := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "  SESSION\tMODIFIED\tTURNS\tNAME")
	for _, info := range top[:min(shownSessions, len(top))] {
		md, err := s.store.Metadata(ctx, info.ID)
		name := cmp.Or(md.Text("name"), "-")
		if err != nil {
			name = "(damaged)"
		}
		fmt.Fprintf(table, "  %s\t%s\t%s\t%s\n", printable(info.ID), info.Modified.Format(time.DateTime), turnsOf(md), printable(name))
	}
	if err := table.Flush(); err != nil {
		return 0, err
	}
	if more := len(top) - shownSessions; more > 0 {
		fmt.Fprintf(s.out, "  and %d more\n", more)
	}
	fmt.Fprintln(s.out)
	return len(top), nil
}

// load reads the session whose id begins with prefix. Without a prefix it reads the
// undamaged session that was modified last. It returns nil when there is none.
func (s *steps) load(ctx context.Context, prefix string) (*sessionstore.Session, error) {
	if prefix != "" {
		id, err := s.store.Find(ctx, prefix, &sessionstore.ListOptions{All: true})
		if err != nil {
			return nil, err
		}
		loaded, err := s.store.Load(ctx, id)
		if err != nil {
			return nil, err
		}
		s.tellLoaded(loaded)
		return loaded, nil
	}
	infos, err := s.store.List(ctx, nil)
	if err != nil {
		return nil, err
	}
	for _, info := range infos {
		loaded, err := s.store.Load(ctx, info.ID)
		switch {
		case ctx.Err() != nil:
			return nil, err
		case err != nil:
			s.tell("skip", "%s", printable(err.Error()))
		case loaded.Recovered != nil:
			s.tell("skip", "%s: its backup stands in for a damaged file", printable(info.ID))
		default:
			s.tellLoaded(loaded)
			return loaded, nil
		}
	}
	return nil, nil
}

func (s *steps) tellLoaded(l *sessionstore.Session) {
	s.tell("load", "%s: %s, %s", printable(l.ID), count(len(l.Messages), "message"), size(l.Revision.Bytes))
}

// appendTurn adds a question and an answer to a session, saves it, and shows which bytes
// are unchanged.
func (s *steps) appendTurn(ctx context.Context, loaded *sessionstore.Session) error {
	dir := filepath.Join(s.store.Dir(), loaded.ID)
	before, err := snapshot(dir)
	if err != nil {
		return err
	}
	turn, err := newTurn("Is this session safe?", "Every byte of it is where it was, and this line is new.")
	if err != nil {
		return err
	}
	messages := append(slices.Clone(loaded.Messages), turn...)
	md := loaded.Metadata
	if err := md.Set("turn_count", countTurns(messages)); err != nil {
		return err
	}
	if err := s.store.Save(ctx, loaded.ID, messages, md); err != nil {
		return err
	}
	s.tell("append", "%s: a question and its answer", count(len(turn), "message"))
	s.tell("save", "%s: turn_count %s, now %d", metadataFile, turnsOf(loaded.Metadata), countTurns(messages))
	return s.compare(dir, before)
}

// countTurns counts as the reference does: the rows of the user.
func countTurns(messages []sessionstore.Message) int {
	n := 0
	for _, m := range messages {
		if m.Role() == "user" {
			n++
		}
	}
	return n
}

// makeOwn makes a session, loads it back and compares the two. It returns the session's id.
func (s *steps) makeOwn(ctx context.Context) (id string, err error) {
	turn, err := newTurn("Grüezi! Who keeps what I say?", "A file with one line for each of us.")
	if err != nil {
		return "", err
	}
	id = sessionstore.NewID()
	defer func() {
		if err == nil || !s.store.Exists(id) {
			return
		}
		err = errors.Join(err, s.store.Delete(context.WithoutCancel(ctx), id))
	}()
	if err := s.saveOwn(ctx, id, turn); err != nil {
		return "", err
	}
	s.tell("make", "%s: saved %s", id, count(len(turn), "message"))
	back, err := s.store.Load(ctx, id)
	if err != nil {
		return "", err
	}
	same := slices.EqualFunc(turn, back.Messages, func(a, b sessionstore.Message) bool {
		return bytes.Equal(a.AppendTo(nil), b.AppendTo(nil))
	})
	if !same {
		return "", fmt.Errorf("load session %q: it is not what was saved", id)
	}
	s.tell("load", "%s: %s, the same bytes", id, count(len(back.Messages), "message"))
	for _, m := range back.Messages {
		s.tell("", "%-9s  %s", m.Role(), m.Content())
	}
	return id, nil
}

// next prints commands to try next.
func (s *steps) next() {
	fmt.Fprintln(s.out)
	s.tell("next", "look at these sessions in a browser: go run -C examples/viewer . -open -dir '%s'", printable(s.store.Dir()))
	s.tell("", "or your own on the terminal: go run -C examples/sessions .")
	s.tell("", "an agent to copy from, in a hundred lines: examples/agent/main.go")
}

// saveOwn makes session id with its first turn. Create fills in the required metadata, and
// Save keeps the members that it is not given.
func (s *steps) saveOwn(ctx context.Context, id string, turn []sessionstore.Message) error {
	md, err := sessionstore.NewMetadata(map[string]string{"name": "Quickstart"})
	if err != nil {
		return err
	}
	if err := s.store.Create(ctx, id, md); err != nil {
		return err
	}
	md, err = sessionstore.NewMetadata(map[string]int{"turn_count": countTurns(turn)})
	if err != nil {
		return err
	}
	return s.store.Save(ctx, id, turn, md)
}

func newTurn(question, answer string) ([]sessionstore.Message, error) {
	now := time.Now()
	q, err := sessionstore.Text("user", question, now)
	if err != nil {
		return nil, err
	}
	a, err := sessionstore.Text("assistant", answer, now.Add(time.Millisecond))
	return []sessionstore.Message{q, a}, err
}
