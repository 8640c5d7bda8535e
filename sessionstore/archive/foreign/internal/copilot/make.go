package copilot

import (
	"path/filepath"
	"regexp"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/thread"
)

type object = map[string]any

// maker makes events.
type maker struct {
	w      *thread.LineWriter
	about  thread.About
	parent any // the id of the event before; nil: none
	last   time.Time
}

// clearedHere is a member of the data of an event by which an export leaves out the lines before it.
const clearedHere = "amplifier_cleared"

// eventID matches ids of events: the tool reads no file in which an event follows another one.
var eventID = regexp.MustCompile(`^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$`)

func (c *maker) File() string { return c.about.ID + "/" + eventsFile }

func (Tool) Place(_, file string) (string, error) {
	return filepath.Join(sessionsFolder, filepath.FromSlash(file)), nil
}

// Further: the tool makes a workspace.yaml where there is none, and calls the session by the next
// prompt then.
func (c *maker) Further() (map[string][]byte, error) {
	w := workspace{ID: c.about.ID, Dir: c.about.Dir, Name: c.about.Name, Named: c.about.Name != ""}
	w.Created, w.Updated = thread.Stamp(c.about.Began), thread.Stamp(c.last)
	raw, err := yaml.Marshal(w)
	return map[string][]byte{workspaceFile: raw}, err
}

// event writes an event about a message.
func (c *maker) event(kind string, data object, m thread.Made) error {
	e := object{"type": kind, "data": data, "id": m.Key, "timestamp": thread.Stamp(m.At), "parentId": c.parent}
	if m.Mark != "" {
		m.Sign(e)
	}
	c.parent, c.last = m.Key, m.At
	return c.w.Row(e)
}

// note writes an event that is about no message.
func (c *maker) note(kind, what string, data object) error {
	return c.event(kind, data, thread.Made{Key: thread.UUID5(Tool{}.Name(), what+"/"+c.about.ID), At: c.about.Began})
}

func (c *maker) Begin() error {
	return c.note(startKind, "start", object{
		"sessionId": c.about.ID, "version": maxVersion, "producer": "amplifier", "copilotVersion": "1.0.102",
		"startTime": thread.Stamp(c.about.Began), "context": object{"cwd": c.about.Dir},
	})
}

func (c *maker) Join(parent string, whole bool) error {
	if eventID.MatchString(parent) {
		c.parent = parent
	}
	if whole {
		return nil
	}
	return c.note(clearKind, "cleared "+parent, object{"messagesCleared": 0, clearedHere: true})
}

func (c *maker) Message(m thread.Made) error {
	said, pictures, ahead := contentOf(m)
	kind, data := promptKind, object{"content": said}
	switch {
	case m.Role() == "assistant":
		requests := []any{}
		for _, call := range m.ToolCalls() {
			requests = append(requests, object{"toolCallId": call.ID, "name": call.Name, "arguments": thread.Input(call.Arguments), "type": "function"})
		}
		kind, data = answerKind, object{"messageId": m.Key, "content": m.Said, "toolRequests": requests}
		if c.about.Model != "" {
			data["model"] = c.about.Model
		}
	case m.Role() == "tool":
		result := object{"content": said}
		kind, data = resultKind, object{"toolCallId": m.ToolCallID(), "success": true, "result": result}
		if pictures != nil {
			result["binaryResultsForLlm"], data[picturesAt] = pictures, ahead
		}
	case m.Reminder:
		data["source"] = "amplifier"
	case pictures != nil:
		for _, p := range pictures {
			p.(object)["type"] = "blob"
		}
		data["attachments"], data[picturesAt] = pictures, ahead
	}
	return c.event(kind, data, m)
}

// picturesAt is a member of the data of a prompt or of a result. It has for each picture the number of bytes of the
// content ahead of it, without the blank line between two texts.
const picturesAt = "amplifier_at"

// contentOf returns the texts of a message and its pictures, with the number of bytes ahead of each.
func contentOf(m thread.Made) (said string, pictures, ahead []any) {
	if len(m.Blocks) == 0 {
		return m.Said, nil, nil
	}
	for _, b := range m.Shown() {
		if b.Text == nil {
			pictures, ahead = append(pictures, object{"type": "image", "data": b.Data, "mimeType": b.Media}), append(ahead, len(said))
			continue
		}
		text := thread.Text(thread.Members(b.Text, "text")[0])
		if said != "" && text != "" {
			said += "\n\n"
		}
		said += text
	}
	return said, pictures, ahead
}
