package thread

import (
	"bytes"
	"crypto/sha1" //nolint:gosec // version 5 of UUIDs is defined by it
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/format/pytime"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

type sourceOf struct {
	Tool string `json:"tool"`
	ID   string `json:"id"`
	Line string `json:"line"`
}

type messageMetadata struct {
	Timestamp string   `json:"timestamp"`
	Source    sourceOf `json:"source"`
}

// withSource gives a message its metadata, and writes the line breaks that only some readers know as
// escapes. The numbers of its lines are one text, since one message may be of several lines; it
// is empty for a message that this package added.
func (f *File) withSource(m sessionstore.Message, at time.Time, records []int32) (sessionstore.Message, error) {
	var lines []string
	for i, rec := range records {
		if line := f.Table.Line(rec); i == 0 || f.Table.Line(records[i-1]) != line {
			lines = append(lines, strconv.Itoa(int(line)+1))
		}
	}
	m, err := m.With("metadata", messageMetadata{pytime.FormatMillis(at), sourceOf{f.Tool.Name(), f.ID, strings.Join(lines, ",")}})
	if err != nil {
		return m, err
	}
	row := core.Row(m)
	if !bytes.Contains(row, []byte("\xe2\x80")) && !bytes.Contains(row, []byte("\xc2\x85")) {
		return m, nil
	}
	row = bytes.ReplaceAll(row, []byte("\u2028"), []byte(`\u2028`))
	row = bytes.ReplaceAll(row, []byte("\u2029"), []byte(`\u2029`))
	return sessionstore.ParseMessage(bytes.ReplaceAll(row, []byte("\u0085"), []byte(`\u0085`)))
}

// resultMessage returns a message of a tool. Texts alone are the content itself.
func resultMessage(call sessionstore.ToolCall, p UserParts, at time.Time) (sessionstore.Message, error) {
	if len(p.Parts) > 0 {
		return sessionstore.NewMessage(struct {
			Role    string            `json:"role"`
			Name    string            `json:"name"`
			Call    string            `json:"tool_call_id"`
			Content []json.RawMessage `json:"content"`
		}{"tool", call.Name, call.ID, p.blocks("\n")})
	}
	return sessionstore.ToolResult(call.ID, call.Name, strings.Join(p.Said, "\n"), at)
}

// namespace is the UUID namespace of all ids that this package makes.
var namespace = [16]byte{0x5b, 0x1d, 0x0d, 0x5c, 0x4e, 0x0a, 0x5d, 0x0b, 0x9e, 0x51, 0x8f, 0x2c, 0x71, 0x1a, 0x6e, 0x33}

// UUID5 returns the UUID of version 5 of the tool and the tool's own id.
func UUID5(tool, id string) string {
	h := sha1.New() //nolint:gosec // see above
	h.Write(namespace[:])
	h.Write([]byte(tool + "\x00" + id))
	b := h.Sum(nil)[:16]
	b[6] = b[6]&0x0f | 0x50
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:16])
}

var notInAgent = regexp.MustCompile(`[^a-z0-9]+`)

// SubID returns the id of a sub-session in the form of sessionstore.NewSubID: a
// zero span, a span of the agent's id, and the agent's name.
func SubID(tool, id, agent string) string {
	span := strings.ReplaceAll(UUID5(tool, id), "-", "")[:16]
	name := strings.Trim(notInAgent.ReplaceAllString(strings.ToLower(agent), "-"), "-")
	if len(name) > 60 {
		name = strings.Trim(name[:60], "-")
	}
	if name == "" {
		name = "agent"
	}
	return hex.EncodeToString(make([]byte, 8)) + "-" + span + "_" + name
}
