package adk

import (
	"encoding/json"
	"errors"
	"maps"
	"strings"

	"google.golang.org/adk/v2/session"
	"google.golang.org/genai"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// eventField is the field of a message that holds its event.
const eventField = "adk_event"

// messageOf returns the message that an event is stored as: its text for other tools, the
// event beside it, and the state before it where before is not nil. It also returns how many
// bytes the event takes.
func messageOf(e *session.Event, before *kept) (m sessionstore.Message, size int, err error) {
	role, text := "assistant", ""
	if e.Author == "user" {
		role = "user"
	}
	if e.Content != nil {
		for _, p := range e.Content.Parts {
			if p != nil {
				text += p.Text
			}
		}
	}
	event, err := json.Marshal(e)
	if err != nil {
		return m, 0, err
	}
	fields := map[string]any{"role": role, "content": text, "timestamp": e.Timestamp, eventField: json.RawMessage(event)}
	if before != nil {
		fields[keptField] = before
	}
	raw, err := json.Marshal(fields)
	if err == nil {
		m, err = sessionstore.ParseMessage(raw) // keeps every byte
	}
	return m, len(event), err
}

// errEvent is returned for a message whose event another tool damaged. It shows nothing of it.
var errEvent = errors.New("adk_event is no event of adk-go: mend the field, or rewind the session to a turn before it")

// eventOf returns the event that a message is, or an event with the text of a message that
// another tool wrote.
func eventOf(m sessionstore.Message) (*session.Event, error) {
	e := &session.Event{Author: m.Role()}
	if raw, ok := m.Lookup(eventField); ok {
		if json.Unmarshal(raw, e) != nil {
			return nil, errEvent
		}
		return e, nil
	}
	e.Content = genai.NewContentFromText(m.Content(), genai.RoleModel)
	if m.Role() == "user" {
		e.Content.Role = genai.RoleUser
	}
	e.Timestamp, _ = m.Timestamp()
	return e, nil
}

// lasting returns state without the keys that are not stored; nil stays nil.
func lasting(state map[string]any) map[string]any {
	state = maps.Clone(state)
	maps.DeleteFunc(state, func(key string, _ any) bool { return strings.HasPrefix(key, session.KeyPrefixTemp) })
	return state
}
