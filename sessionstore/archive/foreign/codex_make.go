package foreign

import (
	"encoding/json"
	"math"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/pyjson"
)

// codexMaker makes lines of Codex.
type codexMaker struct {
	w     *lineWriter
	about about
	mark  string // of the message whose lines are made
}

func (c *codexMaker) file() string {
	return codexPrefix + c.about.began.UTC().Format("2006-01-02T15-04-05") + "-" + c.about.id + historySuffix
}

// codexRow is a line.
type codexRow struct {
	Time    string `json:"timestamp"`
	Kind    string `json:"type"`
	Payload any    `json:"payload"`
	Mark    string `json:"amplifier,omitempty"` // see exportMember
}

func (c *codexMaker) row(at time.Time, kind string, payload any) error {
	return c.w.row(codexRow{stamp(at), kind, payload, c.mark})
}

func (c *codexMaker) begin() error {
	return c.row(c.about.began, codexMeta, struct {
		ID         string `json:"id"`
		Time       string `json:"timestamp"`
		Dir        string `json:"cwd"`
		Originator string `json:"originator"`
		Version    string `json:"cli_version"`
		Source     string `json:"source"`
	}{c.about.id, stamp(c.about.began), c.about.dir, "amplifier", "0.144.3", "cli"})
}

// join drops the conversation of the tool's lines, unless all of it stays.
func (c *codexMaker) join(_ string, whole bool) error {
	if whole {
		return nil
	}
	rollback := map[string]any{"type": "thread_rolled_back", "num_turns": uint32(math.MaxUint32)}
	if err := c.row(c.about.began, codexEvent, rollback); err != nil {
		return err
	}
	return c.row(c.about.began, codexCompact, struct {
		Message string            `json:"message"`
		Items   []json.RawMessage `json:"replacement_history"`
	}{"", []json.RawMessage{}})
}

type codexMessage struct {
	Type    string `json:"type"`
	Role    string `json:"role"`
	Content []any  `json:"content"`
}

type codexText struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

func (c *codexMaker) message(m made) error {
	c.mark = m.mark
	switch m.Role() {
	case "assistant":
		return c.answer(m)
	case "tool":
		return c.row(m.at, codexItemKind, struct {
			Type   string `json:"type"`
			CallID string `json:"call_id"`
			Output string `json:"output"`
		}{"function_call_output", m.ToolCallID(), m.said})
	}
	if m.reminder {
		said := strings.TrimSpace(m.said)
		said = strings.TrimSuffix(strings.TrimPrefix(said, "<system-reminder>\n"), "\n</system-reminder>")
		return c.row(m.at, codexItemKind, codexMessage{"message", "developer", []any{codexText{"input_text", said}}})
	}
	var content []any
	for _, b := range m.blocks {
		content = append(content, codexContent(b))
	}
	if len(content) == 0 {
		content = []any{codexText{"input_text", m.said}}
	}
	if err := c.row(m.at, codexItemKind, codexMessage{"message", "user", content}); err != nil {
		return err
	}
	return c.row(m.at, codexEvent, struct {
		Type    string   `json:"type"`
		Message string   `json:"message"`
		Images  []string `json:"images"`
	}{"user_message", m.said, []string{}})
}

// codexContent returns a block as a part of a message.
func codexContent(block []byte) any {
	m := members(block, "type", "text", "source")
	if text(m[0]) == "text" {
		return codexText{"input_text", text(m[1])}
	}
	s := members(m[2], "type", "media_type", "data", "url")
	url := text(s[3])
	if text(s[0]) == "base64" {
		url = "data:" + text(s[1]) + ";base64," + text(s[2])
	}
	return struct {
		Type string `json:"type"`
		URL  string `json:"image_url"`
	}{"input_image", url}
}

func (c *codexMaker) answer(m made) error {
	if m.said != "" {
		if err := c.row(m.at, codexItemKind, codexMessage{"message", "assistant", []any{codexText{"output_text", m.said}}}); err != nil {
			return err
		}
		if err := c.row(m.at, codexEvent, struct {
			Type    string `json:"type"`
			Message string `json:"message"`
		}{"agent_message", m.said}); err != nil {
			return err
		}
	}
	for _, call := range m.ToolCalls() {
		arguments := string(call.Arguments)
		if pyjson.KindOf(call.Arguments) != pyjson.Object {
			arguments = "{}"
		}
		if err := c.row(m.at, codexItemKind, struct {
			Type      string `json:"type"`
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
			CallID    string `json:"call_id"`
		}{"function_call", call.Name, arguments, call.ID}); err != nil {
			return err
		}
	}
	return nil
}
