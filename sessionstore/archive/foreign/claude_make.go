package foreign

import (
	"encoding/json"

	"github.com/amplifier-go/sessionstorage/internal/pyjson"
)

// claudeMaker makes lines of Claude Code.
type claudeMaker struct {
	w      *lineWriter
	about  about
	parent string
}

func (c *claudeMaker) begin() error { return nil }

func (c *claudeMaker) join(parent string, _ bool) error {
	c.parent = parent
	return nil
}

func (c *claudeMaker) file() string { return c.about.id + historySuffix }

// claudeRow is a line.
type claudeRow struct {
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
	Mark      string  `json:"amplifier"` // see exportMember
}

// kinded tells where a prompt is from.
type kinded struct {
	Kind string `json:"kind"`
}

type claudeUser struct {
	Role    string `json:"role"`
	Content any    `json:"content"`
}

type claudeAnswer struct {
	ID      string            `json:"id"`
	Type    string            `json:"type"`
	Role    string            `json:"role"`
	Model   string            `json:"model"`
	Content []json.RawMessage `json:"content"`
	Stop    *string           `json:"stop_reason"`
	Usage   map[string]int    `json:"usage"`
}

func (c *claudeMaker) message(m made) error {
	switch m.Role() {
	case "assistant":
		blocks, err := claudeBlocks(m)
		if err != nil {
			return err
		}
		return c.row(m, "assistant", claudeAnswer{
			ID: "msg_" + m.key, Type: "message", Role: "assistant", Model: c.about.model, Content: blocks,
			Usage: map[string]int{"input_tokens": 0, "output_tokens": 0},
		})
	case "tool":
		result := map[string]any{"type": "tool_result", "tool_use_id": m.ToolCallID(), "content": m.said}
		return c.row(m, "user", claudeUser{"user", []any{result}})
	}
	if len(m.blocks) > 0 {
		return c.row(m, "user", claudeUser{"user", m.blocks})
	}
	return c.row(m, "user", claudeUser{"user", m.said})
}

// claudeBlocks returns the texts and calls of an answer.
func claudeBlocks(m made) (blocks []json.RawMessage, err error) {
	if m.said != "" {
		blocks = append(blocks, textBlock(m.said))
	}
	for _, call := range m.ToolCalls() {
		input := json.RawMessage(call.Arguments)
		if pyjson.KindOf(input) != pyjson.Object {
			input = json.RawMessage("{}")
		}
		block, err := pyjson.Encode(struct {
			Type  string          `json:"type"`
			ID    string          `json:"id"`
			Name  string          `json:"name"`
			Input json.RawMessage `json:"input"`
		}{"tool_use", call.ID, call.Name, input})
		if err != nil {
			return nil, err
		}
		blocks = append(blocks, block)
	}
	return blocks, nil
}

func (c *claudeMaker) row(m made, kind string, message any) error {
	r := claudeRow{
		UserType: "external", Dir: c.about.dir, Session: c.about.id, Version: "2.1.0", Kind: kind, Meta: m.reminder,
		Message: message, UUID: m.key, Time: stamp(m.at), Mark: m.mark,
	}
	if m.Role() == "user" && !m.reminder {
		r.Origin = &kinded{"human"}
	}
	if c.parent != "" {
		r.Parent = &c.parent
	}
	if err := c.w.row(r); err != nil {
		return err
	}
	c.parent = m.key
	return nil
}
