package foreign

import (
	"slices"
	"strings"

	"github.com/amplifier-go/sessionstorage/internal/pyjson"
)

// describe returns the record of an item.
func (f *codexFormat) describe(s *scanning, it codexItem) (r record) {
	if !isCodexItem(it.kind) {
		s.unknownKind("item", it.kind)
		return record{flags: isUnknown}
	}
	for m := range pyjson.Members(it.body) {
		if name := pyjson.Text(m.Key); !codexMembers[name] && it.kind != codexAgents {
			s.report.unknown("member", name)
		}
	}
	at := int32(s.t.records.len())
	switch {
	case codexQuiet[it.kind]:
		return r
	case it.kind == "message" && text(it.get("role")[0]) != "assistant":
		r = it.said(text(it.get("role")[0]) == "user")
	case it.kind == "agent_message" || it.kind == codexAgents:
		r = it.said(s.t.thread.spawner != "")
		r.flags &^= isPrompt
	case strings.HasPrefix(it.kind, "compaction") || it.kind == "context_compaction":
		r.flags = isUser | isSummary
	case strings.HasSuffix(it.kind, "_output"):
		r.flags = isUser | hasResults
		s.result(it.callID(), at)
	default:
		r.flags, r.key = isAssistant, f.group
		if it.kind == "reasoning" {
			r.flags |= isThought
		}
		if id := it.callID(); strings.HasSuffix(it.kind, "_call") && id != "" {
			s.call(id, at)
			if it.kind == "image_generation_call" {
				s.result(id, at)
			}
		}
		if it.kind == "web_search_call" || it.kind == "image_generation_call" {
			f.group++ // it was done within the response: what follows knows the result
		}
		return r
	}
	f.group++
	return r
}

// said returns the record of a message that is not the model's. A person may have
// written it.
func (it codexItem) said(person bool) record {
	p := it.user()
	if len(p.said) == 0 && len(p.parts) == 0 {
		return record{flags: isUser}
	}
	said := strings.Join(p.said, "\n")
	if strings.HasPrefix(said, codexSummary) {
		return record{flags: isUser | isSummary}
	}
	if !person || slices.ContainsFunc(p.said, byCodex) {
		return record{flags: isUser, key: hash(said)}
	}
	return record{flags: isUser | isPerson | isPrompt, key: hash(firstOf(said, "image"))}
}

// cwdIn returns the working directory that the tool told the model.
func cwdIn(it codexItem) string {
	for _, s := range it.user().said {
		if !byCodex(s) {
			continue
		}
		if _, rest, found := strings.Cut(s, "<cwd>"); found {
			cwd, _, _ := strings.Cut(rest, "</cwd>")
			return strings.TrimSpace(cwd)
		}
	}
	return ""
}

// isCodexItem reports whether an item is of a known kind.
func isCodexItem(kind string) bool {
	switch kind {
	case "message", "agent_message", "reasoning", "function_call", "function_call_output", "custom_tool_call",
		"custom_tool_call_output", "local_shell_call", "web_search_call", "tool_search_call", "tool_search_output",
		"image_generation_call", "compaction", "compaction_summary", "context_compaction", codexAgents:
		return true
	}
	return codexQuiet[kind]
}
