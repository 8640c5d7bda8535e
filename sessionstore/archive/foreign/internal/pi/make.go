package pi

import (
	"cmp"
	"path/filepath"
	"strings"

	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/thread"
)

type object = map[string]any

// maker makes entries of pi.
type maker struct {
	w      *thread.LineWriter
	about  thread.About
	parent any // the id of the entry before; nil: none
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

func (*maker) Further() (map[string][]byte, error) { return nil, nil }

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
	e := object{"type": "message", "id": m.Key, "parentId": c.parent, "timestamp": thread.Stamp(m.At), thread.ExportMember: m.Mark}
	if m.Seal != "" {
		e[thread.SealMember] = m.Seal
	}
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
	c.parent = m.Key
	return c.w.Row(e)
}

// blocksOf returns the texts and images of a message. An image that is only named is a text.
func blocksOf(m thread.Made) (all []any) {
	for _, b := range m.Blocks {
		f := thread.Members(b, "type", "source")
		source := thread.Members(f[1], "media_type", "data", "url")
		switch {
		case thread.Text(f[0]) != "image":
			all = append(all, b)
		case thread.Text(source[2]) != "":
			all = append(all, thread.TextBlock(thread.Text(source[2])))
		default:
			all = append(all, object{"type": "image", "data": thread.Text(source[1]), "mimeType": thread.Text(source[0])})
		}
	}
	if len(all) == 0 {
		all = append(all, thread.TextBlock(m.Said))
	}
	return all
}
