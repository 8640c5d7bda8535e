package strict

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const anthropicBlocks = "text image document search_result thinking redacted_thinking tool_use tool_result server_tool_use " +
	"web_search_tool_result web_fetch_tool_result code_execution_tool_result bash_code_execution_tool_result " +
	"text_editor_code_execution_tool_result tool_search_tool_result container_upload mid_conv_system " +
	"advisor_tool_result mcp_tool_use mcp_tool_result compaction fallback"

// block is one block of a message, and where it is.
type block struct {
	at     string // as in messages.1.content.0
	kind   string
	fields object
}

// side is messages of one role that follow each other: the API joins them.
type side struct {
	at     string // of its last message
	role   string
	blocks []block
}

func (j *judge) anthropic(request object) {
	for _, name := range []string{"model", "max_tokens", "messages"} {
		if _, ok := request[name]; !ok {
			j.refuse("anthropic.required", "%s: Field required", name)
		}
	}
	messages := list(request["messages"])
	if _, ok := request["messages"]; ok && len(messages) == 0 {
		j.refuse("anthropic.messages", "messages: at least one message is required")
	}
	j.tooMany(len(messages))
	var sides []side
	for i, m := range messages {
		at := fmt.Sprintf("messages.%d", i)
		role := text(fields(m)["role"])
		if role == "system" {
			j.refuse("anthropic.role", "messages: Unexpected role \"system\". The Messages API accepts a top-level `system` parameter, not \"system\" as an input message role.")
		} else if !oneOf(role, "user assistant") {
			j.refuse("anthropic.role", "%s.role: Input should be 'user' or 'assistant'", at)
		}
		blocks := j.anthropicMessage(at, role, fields(m)["content"])
		if len(sides) > 0 && sides[len(sides)-1].role == role {
			if j.limits.Host == Bedrock {
				j.refuse("anthropic.alternate", "A conversation must alternate between user and assistant roles. Make sure the conversation alternates between user and assistant roles and try again.")
			}
			last := &sides[len(sides)-1]
			last.at, last.blocks = at, append(last.blocks, blocks...)
		} else {
			sides = append(sides, side{at, role, blocks})
		}
	}
	if len(sides) > 0 && sides[0].role == "assistant" && j.limits.Host == Bedrock {
		j.refuse("anthropic.first", "A conversation must start with a user message. Try again with a conversation that starts with a user message.")
	}
	j.anthropicPairs(sides)
	j.anthropicServerTools(sides)
	if len(sides) > 0 {
		j.anthropicEnd(sides, request)
	}
	j.anthropicImages(sides)
	j.anthropicTools(request)
}

// anthropicMessage judges one message alone and returns its blocks.
func (j *judge) anthropicMessage(at, role string, content any) []block {
	parts := list(content)
	if s, ok := content.(string); ok && s != "" {
		parts = []any{object{"type": "text", "text": s}}
	} else if !ok && parts == nil {
		j.refuse("anthropic.content", "%s.content: Input should be a valid list", at)
		return nil
	}
	if len(parts) == 0 && role == "user" {
		j.refuse("anthropic.empty", "%s: user messages must have non-empty content", at)
	}
	var blocks []block
	for i, v := range parts {
		b := block{fmt.Sprintf("%s.content.%d", at, i), text(fields(v)["type"]), fields(v)}
		if !oneOf(b.kind, anthropicBlocks) {
			j.refuse("anthropic.type", "%s: Input tag '%s' found using 'type' does not match any of the expected tags", b.at, b.kind)
			continue
		}
		j.anthropicBlock(at, role, b)
		blocks = append(blocks, b)
	}
	onlyBlank := len(blocks) > 0 && !slices.ContainsFunc(blocks, func(b block) bool {
		return b.kind != "text" || !blank(text(b.fields["text"])) || text(b.fields["text"]) == ""
	})
	if onlyBlank {
		j.refuse("anthropic.blank", "messages: text content blocks must contain non-whitespace text")
	}
	if n := len(blocks); n > 0 && role == "assistant" && oneOf(blocks[n-1].kind, "thinking redacted_thinking") {
		j.refuse("anthropic.thinking.last", "%s: The final block in an assistant message cannot be `thinking`.", at)
	}
	return blocks
}

