package foreign

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/pyjson"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// codexItem is an item of the conversation, or another line.
type codexItem struct {
	at   time.Time
	kind string // of the item or event, or of the line
	body []byte
}

// item returns the item that the line is.
func (l codexLine) item() codexItem {
	it := codexItem{at: l.at, kind: l.kind, body: l.payload}
	if l.kind == codexItemKind || l.kind == codexEvent {
		it.kind = text(members(l.payload, "type")[0])
	}
	return it
}

func (it codexItem) id() string      { return "" } // ids of items came late, and not all have them
func (it codexItem) time() time.Time { return it.at }

// get returns members of the item.
func (it codexItem) get(names ...string) [4][]byte { return members(it.body, names...) }

func (it codexItem) user() (p userParts) {
	switch it.kind {
	case "message":
		p.content(it.get("content")[0])
	case "agent_message":
		m := it.get("author", "content")
		p.content(m[1])
		p.from(text(m[0]))
	case codexAgents:
		m := it.get("author", "content", "encrypted_content")
		p.say(text(m[1]))
		if text(m[2]) != "" {
			p.other = append(p.other, "encrypted_content")
		}
		p.from(text(m[0]))
	case "compaction", "compaction_summary", "context_compaction":
		p.say(compactedText)
		p.other = append(p.other, it.kind)
	case codexCompact:
		p.say(text(it.get("message")[0]))
	case codexMeta, "rollout_reference":
		p.say(elsewhere)
	}
	return p
}

// prompt returns the whole text of a prompt, with what an editor added.
func (it codexItem) prompt() string {
	if it.kind == "user_message" {
		return text(it.get("message")[0])
	}
	var all []string
	for part := range pyjson.Elements(it.get("content")[0]) {
		if m := members(part, "type", "text"); text(m[0]) == "input_text" {
			all = append(all, text(m[1]))
		}
	}
	return strings.Join(all, "\n")
}

// from tells who wrote the texts.
func (p *userParts) from(author string) {
	if len(p.said) > 0 && author != "" {
		p.said[0] = "Message of agent " + author + ":\n" + p.said[0]
	}
}

// content adds the content of a message.
func (p *userParts) content(raw []byte) {
	if pyjson.KindOf(raw) == pyjson.String {
		p.say(pyjson.Text(raw))
		return
	}
	for part := range pyjson.Elements(raw) {
		m := members(part, "type", "text", "image_url")
		switch kind := text(m[0]); kind {
		case "input_text", "output_text", "text":
			if s := text(m[1]); !isImageTag(s) {
				p.say(s)
			}
		case "input_image":
			if block := imageBlock(text(m[2])); block != nil {
				p.parts = append(p.parts, block)
				continue
			}
			p.other = append(p.other, kind)
		default:
			p.other = append(p.other, kind)
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
		if !found || !strings.HasPrefix(media, "image/") {
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

func (it codexItem) answer() (p answerParts) {
	switch it.kind {
	case "message":
		u := userParts{}
		u.content(it.get("content")[0])
		p.said, p.other = u.said, u.other
		for range u.parts {
			p.other = append(p.other, "input_image")
		}
	case "reasoning":
		p.reasoning(it)
	default:
		p.calls = append(p.calls, it.call())
	}
	return p
}

// reasoning adds what the model thought: the summary, or else the text itself.
func (p *answerParts) reasoning(it codexItem) {
	m := it.get("summary", "content", "encrypted_content")
	for _, list := range m[:2] {
		for part := range pyjson.Elements(list) {
			p.think(text(members(part, "text")[0]))
		}
		if len(p.thought) > 0 {
			return
		}
	}
	if text(m[2]) != "" {
		p.other = append(p.other, "encrypted_content")
	}
}

// callID returns the id by which calls and results find each other, "" where the
// item has none.
func (it codexItem) callID() string {
	m := it.get("call_id", "id")
	return firstOf(text(m[0]), text(m[1]))
}

// call returns the call that the item is.
func (it codexItem) call() sessionstore.ToolCall {
	c := sessionstore.ToolCall{ID: it.callID(), Name: strings.TrimSuffix(it.kind, "_call")}
	switch it.kind {
	case "function_call", "custom_tool_call":
		m := it.get("name", "arguments", "input", "namespace")
		c.Name = text(m[0])
		if space := text(m[3]); space != "" && !strings.HasPrefix(c.Name, space) {
			c.Name = space + "__" + c.Name
		}
		c.Arguments = named("input", m[2])
		if it.kind == "function_call" {
			c.Arguments = writtenArguments(m[1])
		}
	case "local_shell_call", "web_search_call":
		c.Arguments = arguments(it.get("action")[0])
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

// writtenArguments returns the arguments that stand in a text as JSON.
func writtenArguments(raw []byte) json.RawMessage {
	if pyjson.KindOf(raw) == pyjson.String {
		inside := pyjson.TrimSpace([]byte(pyjson.Text(raw)))
		if pyjson.KindOf(inside) == pyjson.Object && pyjson.Check(inside, pyjson.Tolerant) == nil {
			return inside
		}
	}
	return arguments(raw)
}

func (it codexItem) result(call uint64) (said string, other []string, found bool) {
	if hash(it.callID()) != call {
		return "", nil, false
	}
	if it.kind == "image_generation_call" {
		return notText, []string{"image"}, true
	}
	m := it.get("output", "tools")
	out := m[0]
	if it.kind == "tool_search_output" {
		return string(m[1]), nil, true
	}
	if pyjson.KindOf(out) == pyjson.Object { // older versions
		out = members(out, "content")[0]
	}
	if pyjson.KindOf(out) == pyjson.String {
		return pyjson.Text(out), nil, true
	}
	var texts []string
	for part := range pyjson.Elements(out) {
		m := members(part, "type", "text")
		if kind := text(m[0]); kind != "input_text" && kind != "output_text" && kind != "text" {
			texts, other = append(texts, notText), append(other, kind)
			continue
		}
		texts = append(texts, text(m[1]))
	}
	return strings.Join(texts, "\n"), other, true
}

func (it codexItem) spent() (model string, used usage) {
	switch it.kind {
	case codexSettings:
		model = text(it.get("model")[0])
	case "token_count":
		m := members(members(it.get("info")[0], "last_token_usage")[0], "input_tokens", "cached_input_tokens", "output_tokens")
		in, cached := tokens(m[0]), tokens(m[1])
		used = usage{Input: max(0, in-cached), Output: tokens(m[2]), CacheRead: cached}
	}
	return model, used
}
