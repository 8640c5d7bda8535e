package pi

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/thread"
)

type object = map[string]any

// maker makes entries of pi.
type maker struct {
	w      *thread.LineWriter
	about  thread.About
	parent any // the id of the entry before; nil: none
	last   time.Time
}

var (
	inFolder = strings.NewReplacer("/", "-", `\`, "-", ":", "-")
	inFile   = strings.NewReplacer(":", "-", ".", "-")
)

// Place: a folder is named after the directory, without what it begins with.
func (Tool) Place(dir, file string) (string, error) {
	if strings.HasPrefix(dir, "/") || strings.HasPrefix(dir, `\`) {
		dir = dir[1:]
	}
	return filepath.Join("sessions", "--"+inFolder.Replace(dir)+"--", file), nil
}

func (c *maker) File() string {
	return inFile.Replace(thread.Stamp(c.about.Began)) + "_" + c.about.ID + thread.HistorySuffix
}

func (c *maker) Begin() error {
	return c.w.Row(object{"type": headerKind, "version": maxVersion, "id": c.about.ID, "timestamp": thread.Stamp(c.about.Began), "cwd": c.about.Dir})
}

func (c *maker) Join(parent string, _ bool) error {
	if parent != "" {
		c.parent = parent
	}
	return nil
}

func (c *maker) Message(m thread.Made) error {
	e := object{"type": "message", "id": m.Key, "parentId": c.parent, "timestamp": thread.Stamp(m.At)}
	m.Sign(e)
	said := object{"role": "user", "content": blocksOf(m), "timestamp": m.At.UnixMilli()}
	e["message"] = said
	switch {
	case m.Role() == "assistant":
		calls := m.ToolCalls()
		content := []any{}
		if m.Said != "" {
			content = append(content, thread.TextBlock(m.Said))
		}
		for _, call := range calls {
			content = append(content, object{"type": "toolCall", "id": call.ID, "name": call.Name, "arguments": thread.Input(call.Arguments)})
		}
		said["role"], said["content"], said["stopReason"] = "assistant", content, "stop"
		if len(calls) > 0 {
			said["stopReason"] = "toolUse"
		}
		said["api"], said["provider"], said["model"] = "anthropic-messages", "amplifier", c.about.Model
		cost := object{"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0}
		said["usage"] = object{"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 0, "cost": cost}
	case m.Role() == "tool":
		name, _ := m.Lookup("name")
		said["role"], said["toolCallId"], said["toolName"], said["isError"] = "toolResult", m.ToolCallID(), cmp.Or(thread.Text(name), "tool"), false
	case m.Reminder:
		delete(e, "message")
		e["type"], e["customType"], e["content"], e["display"] = "custom_message", "amplifier", m.Said, false
	}
	c.parent, c.last = m.Key, m.At
	return c.w.Row(e)
}

// Name writes the name of the session. For pi each name is a person's. Its time tells it from the same name, which
// the session had before another one.
func (c *maker) Name(name string, _ bool) error {
	at := thread.Stamp(c.last)
	if !c.about.Named.IsZero() {
		at = thread.Stamp(c.about.Named)
	}
	id := thread.UUID5(Tool{}.Name(), fmt.Sprint("name/", c.about.ID, "/", c.parent, "/", at, "/", name))
	return c.w.Row(object{"type": nameKind, "id": id, "parentId": c.parent, "timestamp": at, "name": name})
}

// blocksOf returns the texts and images of a message.
func blocksOf(m thread.Made) (all []any) {
	for _, b := range m.Shown() {
		if b.Text != nil {
			all = append(all, b.Text)
		} else {
			all = append(all, object{"type": "image", "data": b.Data, "mimeType": b.Media})
		}
	}
	return all
}
