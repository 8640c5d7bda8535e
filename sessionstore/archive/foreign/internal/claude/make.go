package claude

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"regexp"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/thread"
)

// maker makes lines of Claude Code.
type maker struct {
	w      *thread.LineWriter
	about  thread.About
	parent string
	joined bool // the next line is the first one behind the tool's own lines
}

func (c *maker) Begin() error { return nil }

func (c *maker) Join(parent string, _ bool) error {
	c.parent, c.joined = parent, true
	return nil
}

// place is the line by which the tool resumes from the lines behind it: without it, the
// tool resumes from the record that its own last line of this kind names.
type place struct {
	Kind    string `json:"type"`
	Leaf    string `json:"leafUuid"`
	Session string `json:"sessionId"`
}

var notInFolder = regexp.MustCompile(`[^a-zA-Z0-9]`)

// maxFolder is the longest name of a folder that the tool does not shorten.
const maxFolder = 200

func (Tool) Place(dir, file string) (string, error) {
	folder := notInFolder.ReplaceAllString(dir, "-")
	if len(folder) > maxFolder {
		return "", errors.New("the name of the folder is so long that Claude Code shortens it")
	}
	return filepath.Join("projects", folder, file), nil
}

func (Tool) Speaks(raw []byte) bool {
	l, err := parse(raw)
	return err != nil || l.kind == "user" || l.kind == "assistant" || l.kind == "system"
}

func (c *maker) File() string { return c.about.ID + thread.HistorySuffix }

// row is a line.
type row struct {
	Parent    *string `json:"parentUuid"`
	Sidechain bool    `json:"isSidechain"`
	UserType  string  `json:"userType"`
	Dir       string  `json:"cwd"`
	Session   string  `json:"sessionId"`
	Version   string  `json:"version"`
	Kind      string  `json:"type"`
	Meta      bool    `json:"isMeta,omitempty"`
	Origin    *kinded `json:"origin,omitempty"`
	Message   any     `json:"message"`
	UUID      string  `json:"uuid"`
	Time      string  `json:"timestamp"`
	Mark      string  `json:"amplifier"`                  // see thread.ExportMember
	Seal      string  `json:"amplifier_mended,omitempty"` // see thread.SealMember
}

// kinded says where a prompt is from.
type kinded struct {
	Kind string `json:"kind"`
}

type user struct {
	Role    string `json:"role"`
	Content any    `json:"content"`
}

type answer struct {
	ID      string            `json:"id"`
	Type    string            `json:"type"`
	Role    string            `json:"role"`
	Model   string            `json:"model"`
	Content []json.RawMessage `json:"content"`
	Stop    *string           `json:"stop_reason"`
	Usage   map[string]int    `json:"usage"`
}

func (c *maker) Message(m thread.Made) error {
	switch m.Role() {
	case "assistant":
		blocks, err := contentOf(m)
		if err != nil {
			return err
		}
		return c.row(m, "assistant", answer{
			ID: "msg_" + m.Key, Type: "message", Role: "assistant", Model: c.about.Model, Content: blocks,
			Usage: map[string]int{"input_tokens": 0, "output_tokens": 0},
		})
	case "tool":
		result := map[string]any{"type": "tool_result", "tool_use_id": m.ToolCallID(), "content": m.Said}
		if shown := m.Pictured(); shown != nil {
			result["content"] = shown
		}
		return c.row(m, "user", user{"user", []any{result}})
	}
	if len(m.Blocks) > 0 {
		return c.row(m, "user", user{"user", m.Blocks})
	}
	return c.row(m, "user", user{"user", m.Said})
}

// Name writes the name of the session, which is in the file. The time at which a person gave it tells it from the same
// name, which the session had before another one.
func (c *maker) Name(name string, byPerson bool) error {
	title := struct {
		Kind    string `json:"type"`
		Custom  string `json:"customTitle,omitempty"`
		Made    string `json:"aiTitle,omitempty"`
		Session string `json:"sessionId"`
		At      string `json:"timestamp,omitempty"`
	}{Kind: "ai-title", Made: name, Session: c.about.ID}
	if byPerson {
		title.Kind, title.Custom, title.Made = "custom-title", name, ""
	}
	if byPerson && !c.about.Named.IsZero() {
		title.At = thread.Stamp(c.about.Named)
	}
	return c.w.Row(title)
}

// contentOf returns the texts and calls of an answer.
func contentOf(m thread.Made) (blocks []json.RawMessage, err error) {
	if m.Said != "" {
		blocks = append(blocks, thread.TextBlock(m.Said))
	}
	for _, call := range m.ToolCalls() {
		block, err := pyjson.Encode(struct {
			Type  string          `json:"type"`
			ID    string          `json:"id"`
			Name  string          `json:"name"`
			Input json.RawMessage `json:"input"`
		}{"tool_use", call.ID, call.Name, thread.Input(call.Arguments)})
		if err != nil {
			return nil, err
		}
		blocks = append(blocks, block)
	}
	return blocks, nil
}

func (c *maker) row(m thread.Made, kind string, message any) error {
	r := row{
		UserType: "external", Dir: c.about.Dir, Session: c.about.ID, Version: "2.1.0", Kind: kind, Meta: m.Reminder,
		Message: message, UUID: m.Key, Time: thread.Stamp(m.At), Mark: m.Mark, Seal: m.Seal,
	}
	if m.Role() == "user" && !m.Reminder {
		r.Origin = &kinded{"human"}
	}
	if c.parent != "" {
		r.Parent = &c.parent
	}
	if c.joined {
		if err := c.w.Row(place{"last-prompt", m.Key, c.about.ID}); err != nil {
			return err
		}
	}
	if err := c.w.Row(r); err != nil {
		return err
	}
	c.parent, c.joined = m.Key, false
	return nil
}
