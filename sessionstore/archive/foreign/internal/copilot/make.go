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

// madeBy names this package where the tool names itself.
const madeBy = "amplifier"

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

// event writes an event. Marks are of a message, see thread.Made.
func (c *maker) event(kind, id string, at time.Time, mark, seal string, data object) error {
	e := object{"type": kind, "data": data, "id": id, "timestamp": thread.Stamp(at), "parentId": c.parent}
	if mark != "" {
		e[thread.ExportMember] = mark
	}
	if seal != "" {
		e[thread.SealMember] = seal
	}
	c.parent, c.last = id, at
	return c.w.Row(e)
}

func (c *maker) id(what string) string { return thread.UUID5(Tool{}.Name(), what+"/"+c.about.ID) }

func (c *maker) Begin() error {
	began := thread.Stamp(c.about.Began)
	return c.event(startKind, c.id("start"), c.about.Began, "", "", object{
		"sessionId": c.about.ID, "version": maxVersion, "producer": madeBy, "copilotVersion": "1.0.102", "startTime": began,
		"context": object{"cwd": c.about.Dir},
	})
}

func (c *maker) Join(parent string, whole bool) error {
	if eventID.MatchString(parent) {
		c.parent = parent
	}
	if whole {
		return nil
	}
	return c.event(clearKind, c.id("cleared "+parent), c.about.Began, "", "", object{"messagesCleared": 0, clearedHere: true})
}

func (c *maker) Message(m thread.Made) error {
	said, pictures, ahead := contentOf(m)
	kind, data := promptKind, object{"content": said}
	switch {
	case m.Role() == "assistant":
		kind, data = answerKind, object{"messageId": m.Key, "content": m.Said, "toolRequests": requestsOf(m)}
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
		data["source"] = madeBy
	case pictures != nil:
		for _, p := range pictures {
			p.(object)["type"] = "blob"
		}
		data["attachments"], data[picturesAt] = pictures, ahead
	}
	return c.event(kind, m.Key, m.At, m.Mark, m.Seal, data)
}

func requestsOf(m thread.Made) []any {
	all := []any{}
	for _, call := range m.ToolCalls() {
		all = append(all, object{"toolCallId": call.ID, "name": call.Name, "arguments": thread.Input(call.Arguments), "type": "function"})
	}
	return all
}

// picturesAt is a member of the data of a prompt or of a result. It has for each picture the number of bytes of the
// content ahead of it, without the blank line between two texts.
const picturesAt = "amplifier_at"

// contentOf returns the texts of a message and its pictures, with the number of bytes ahead of each. A
// picture that has only an address is a text.
func contentOf(m thread.Made) (said string, pictures, ahead []any) {
	say := func(text string) {
		if said != "" && text != "" {
			said += "\n\n"
		}
		said += text
	}
	for _, b := range m.Blocks {
		f := thread.Members(b, "type", "source")
		source := thread.Members(f[1], "media_type", "data", "url")
		switch {
		case thread.Text(f[0]) != "image":
			say(thread.Text(thread.Members(b, "text")[0]))
		case thread.Text(source[2]) != "":
			say(thread.Text(source[2]))
		default:
			ahead = append(ahead, len(said))
			pictures = append(pictures, object{"type": "image", "data": thread.Text(source[1]), "mimeType": thread.Text(source[0])})
		}
	}
	if len(m.Blocks) == 0 {
		said = m.Said
	}
	return said, pictures, ahead
}
