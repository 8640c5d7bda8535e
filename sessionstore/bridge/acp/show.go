package acp

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	proto "github.com/coder/acp-go-sdk"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/turn"
	"github.com/amplifier-go/sessionstorage/slice/conversation"
)

// Clients that use the Go SDK end the connection at a line of more than 10 MiB, and JSON
// may write a byte as six.
const (
	maxPiece = 1 << 20 // bytes of one update's text
	maxImage = 6 << 20 // bytes of an image
)

// shown is the part of a session that a client has been shown: the calls that wait for their
// results, in their order, and how often each id of a call was used.
type shown struct {
	waiting []waiting
	used    map[string]int
	draft   turn.Draft // the client has it, and not yet its row
}

// waiting is a call without a result: its id in the transcript, and in the client.
type waiting struct {
	id   string
	name proto.ToolCallId
}

// updates returns the updates that show a row of a transcript to the client of a session,
// and none of its text and thinking where the client has those.
func (s *Sessions) updates(sh *shown, row conversation.Message, text, thinking bool) (all []proto.SessionUpdate) {
	if row.Thinking != nil && thinking {
		all = said(all, proto.UpdateAgentThoughtText, row.Thinking.Text)
	}
	if !row.Injected && len(row.Results) == 0 {
		update, block := proto.UpdateAgentMessageText, proto.UpdateAgentMessage
		if row.Role == "user" {
			update, block = proto.UpdateUserMessageText, proto.UpdateUserMessage
		}
		if row.Text != nil && text {
			all = said(all, update, row.Text.Text)
		}
		for _, f := range row.Files {
			all = append(all, block(fileBlock(f)))
		}
	}
	for _, c := range row.Calls {
		start := s.start(sessionstore.ToolCall{ID: c.ID, Name: c.Name, Arguments: []byte(c.Arguments.Text)}, sh.begin(c.ID))
		all = append(all, proto.SessionUpdate{ToolCall: &start})
	}
	for _, r := range row.Results {
		if id, ok := sh.end(r.ID); ok {
			all = append(all, result(id, r))
		}
	}
	return all
}

// seen returns a row in the form for people.
func seen(m sessionstore.Message) (conversation.Message, error) {
	view, err := conversation.New([]sessionstore.Message{m})
	if err != nil {
		return conversation.Message{}, err
	}
	return view.Messages(0, 1, conversation.Limits{Tool: maxPiece})[0], nil
}

// said appends a text in pieces that every client takes.
func said(all []proto.SessionUpdate, update func(string) proto.SessionUpdate, text string) []proto.SessionUpdate {
	for len(text) > maxPiece {
		n := maxPiece
		for !utf8.RuneStart(text[n]) {
			n--
		}
		all, text = append(all, update(text[:n])), text[n:]
	}
	if text == "" {
		return all
	}
	return append(all, update(text))
}

// begin returns the id of a new call for the client. A model may use an id again, but in
// the client's session an id means one call.
func (sh *shown) begin(id string) proto.ToolCallId {
	if sh.used == nil {
		sh.used = map[string]int{}
	}
	name := proto.ToolCallId(id)
	if sh.used[id]++; id == "" || sh.used[id] > 1 {
		name = proto.ToolCallId(fmt.Sprintf("%s#%d", id, sh.used[id]))
	}
	sh.waiting = append(sh.waiting, waiting{id, name})
	return name
}

// calling returns the client's id of a call that waits.
func (ses *session) calling(id string) proto.ToolCallId {
	ses.mu.Lock()
	defer ses.mu.Unlock()
	for _, w := range slices.Backward(ses.shown.waiting) {
		if w.id == id {
			return w.name
		}
	}
	return proto.ToolCallId(id)
}

// end returns the client's id of the call that a result answers, and false where no call waits.
func (sh *shown) end(id string) (proto.ToolCallId, bool) {
	i := slices.IndexFunc(sh.waiting, func(w waiting) bool { return w.id == id })
	if i < 0 {
		return "", false
	}
	name := sh.waiting[i].name
	sh.waiting = slices.Delete(sh.waiting, i, i+1)
	return name, true
}

// start returns the first update of a call. The author's Describe may change all but its id
// and its state.
func (s *Sessions) start(c sessionstore.ToolCall, id proto.ToolCallId) proto.SessionUpdateToolCall {
	u := proto.SessionUpdateToolCall{Title: c.Name, Kind: proto.ToolKindOther}
	if json.Unmarshal(c.Arguments, &u.RawInput) != nil && len(c.Arguments) > 0 { // cut, or with NaN, which Python writes
		u.RawInput = string(c.Arguments)
	}
	if s.Describe != nil {
		_ = s.guard("Describe", func() error { s.Describe(c, &u); return nil })
	}
	u.ToolCallId, u.Status = id, proto.ToolCallStatusPending
	return u
}

// result returns the update that ends a call.
func result(id proto.ToolCallId, r conversation.Result) proto.SessionUpdate {
	status := proto.ToolCallStatusCompleted
	if strings.HasPrefix(r.Text.Text, "Error: ") || strings.HasPrefix(r.Text.Text, `{"error": `) { // as package turn writes them
		status = proto.ToolCallStatusFailed
	}
	var content []proto.ToolCallContent
	if r.Text.Text != "" {
		content = append(content, proto.ToolContent(proto.TextBlock(r.Text.Text)))
	}
	for _, f := range r.Files {
		content = append(content, proto.ToolContent(fileBlock(f)))
	}
	return proto.UpdateToolCall(id, proto.WithUpdateStatus(status), proto.WithUpdateContent(content))
}

// fileBlock returns an image as it is, and of other files their description.
func fileBlock(f conversation.File) proto.ContentBlock {
	if f.Image && f.Size <= maxImage {
		if data, err := f.Data(); err == nil {
			return proto.ImageBlock(base64.StdEncoding.EncodeToString(data), f.Media)
		}
	}
	return proto.TextBlock("[" + f.Label + "]")
}

// prompt returns the row that a prompt becomes. A prompt of one text is that text; other
// prompts are blocks, as Anthropic's API has them.
func prompt(blocks []proto.ContentBlock, now time.Time) (sessionstore.Message, error) {
	var content []map[string]any
	for _, b := range blocks {
		switch {
		case b.Text != nil && b.Text.Text != "":
			content = append(content, textBlock(b.Text.Text))
		case b.Image != nil:
			content = append(content, map[string]any{"type": "image", "source": map[string]any{
				"type": "base64", "media_type": b.Image.MimeType, "data": b.Image.Data,
			}})
		case b.ResourceLink != nil:
			content = append(content, textBlock(fmt.Sprintf("[%s](%s)", b.ResourceLink.Name, b.ResourceLink.Uri)))
		case b.Resource != nil && b.Resource.Resource.TextResourceContents != nil:
			r := b.Resource.Resource.TextResourceContents
			content = append(content, textBlock(fmt.Sprintf("<context ref=%q>\n%s\n</context>", r.Uri, strings.TrimSuffix(r.Text, "\n"))))
		case b.Text == nil:
			return sessionstore.Message{}, invalid("this agent takes text, images, links and texts of files")
		}
	}
	switch {
	case len(content) == 0:
		return sessionstore.Message{}, invalid("the prompt is empty")
	case len(content) == 1 && content[0]["type"] == "text":
		return sessionstore.Text("user", content[0]["text"].(string), now)
	}
	row, err := sessionstore.Text("user", "", now)
	if err != nil {
		return row, err
	}
	return row.With("content", content)
}

func textBlock(text string) map[string]any { return map[string]any{"type": "text", "text": text} }