func (j *judge) anthropicBlock(at, role string, b block) {
	switch f := b.fields; b.kind {
	case "text":
		if s, ok := f["text"].(string); !ok {
			j.refuse("anthropic.text", "%s.text.text: Field required", b.at)
		} else if s == "" {
			j.refuse("anthropic.text.empty", "messages: text content blocks must be non-empty")
		}
	case "thinking":
		if !isText(f["thinking"]) {
			j.refuse("anthropic.thinking.fields", "%s.thinking.thinking: Field required", b.at)
		}
		if !isText(f["signature"]) {
			j.refuse("anthropic.thinking.fields", "%s.thinking.signature: Field required", b.at)
		} else if _, ok := decode(text(f["signature"])); !ok {
			j.refuse("anthropic.thinking.signature", "%s: Invalid `signature` in `thinking` block", b.at)
		}
	case "redacted_thinking":
		if text(f["data"]) == "" {
			j.refuse("anthropic.thinking.fields", "%s.redacted_thinking.data: Field required", b.at)
		}
	case "tool_use":
		if role == "user" {
			j.refuse("anthropic.tool_use.role", "%s: `tool_use` blocks can only be in `assistant` messages", at)
		}
		j.anthropicID(b.at+".tool_use.id", f["id"])
		switch n := utf8.RuneCountInString(text(f["name"])); {
		case n == 0:
			j.refuse("anthropic.tool_use.name", "%s.tool_use.name: String should have at least 1 character", b.at)
		case n > 200:
			j.refuse("anthropic.tool_use.name", "%s.tool_use.name: String should have at most 200 characters", b.at)
		}
		if fields(f["input"]) == nil {
			j.refuse("anthropic.tool_use.input", "%s.tool_use.input: Input should be a valid dictionary", b.at)
		}
	case "tool_result":
		if role == "assistant" {
			j.refuse("anthropic.tool_result.role", "%s: `tool_result` blocks can only be in `user` messages", at)
		}
		j.anthropicID(b.at+".tool_result.tool_use_id", f["tool_use_id"])
		for i, v := range list(f["content"]) {
			if kind := text(fields(v)["type"]); !oneOf(kind, "text image search_result document tool_reference") {
				j.refuse("anthropic.tool_result.type", "%s.tool_result.content.%d: Input tag '%s' found using 'type' does not match any of the expected tags: 'document', 'image', 'search_result', 'text', 'tool_reference'", b.at, i, kind)
			}
		}
	case "document":
		j.anthropicDocument(b)
	}
}

func (j *judge) anthropicID(at string, id any) {
	if !word(text(id), "_-") {
		j.refuse("anthropic.id", "%s: String should match pattern '^[a-zA-Z0-9_-]+$'", at)
	}
}

func (j *judge) anthropicDocument(b block) {
	source := fields(b.fields["source"])
	if text(source["type"]) != "base64" {
		return
	}
	if text(source["media_type"]) != "application/pdf" {
		j.refuse("anthropic.document.type", "%s.pdf.source.base64.media_type: Input should be 'application/pdf'", b.at)
	} else if pdf, _ := decode(text(source["data"])); !bytes.HasPrefix(pdf, []byte("%PDF-")) {
		j.refuse("anthropic.document", "%s.pdf.source.base64.data: The PDF specified was not valid.", b.at)
	}
}

