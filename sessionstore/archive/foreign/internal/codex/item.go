package codex

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/thread"
)

// item is an item of the conversation, or another line.
type item struct {
	at   time.Time
	kind string // of the item or event, or of the line
	body []byte
}

// item returns the item that the line is.
func (l line) item() item {
	it := item{at: l.at, kind: l.kind, body: l.payload}
	if l.kind == itemKind || l.kind == eventKind {
		it.kind = thread.Text(thread.Members(l.payload, "type")[0])
	}
	return it
}

func (it item) ID() string                { return "" } // ids of items came late, and not all have them
func (it item) Time() (time.Time, string) { return it.at, "" }

// get returns members of the item.
func (it item) get(names ...string) [4][]byte { return thread.Members(it.body, names...) }

func (it item) User() (p thread.UserParts) {
	switch it.kind {
	case "message":
		addContent(&p, it.get("content")[0])
	case "agent_message":
		m := it.get("author", "content")
		addContent(&p, m[1])
		addAuthor(&p, thread.Text(m[0]))
	case agentsKind:
		m := it.get("author", "content", "encrypted_content")
		p.Said.Say(thread.Text(m[1]))
		if thread.Text(m[2]) != "" {
			p.Other = append(p.Other, "encrypted_content")
		}
		addAuthor(&p, thread.Text(m[0]))
	case "compaction", "compaction_summary", "context_compaction":
		p.Said.Say(thread.CompactedText)
		p.Other = append(p.Other, it.kind)
	case compactKind:
		p.Said.Say(thread.Text(it.get("message")[0]))
	case metaKind, "rollout_reference":
		p.Said.Say(thread.Elsewhere)
	}
	return p
}

// Prompt returns the whole text of a prompt, with the text that an editor added.
func (it item) Prompt() string {
	if it.kind == "user_message" {
		return thread.Text(it.get("message")[0])
	}
	var all []string
	for part := range pyjson.Elements(it.get("content")[0]) {
		if m := thread.Members(part, "type", "text"); thread.Text(m[0]) == "input_text" {
			all = append(all, thread.Text(m[1]))
		}
	}
	return strings.Join(all, "\n")
}

// addAuthor says which agent wrote the texts.
func addAuthor(p *thread.UserParts, author string) {
	if len(p.Said) > 0 && author != "" {
		p.Said[0] = "Message of agent " + author + ":\n" + p.Said[0]
	}
}

// addContent adds the content of a message.
func addContent(p *thread.UserParts, raw []byte) {
	if pyjson.KindOf(raw) == pyjson.String {
		p.Said.Say(pyjson.Text(raw))
		return
	}
	for part := range pyjson.Elements(raw) {
		m := thread.Members(part, "type", "text", "image_url")
		switch kind := thread.Text(m[0]); kind {
		case "input_text", "output_text", "text":
			if s := thread.Text(m[1]); !isImageTag(s) {
				p.Said.Say(s)
			}
		case "input_image":
			if block := imageBlock(thread.Text(m[2])); block != nil {
				p.Show(block)
				continue
			}
			p.Other = append(p.Other, kind)
		default:
			p.Other = append(p.Other, kind)
		}
	}
}

// isImageTag reports whether a text only marks where an image begins or ends.
func isImageTag(s string) bool {
	s = strings.TrimSpace(s)
	return s == "</image>" || strings.HasPrefix(s, "<image") && strings.HasSuffix(s, ">") && strings.Count(s, "<") == 1
}

// imageBlock returns the block of an image, nil where it is no image at a known
// place.
func imageBlock(url string) json.RawMessage {
	type source struct {
		Type  string `json:"type"`
		Media string `json:"media_type,omitempty"`
		Data  string `json:"data,omitempty"`
		URL   string `json:"url,omitempty"`
	}
	s := source{Type: "url", URL: url}
	if rest, inline := strings.CutPrefix(url, "data:"); inline {
		media, data, found := strings.Cut(rest, ";base64,")
		if !found || data == "" || !strings.HasPrefix(media, "image/") {
			return nil
		}
		s = source{Type: "base64", Media: media, Data: data}
	} else if !strings.HasPrefix(url, "https://") && !strings.HasPrefix(url, "http://") {
		return nil
	}
	block, err := pyjson.Encode(struct {
		Type   string `json:"type"`
		Source source `json:"source"`
	}{"image", s})
	if err != nil {
		return nil
	}
	return block
}

