package cli

import (
	"errors"
	"strconv"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
	"github.com/amplifier-go/sessionstorage/internal/pyjson"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

type showCommand struct {
	here
	views
	WithTranscript bool `short:"T" help:"Show the transcript too."`
}

// Help is shown below the usage.
func (showCommand) Help() string {
	return `Shows the metadata of a session of this project. With -T the conversation follows; with -T and --json it is the member transcript.`
}

// Run shows.
func (c *showCommand) Run(a *app) error {
	a.json = a.json || c.Format == "json"
	t, err := c.find(a)
	if err != nil {
		return err
	}
	s, err := t.store.Load(a.ctx, t.id)
	if s == nil || err != nil && !errors.Is(err, sessionstore.ErrCorrupt) {
		return err
	}
	damage := err
	if s.Recovered != nil {
		a.Notef("%s a backup was read, because a file is damaged: %s", a.PaintError(screen.Yellow, "note:"), screen.Plain(s.Recovered.Reason.Error()))
	}
	summary := object{
		{"session_id", quoted(t.id)},
		{"created", shownMember(s.Metadata, "created")},
		{"bundle", shownMember(s.Metadata, "bundle")},
		{"model", shownMember(s.Metadata, "model")},
		{"messages", quoted(messages(s))},
	}
	if a.json {
		item := object{{"name", quoted(t.id)}, {"enabled", []byte("true")}, {"config_summary", summary.raw()}}
		if c.WithTranscript {
			item = append(item, member{"transcript", rowsJSON(s.Messages)})
		}
		err = a.writeJSON(item, jsonIndent)
		return errors.Join(err, damage)
	}
	c.fields(a, s)
	if c.WithTranscript {
		a.conversation(s.Messages, true)
	}
	return damage
}

// shownMember is a member that the reference shows, "unknown" without it.
func shownMember(md sessionstore.Metadata, name string) []byte {
	if raw, ok := md.Lookup(name); ok {
		return raw
	}
	return quoted("unknown")
}

// messages is the turn count of metadata, or the number of messages.
func messages(s *sessionstore.Session) string {
	if raw, ok := s.Metadata.Lookup("turn_count"); ok {
		if pyjson.KindOf(raw) == pyjson.String {
			return pyjson.Text(raw)
		}
		return string(raw)
	}
	return strconv.Itoa(len(s.Messages))
}

func rowsJSON(rows []sessionstore.Message) []byte {
	raw := []byte{'['}
	for i, m := range rows {
		if i > 0 {
			raw = append(raw, ',')
		}
		raw = m.AppendTo(raw)
	}
	return append(raw, ']')
}

func (c *showCommand) fields(a *app, s *sessionstore.Session) {
	md := s.Metadata
	rows := [][2]string{
		{"Session", s.ID},
		{"Name", md.Text("name")},
		{"Created", md.Text("created")},
		{"Bundle", md.Text("bundle")},
		{"Model", md.Text("model")},
		{"Messages", number(len(s.Messages))},
		{"Parent", md.Text("parent_id")},
	}
	if c.Compact {
		rows = [][2]string{{"Session", s.ID}, {"Name", md.Text("name")}}
	}
	if c.Detailed {
		rows = nil
		for name := range md.Keys() {
			raw, _ := md.Lookup(name)
			text := string(raw)
			if pyjson.KindOf(raw) == pyjson.String {
				text = pyjson.Text(raw)
			}
			rows = append(rows, [2]string{screen.Plain(name), screen.Fit(screen.Plain(text), 200)})
		}
	}
	a.fields(rows)
}