// anthropicPairs judges how calls and results pair.
func (j *judge) anthropicPairs(sides []side) {
	seen := map[string]bool{}
	for i, s := range sides {
		results := map[string]bool{} // ids of the leading results of the next message
		var late []string            // ids of its other results
		if i+1 < len(sides) {
			leading := true
			for _, b := range sides[i+1].blocks {
				leading = leading && b.kind == "tool_result"
				if id := text(b.fields["tool_use_id"]); leading {
					results[id] = true
				} else if b.kind == "tool_result" {
					late = append(late, id)
				}
			}
		}
		calls, rule := map[string]bool{}, "anthropic.result.missing"
		var missing []string
		for _, b := range s.blocks {
			id := text(b.fields["id"])
			if b.kind != "tool_use" || s.role != "assistant" {
				continue
			}
			if seen[id] {
				j.refuse("anthropic.id.unique", "%s: `tool_use` ids must be unique", b.at)
			}
			if seen[id], calls[id] = true, true; !results[id] && !slices.Contains(missing, id) {
				missing = append(missing, id)
				if slices.Contains(late, id) {
					rule = "anthropic.result.first"
				}
			}
		}
		if len(missing) > 0 {
			j.refuse(rule, "%s: `tool_use` ids were found without `tool_result` blocks immediately after: %s. Each `tool_use` block must have a corresponding `tool_result` block in the next message.", s.at, strings.Join(missing, ", "))
		}
		if i+1 < len(sides) && sides[i+1].role == "user" {
			j.anthropicResults(sides[i+1], calls)
		}
	}
	if len(sides) > 0 && sides[0].role == "user" {
		j.anthropicResults(sides[0], nil)
	}
}

// anthropicResults judges the results of a message against the calls before it.
func (j *judge) anthropicResults(s side, calls map[string]bool) {
	had := map[string]bool{}
	for _, b := range s.blocks {
		id := text(b.fields["tool_use_id"])
		switch {
		case b.kind != "tool_result":
		case !calls[id]:
			j.refuse("anthropic.result.unexpected", "%s: unexpected `tool_use_id` found in `tool_result` blocks: %s. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.", b.at, id)
		case had[id]:
			j.refuse("anthropic.result.twice", "%s: each tool_use must have a single result. Found multiple `tool_result` blocks with id: %s", b.at, id)
		}
		if b.kind == "tool_result" {
			had[id] = true
		}
	}
}

// ofServer reports whether a block is a call of a tool that the API runs, or its result.
func ofServer(b block) bool {
	return oneOf(b.kind, "server_tool_use mcp_tool_use") || strings.HasSuffix(b.kind, "_tool_result")
}

// anthropicServerTools judges the calls of the API's own tools: it runs those of the turn that goes
// on, to which results of other tools belong and a prompt does not.
func (j *judge) anthropicServerTools(sides []side) {
	open := map[string]string{}
	for _, s := range sides {
		if s.role == "user" && slices.ContainsFunc(s.blocks, func(b block) bool { return b.kind != "tool_result" }) {
			for _, id := range slices.Sorted(maps.Keys(open)) {
				j.refuse("anthropic.server_tool", "%s: `%s` tool use with id `%s` was found without a corresponding `%s_tool_result` block", s.at, open[id], id, open[id])
			}
			clear(open)
		}
		for _, b := range s.blocks {
			if id := text(b.fields["id"]); id != "" && ofServer(b) {
				open[id] = text(b.fields["name"])
			}
			delete(open, text(b.fields["tool_use_id"]))
		}
	}
}

// anthropicEnd judges what the end of the conversation and its current turn demand.
func (j *judge) anthropicEnd(sides []side, request object) {
	last := sides[len(sides)-1]
	thinking := text(fields(request["thinking"])["type"])
	if last.role == "assistant" {
		if n := len(last.blocks); j.limits.NoPrefill && (n == 0 || !ofServer(last.blocks[n-1])) {
			j.refuse("anthropic.prefill", "This model does not support assistant message prefill. The conversation must end with a user message.")
		}
		if n := len(last.blocks); n > 0 && last.blocks[n-1].kind == "text" {
			if s := text(last.blocks[n-1].fields["text"]); !blank(s) && s != strings.TrimRightFunc(s, unicode.IsSpace) {
				j.refuse("anthropic.end.space", "messages: final assistant content cannot end with trailing whitespace")
			}
		}
		if thinking == "" || thinking == "disabled" {
			for _, b := range last.blocks {
				if b.kind == "thinking" {
					j.refuse("anthropic.end.thinking", "%s: When thinking is disabled, an `assistant` message in the final position cannot contain `thinking`. To use thinking blocks, enable `thinking` in your request.", b.at)
				}
			}
		}
		return
	}
	running := slices.ContainsFunc(last.blocks, func(b block) bool { return b.kind == "tool_result" })
	if thinking != "enabled" || !running || len(sides) < 2 || len(sides[len(sides)-2].blocks) == 0 {
		return
	}
	if b := sides[len(sides)-2].blocks[0]; !oneOf(b.kind, "thinking redacted_thinking") {
		j.refuse("anthropic.thinking.first", "%s.type: Expected `thinking` or `redacted_thinking`, but found `%s`. When `thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost set of `tool_use` and `tool_result` blocks).", b.at, b.kind)
	}
}