func (it item) Answer() (p thread.AnswerParts) {
	switch it.kind {
	case "message":
		u := thread.UserParts{}
		addContent(&u, it.get("content")[0])
		p.Said, p.Other = u.Said, u.Other
		for range u.Parts {
			p.Other = append(p.Other, "input_image")
		}
	case "reasoning":
		addReasoning(&p, it)
	default:
		p.Calls = append(p.Calls, it.call())
	}
	return p
}

// addReasoning adds the reasoning of the model: the summary, or else the text itself.
func addReasoning(p *thread.AnswerParts, it item) {
	m := it.get("summary", "content", "encrypted_content")
	for _, list := range m[:2] {
		for part := range pyjson.Elements(list) {
			p.Thought.Say(thread.Text(thread.Members(part, "text")[0]))
		}
		if len(p.Thought) > 0 {
			return
		}
	}
	if thread.Text(m[2]) != "" {
		p.Other = append(p.Other, "encrypted_content")
	}
}

// callID returns the id by which calls and results find each other, "" where the
// item has none.
func (it item) callID() string {
	m := it.get("call_id", "id")
	return cmp.Or(thread.Text(m[0]), thread.Text(m[1]))
}

// call returns the call that the item is.
func (it item) call() sessionstore.ToolCall {
	c := sessionstore.ToolCall{ID: it.callID(), Name: strings.TrimSuffix(it.kind, "_call")}
	switch it.kind {
	case "function_call", "custom_tool_call":
		m := it.get("name", "arguments", "input", "namespace")
		c.Name = thread.Text(m[0])
		if space := thread.Text(m[3]); space != "" && !strings.HasPrefix(c.Name, space) {
			c.Name = space + "__" + c.Name
		}
		c.Arguments = named("input", m[2])
		if it.kind == "function_call" {
			c.Arguments = writtenArguments(m[1])
		}
	case "local_shell_call", "web_search_call":
		c.Arguments = thread.Arguments(it.get("action")[0])
	case "tool_search_call":
		c.Arguments = writtenArguments(it.get("arguments")[0])
	case "image_generation_call":
		c.Arguments = named("prompt", it.get("revised_prompt")[0])
	}
	return c
}

// named returns an object with one member.
func named(name string, value []byte) json.RawMessage {
	if value == nil {
		return nil
	}
	return json.RawMessage(`{"` + name + `": ` + string(value) + `}`)
}

// writtenArguments returns the arguments that a text holds as JSON.
func writtenArguments(raw []byte) json.RawMessage {
	if pyjson.KindOf(raw) == pyjson.String {
		if inside, err := thread.Object([]byte(pyjson.Text(raw))); err == nil {
			return inside
		}
	}
	return thread.Arguments(raw)
}

func (it item) Result(call uint64, early bool) (p thread.UserParts, found bool) {
	if thread.Hash(it.callID()) != call {
		return p, false
	}
	show := func(kind string, block json.RawMessage) {
		if block == nil || early {
			p.Leave(kind)
			return
		}
		p.Show(block)
	}
	m := it.get("output", "tools", "result")
	out := m[0]
	if pyjson.KindOf(out) == pyjson.Object { // older versions
		out = thread.Members(out, "content")[0]
	}
	switch {
	case it.kind == "image_generation_call":
		show("image", imageBlock("data:image/png;base64,"+thread.Text(m[2])))
	case it.kind == "tool_search_output":
		p.Said = thread.Texts{string(m[1])}
	case pyjson.KindOf(out) == pyjson.String:
		p.Said = thread.Texts{pyjson.Text(out)}
	default:
		for part := range pyjson.Elements(out) {
			m := thread.Members(part, "type", "text", "image_url")
			switch kind := thread.Text(m[0]); kind {
			case "input_text", "output_text", "text":
				p.Said = append(p.Said, thread.Text(m[1]))
			case "input_image":
				show(kind, imageBlock(thread.Text(m[2])))
			default:
				p.Leave(kind)
			}
		}
	}
	return p, true
}

func (it item) Spent() (model string, used thread.Usage) {
	switch it.kind {
	case settingsKind:
		model = thread.Text(it.get("model")[0])
	case "token_count":
		m := thread.Members(thread.Members(it.get("info")[0], "last_token_usage")[0], "input_tokens", "cached_input_tokens", "output_tokens")
		in, cached := thread.Tokens(m[0]), thread.Tokens(m[1])
		used = thread.Usage{Input: max(0, in-cached), Output: thread.Tokens(m[2]), CacheRead: cached}
	}
	return model, used
}
