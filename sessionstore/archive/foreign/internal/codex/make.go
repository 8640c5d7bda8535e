package codex

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/thread"
)

// maker makes lines of Codex.
type maker struct {
	w     *thread.LineWriter
	about thread.About
	mark  string // of the message whose lines are made
	seal  string
}

func (c *maker) File() string {
	return filePrefix + c.about.Began.UTC().Format("2006-01-02T15-04-05") + "-" + c.about.ID + thread.HistorySuffix
}

func (Tool) Place(_, file string) (string, error) {
	day, _, _ := strings.Cut(strings.TrimPrefix(file, filePrefix), "T")
	return filepath.Join("sessions", filepath.FromSlash(strings.ReplaceAll(day, "-", "/")), file), nil
}

func (Tool) Speaks(raw []byte) bool {
	raw, err := thread.Object(raw)
	m := thread.Members(raw, "type", "ordinal", "payload")
	count := thread.Text(m[0]) == eventKind && thread.Text(thread.Members(m[2], "type")[0]) == "token_count"
	return err != nil || m[1] != nil || thread.Text(m[0]) != settingsKind && !count
}

// row is a line.
type row struct {
	Time    string `json:"timestamp"`
	Kind    string `json:"type"`
	Payload any    `json:"payload"`
	Mark    string `json:"amplifier,omitempty"`        // see thread.ExportMember
	Seal    string `json:"amplifier_mended,omitempty"` // see thread.SealMember
}

func (c *maker) row(at time.Time, kind string, payload any) error {
	return c.w.Row(row{thread.Stamp(at), kind, payload, c.mark, c.seal})
}

func (c *maker) Begin() error {
	return c.row(c.about.Began, metaKind, struct {
		ID         string `json:"id"`
		Time       string `json:"timestamp"`
		Dir        string `json:"cwd"`
		Originator string `json:"originator"`
		Version    string `json:"cli_version"`
		Source     string `json:"source"`
		Provider   string `json:"model_provider"` // without it, the tool resumes no session
	}{c.about.ID, thread.Stamp(c.about.Began), c.about.Dir, "amplifier", "0.144.3", "cli", c.provider()})
}

// settingOf finds the provider in the settings of the tool, and tableOf the first table in them.
var (
	settingOf = regexp.MustCompile(`(?m)^[ \t]*["']?model_provider["']?[ \t]*=[ \t]*["']([^"'\n]+)["']`)
	tableOf   = regexp.MustCompile(`(?m)^[ \t]*\[[^,\n]*\][ \t\r]*(#.*)?$`)
)

// provider returns the provider that the settings of the tool name on this machine.
func (c *maker) provider() string {
	f, _, err := thread.OpenRegular(filepath.Join(c.about.Home, "config.toml"))
	if err != nil {
		return "openai"
	}
	defer f.Close()
	all, _ := io.ReadAll(io.LimitReader(f, thread.MaxBeginning)) // a part counts, too
	if at := tableOf.FindIndex(all); at != nil {
		all = all[:at[0]]
	}
	if m := settingOf.FindSubmatch(bytes.TrimPrefix(all, []byte("\ufeff"))); m != nil {
		return string(m[1])
	}
	return "openai"
}

// Join drops the conversation of the tool's lines, unless all of it stays.
func (c *maker) Join(_ string, whole bool) error {
	if whole {
		return nil
	}
	rollback := map[string]any{"type": "thread_rolled_back", "num_turns": uint32(math.MaxUint32)}
	if err := c.row(c.about.Began, eventKind, rollback); err != nil {
		return err
	}
	return c.row(c.about.Began, compactKind, struct {
		Message string            `json:"message"`
		Items   []json.RawMessage `json:"replacement_history"`
	}{"", []json.RawMessage{}})
}

type message struct {
	Type    string `json:"type"`
	Role    string `json:"role"`
	Content []any  `json:"content"`
}

type textPart struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

func (c *maker) Message(m thread.Made) error {
	c.mark, c.seal = m.Mark, m.Seal
	switch m.Role() {
	case "assistant":
		return c.answer(m)
	case "tool":
		output := any(m.Said)
		if shown := m.Pictured(); shown != nil {
			output = contentsOf(shown)
		}
		return c.row(m.At, itemKind, struct {
			Type   string `json:"type"`
			CallID string `json:"call_id"`
			Output any    `json:"output"`
		}{"function_call_output", m.ToolCallID(), output})
	}
	if m.Reminder {
		said := strings.TrimSpace(m.Said)
		said = strings.TrimSuffix(strings.TrimPrefix(said, "<system-reminder>\n"), "\n</system-reminder>")
		return c.row(m.At, itemKind, message{"message", "developer", []any{textPart{"input_text", said}}})
	}
	content := contentsOf(m.Blocks)
	if len(content) == 0 {
		content = []any{textPart{"input_text", m.Said}}
	}
	if err := c.row(m.At, itemKind, message{"message", "user", content}); err != nil {
		return err
	}
	return c.row(m.At, eventKind, struct {
		Type    string   `json:"type"`
		Message string   `json:"message"`
		Images  []string `json:"images"`
	}{"user_message", m.Said, []string{}})
}

// contentsOf returns blocks as parts of a message or of a result.
func contentsOf(blocks []json.RawMessage) (all []any) {
	for _, b := range blocks {
		all = append(all, contentOf(b))
	}
	return all
}

// contentOf returns a block as a part of a message.
func contentOf(block []byte) any {
	m := thread.Members(block, "type", "text", "source")
	if thread.Text(m[0]) == "text" {
		return textPart{"input_text", thread.Text(m[1])}
	}
	s := thread.Members(m[2], "type", "media_type", "data", "url")
	url := thread.Text(s[3])
	if thread.Text(s[0]) == "base64" {
		url = "data:" + thread.Text(s[1]) + ";base64," + thread.Text(s[2])
	}
	return struct {
		Type string `json:"type"`
		URL  string `json:"image_url"`
	}{"input_image", url}
}

func (c *maker) answer(m thread.Made) error {
	if m.Said != "" {
		if err := c.row(m.At, itemKind, message{"message", "assistant", []any{textPart{"output_text", m.Said}}}); err != nil {
			return err
		}
		if err := c.row(m.At, eventKind, struct {
			Type    string `json:"type"`
			Message string `json:"message"`
		}{"agent_message", m.Said}); err != nil {
			return err
		}
	}
	for _, call := range m.ToolCalls() {
		if err := c.row(m.At, itemKind, struct {
			Type      string `json:"type"`
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
			CallID    string `json:"call_id"`
		}{"function_call", call.Name, string(thread.Input(call.Arguments)), call.ID}); err != nil {
			return err
		}
	}
	return nil
}