// anthropicImages judges the pictures of all messages, also in results.
func (j *judge) anthropicImages(sides []side) {
	var images []block
	for _, s := range sides {
		for _, b := range s.blocks {
			if b.kind == "image" {
				images = append(images, b)
			}
			if b.kind != "tool_result" {
				continue
			}
			for i, v := range list(b.fields["content"]) {
				if text(fields(v)["type"]) == "image" {
					images = append(images, block{fmt.Sprintf("%s.tool_result.content.%d", b.at, i), "image", fields(v)})
				}
			}
		}
	}
	most := 600
	if j.limits.Window200k {
		most = 100
	}
	if len(images) > most {
		j.refuse("anthropic.image.count", "Too many images and documents: %d > %d", len(images), most)
	}
	for _, b := range images {
		j.anthropicImage(b, len(images) > 20)
	}
}

func (j *judge) anthropicImage(b block, many bool) {
	source := fields(b.fields["source"])
	if source == nil {
		j.refuse("anthropic.image.source", "%s.image.source: Field required", b.at)
	}
	if text(source["type"]) != "base64" {
		return
	}
	at := b.at + ".image.source.base64"
	media, data := text(source["media_type"]), text(source["data"])
	if !oneOf(media, "image/jpeg image/png image/gif image/webp") {
		j.refuse("anthropic.image.type", "%s.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'", at)
		return
	}
	mb := 10
	if j.limits.Host != Maker {
		mb = 5
	}
	if len(data) > mb<<20 {
		j.refuse("anthropic.image.size", "%s: image exceeds %d MB maximum: %d bytes > %d bytes", at, mb, len(data), mb<<20)
	}
	raw, ok := decode(data)
	switch p := look(raw); {
	case !ok || p.kind == "":
		j.refuse("anthropic.image", "Could not process image")
	case media != "image/"+p.kind:
		j.refuse("anthropic.image.match", "%s.data: Image does not match the provided media type %s", at, media)
	case max(p.width, p.height) > 8000:
		j.refuse("anthropic.image.pixels", "%s.data: At least one of the image dimensions exceed max allowed size: 8000 pixels", at)
	case many && max(p.width, p.height) > 2000:
		j.refuse("anthropic.image.many", "%s.data: At least one of the image dimensions exceed max allowed size for many-image requests: 2000 pixels", at)
	}
}

func (j *judge) anthropicTools(request object) {
	names := map[string]bool{}
	for i, t := range list(request["tools"]) {
		name := text(fields(t)["name"])
		if kind := text(fields(t)["type"]); (kind == "" || kind == "custom") && (!word(name, "_-") || len(name) > 128) {
			j.refuse("anthropic.tool.name", "tools.%d.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'", i)
		}
		if names[name] {
			j.refuse("anthropic.tool.unique", "tools: Tool names must be unique.")
		}
		names[name] = true
	}
	if n := cached(request); n > 4 {
		j.refuse("anthropic.cache", "A maximum of 4 blocks with cache_control may be provided. Found %d.", n)
	}
}

// cached counts the blocks that are marked for the cache.
func cached(v any) int {
	n := 0
	for _, e := range list(v) {
		n += cached(e)
	}
	for name, e := range fields(v) {
		if name == "cache_control" && e != nil {
			n++
		} else if name != "input" && name != "input_schema" {
			n += cached(e)
		}
	}
	return n
}
