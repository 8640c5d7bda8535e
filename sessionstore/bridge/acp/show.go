package acp

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	proto "github.com/coder/acp-go-sdk"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/turn"
	"github.com/amplifier-go/sessionstorage/slice"
	"github.com/amplifier-go/sessionstorage/slice/conversation"
)

// Clients that use the Go SDK end the connection at a line of more than 10 MiB, and JSON
// may write a byte as six.
const (
	maxPiece = 1 << 20 // bytes of text in an update
	maxImage = 6 << 20 // bytes of an image
)

// shown is the part of a session that the client has.
type shown struct {
	calls map[string]proto.ToolCallId // without a result, by their ids in the transcript
	used  map[string]int              // how often an id was used
	draft turn.Draft                  // the client has it, and not yet its row
}

// hidden are the parts of a row that the client has already.
type hidden struct{ text, thinking bool }

// show sends a row to the client.
func (t *Turn) show(m sessionstore.Message, h hidden) error {
	row, err := seen(m)
	if err != nil {
		return err
	}
	t.ses.mu.Lock()
	defer t.ses.mu.Unlock()
	return t.agent.send(t.ses, t.agent.updates(&t.ses.shown, row, h))
}

// send sends updates in their order.
func (s *Sessions) send(ses *session, all []proto.SessionUpdate) error {
	for _, u := range all {
		if err := s.conn.SessionUpdate(s.ctx, proto.SessionNotification{SessionId: ses.id, Update: u}); err != nil {
			return err
		}
	}
	return nil
}

// seen returns a row in the form for people.
func seen(m sessionstore.Message) (conversation.Message, error) {
	view, err := conversation.New([]sessionstore.Message{m})
	if err != nil {
		return conversation.Message{}, err
	}
	return view.Messages(0, 1, conversation.Limits{Tool: maxPiece})[0], nil
}

// updates returns the updates that show a row.
func (s *Sessions) updates(sh *shown, row conversation.Message, h hidden) (all []proto.SessionUpdate) {
	if row.Thinking != nil && !h.thinking {
		all = said(all, proto.UpdateAgentThoughtText, row.Thinking.Text)
	}
	block := proto.UpdateAgentMessage
	if row.Role == "user" {
		block = proto.UpdateUserMessage
	}
	if !row.Injected && len(row.Results) == 0 {
		if row.Text != nil && !h.text {
			all = said(all, func(text string) proto.SessionUpdate { return block(proto.TextBlock(text)) }, row.Text.Text)
		}
		for _, f := range row.Files {
			all = append(all, block(fileBlock(f)))
		}
	}
	for _, c := range row.Calls {
		u := s.start(sessionstore.ToolCall{ID: c.ID, Name: c.Name, Arguments: []byte(c.Arguments.Text)}, sh.begin(c.ID))
		all = append(all, proto.SessionUpdate{ToolCall: &u})
	}
	for _, r := range row.Results {
		if id, ok := sh.calls[r.ID]; ok {
			delete(sh.calls, r.ID)
			all = append(all, result(id, r))
		}
	}
	return all
}

// said appends a text, in pieces that every client takes.
func said(all []proto.SessionUpdate, update func(string) proto.SessionUpdate, text string) []proto.SessionUpdate {
	for text != "" {
		n := len(text)
		if n > maxPiece {
			n = len(whole(text[:maxPiece]))
		}
		all, text = append(all, update(text[:n])), text[n:]
	}
	return all
}

// whole returns text without the character at its end that needs further bytes.
func whole(text string) string {
	for n := len(text) - 1; n >= 0 && n > len(text)-utf8.UTFMax; n-- {
		if utf8.RuneStart(text[n]) && !utf8.FullRuneInString(text[n:]) {
			return text[:n]
		}
	}
	return text
}

// begin returns the client's id of a new call. In a transcript an id may be used again.
func (sh *shown) begin(id string) proto.ToolCallId {
	if sh.calls == nil {
		sh.calls, sh.used = map[string]proto.ToolCallId{}, map[string]int{}
	}
	sh.used[id]++
	sh.calls[id] = proto.ToolCallId(id)
	if id == "" || sh.used[id] > 1 {
		sh.calls[id] = proto.ToolCallId(fmt.Sprintf("%s#%d", id, sh.used[id]))
	}
	return sh.calls[id]
}

// calling returns the client's id of a call without a result.
func (ses *session) calling(id string) proto.ToolCallId {
	ses.mu.Lock()
	defer ses.mu.Unlock()
	return ses.shown.calls[id]
}

// start returns the first update of a call.
func (s *Sessions) start(c sessionstore.ToolCall, id proto.ToolCallId) proto.SessionUpdateToolCall {
	u := proto.SessionUpdateToolCall{Title: c.Name, Kind: proto.ToolKindOther}
	if len(c.Arguments) > maxPiece || json.Unmarshal(c.Arguments, &u.RawInput) != nil && len(c.Arguments) > 0 { // they are cut, or have NaN, which Python writes
		u.RawInput = whole(string(c.Arguments[:min(len(c.Arguments), maxPiece)]))
	}
	if s.Describe != nil {
		_ = s.guard("Describe", func() error { s.Describe(c, &u); return nil })
	}
	u.ToolCallId, u.Status = id, proto.ToolCallStatusPending
	return u
}

// result returns the update that ends a call. A failure has one of the two beginnings that
// package turn writes.
func result(id proto.ToolCallId, r conversation.Result) proto.SessionUpdate {
	status := proto.ToolCallStatusCompleted
	if strings.HasPrefix(r.Text.Text, "Error: ") || strings.HasPrefix(r.Text.Text, `{"error": `) {
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

// prompt returns the row of a prompt: one text as it is, and all else as blocks in the form
// of Anthropic's API.
func prompt(blocks []proto.ContentBlock, now time.Time) (row sessionstore.Message, err error) {
	var content []map[string]any
	text := func(s string) {
		if s != "" {
			content = append(content, map[string]any{"type": "text", "text": s})
		}
	}
	for _, b := range blocks {
		switch {
		case b.Text != nil:
			text(b.Text.Text)
		case b.Image != nil:
			content = append(content, map[string]any{"type": "image", "source": map[string]any{"type": "base64", "media_type": b.Image.MimeType, "data": b.Image.Data}})
		case b.ResourceLink != nil:
			text(fmt.Sprintf("[%s](%s)", b.ResourceLink.Name, b.ResourceLink.Uri))
		case b.Resource != nil && b.Resource.Resource.TextResourceContents != nil:
			r := b.Resource.Resource.TextResourceContents
			text(fmt.Sprintf("<context ref=%q>\n%s\n</context>", r.Uri, strings.TrimSuffix(r.Text, "\n")))
		default:
			return row, invalid("this agent takes texts, images, links and the texts of files")
		}
	}
	if len(content) == 0 {
		return row, invalid("the prompt is empty")
	}
	first, _ := content[0]["text"].(string)
	if row, err = sessionstore.Text("user", first, now); err == nil && (first == "" || len(content) > 1) {
		row, err = row.With("content", content)
	}
	if err == nil && !slice.IsRealUser(row) {
		err = invalid("the prompt begins with <system-reminder>, as what programs write: begin it with another word")
	}
	return row, err
}
