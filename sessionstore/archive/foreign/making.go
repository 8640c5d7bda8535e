package foreign

import (
	"bufio"
	"encoding/json"
	"io"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/pyjson"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// making makes lines of a tool.
type making struct {
	w       *lineWriter
	lines   lineMaker
	tool    Tool
	id      string // the tool's id of the session
	session string
	last    time.Time
	floor   time.Time // the latest of the tool's own lines: Claude Code goes on from the newest
}

var uuidForm = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

func newMaking(tool Tool, id, session string, md sessionstore.Metadata, w io.Writer) *making {
	out := &making{w: &lineWriter{out: bufio.NewWriterSize(w, 64<<10)}, tool: tool, id: id, session: session}
	out.last = time.Unix(0, 0).UTC()
	if t, ok := md.Created(); ok {
		out.last = t
	}
	a := about{id: out.id, dir: md.Text("working_dir"), model: md.Text("model"), began: out.last}
	if tool == Claude {
		out.lines = &claudeMaker{w: out.w, about: a}
	} else {
		out.lines = &codexMaker{w: out.w, about: a}
	}
	return out
}

// message makes the lines of the nth message.
func (out *making) message(m sessionstore.Message, n int) error {
	if row, err := pyjson.Append(nil, m.AppendTo(nil), pyjson.Style{}); err == nil { // as programs write it that save it anew
		if same, err := sessionstore.ParseMessage(row); err == nil {
			m = same
		}
	}
	if t, ok := m.Timestamp(); ok {
		out.last = t
	}
	mm := made{Message: m, at: out.last, key: uuid5(out.tool, "export/"+out.session+"/"+strconv.Itoa(n)), said: m.Content(), mark: out.session + "/" + strconv.Itoa(n)}
	mm.reminder = m.Role() != "user" && m.Role() != "assistant" && m.Role() != "tool" || strings.HasPrefix(strings.TrimSpace(mm.said), "<system-reminder>")
	if mm.at.Before(out.floor) {
		mm.at = out.floor
	}
	content, _ := m.Lookup("content")
	for block := range pyjson.Elements(content) {
		if kind := text(members(block, "type")[0]); kind == "text" || kind == "image" {
			mm.blocks = append(mm.blocks, json.RawMessage(block))
		}
	}
	return out.lines.message(mm)
}
