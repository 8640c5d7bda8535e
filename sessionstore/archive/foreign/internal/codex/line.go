package codex

import (
	"strings"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/format/pytime"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/thread"
)

// The kinds of lines of Codex.
const (
	metaKind     = "session_meta"
	itemKind     = "response_item"
	eventKind    = "event_msg"
	settingsKind = "turn_context"
	compactKind  = "compacted"
	agentsKind   = "inter_agent_communication"
	stateKind    = "state" // of lines without a kind, in old files
)

// line is the content of a line of the tool's file. Its slices share the memory of the
// line.
type line struct {
	at       time.Time
	atText   string
	kind     string
	payload  []byte
	bare     bool     // it has no payload: it is one itself
	mark     string   // see thread.ExportMember
	seal     string   // see thread.SealMember
	numbered bool     // it has an ordinal
	unknown  []string // names of members that are not known
}

// parse reads a line. The error has no text of it.
func parse(raw []byte) (line, error) {
	l := line{}
	raw, err := thread.Object(raw)
	if err != nil {
		return l, err
	}
	m := thread.Members(raw, "type", "payload", "timestamp", "record_type")
	l.atText = thread.Text(m[2])
	l.at, _, _ = pytime.Parse(l.atText)
	l.kind, l.payload = thread.Text(m[0]), m[1]
	if l.payload == nil && !kinds[l.kind] {
		l.asBare(raw, m[3])
		return l, nil
	}
	for member := range pyjson.Members(raw) {
		switch name := pyjson.Text(member.Key); name {
		case "ordinal":
			l.numbered = true
		case "type", "payload", "timestamp", "metadata":
		case thread.ExportMember:
			l.mark = thread.Text(member.Value)
		case thread.SealMember:
			l.seal = thread.Text(member.Value)
		default:
			l.unknown = append(l.unknown, name)
		}
	}
	return l, nil
}

// hash returns a hash of the kind and the payload of the line. Its time and its ordinal are
// not part of it: the tool writes them anew.
func (l line) hash() uint64 { return xxh3.HashSeed(l.payload, thread.Hash(l.kind)) }

// says is hash for lines that somebody wrote anew, also with keys in another order.
func (l line) says() uint64 { return max(1, thread.Content(l.payload)+3*thread.Hash(l.kind)) }

// asBare reads a line as versions before September 2025 wrote it: the item alone.
func (l *line) asBare(raw, recordType []byte) {
	l.bare, l.payload = true, raw
	switch {
	case l.kind != "":
		l.kind = itemKind
	case thread.Text(recordType) != "":
		l.kind = stateKind
	case thread.Text(thread.Members(raw, "id")[0]) != "":
		l.kind = metaKind
	}
}

// replacement returns the items that take the place of the conversation before a
// compaction. kept is false where the line has no list of them.
func (l line) replacement() (items []byte, kept bool) {
	items = thread.Members(l.payload, "replacement_history")[0]
	return items, pyjson.KindOf(items) == pyjson.Array
}

// kinds are the kinds of lines.
var kinds = thread.Set(metaKind, itemKind, eventKind, settingsKind, compactKind, agentsKind,
	"inter_agent_communication_metadata", "world_state", "rollout_reference", "token_usage_record")

// items are the kinds of items of the conversation.
var items = thread.Set("message", "agent_message", "reasoning", "function_call", "function_call_output", "custom_tool_call",
	"custom_tool_call_output", "local_shell_call", "web_search_call", "tool_search_call", "tool_search_output",
	"image_generation_call", "compaction", "compaction_summary", "context_compaction", agentsKind)

// quiet are items that are no part of the conversation.
var quiet = thread.Set("ghost_snapshot", "additional_tools", "compaction_trigger", "other")

// events are the kinds of events. All but rollbacks and counts of tokens repeat items, or show
// how the work went.
var events = thread.Set("user_message", "agent_message", "agent_reasoning", "agent_reasoning_raw_content",
	"agent_reasoning_section_break", "token_count", "task_started", "task_complete", "turn_started", "turn_complete",
	"turn_aborted", "thread_rolled_back", "thread_name_updated", "thread_goal_updated", "thread_settings_applied",
	"context_compacted", "entered_review_mode", "exited_review_mode", "patch_apply_begin", "patch_apply_end",
	"mcp_tool_call_begin", "mcp_tool_call_end", "web_search_begin", "web_search_end", "image_generation_end",
	"exec_command_begin", "exec_command_end", "view_image_tool_call", "sub_agent_activity", "collab_agent_spawn_end",
	"collab_agent_interaction_end", "collab_waiting_end", "collab_close_end", "collab_resume_end", "item_started",
	"item_completed", "guardian_assessment", "dynamic_tool_call_request", "dynamic_tool_call_response", "plan_update",
	"turn_diff", "error", "stream_error", "warning", "guardian_warning", "background_event", "undo_started",
	"undo_completed", "hook_started", "hook_completed", "model_reroute", "elicitation_request")

// memberNames are the members of items.
var memberNames = thread.Set("type", "id", "role", "content", "phase", "end_turn", "author", "recipient", "summary",
	"encrypted_content", "call_id", "status", "action", "name", "namespace", "arguments", "execution", "input",
	"output", "tools", "revised_prompt", "result", "metadata", "internal_chat_message_metadata_passthrough",
	"ghost_commit", "timestamp")

// tags are the names of the elements that the tool writes in the user's name.
var tags = thread.Set("environment_context", "user_instructions", "skill", "skills_instructions", "user_shell_command",
	"turn_aborted", "subagent_notification", "hook_prompt", "goal_context", "codex_internal_context", "extension_context",
	"external_context", "application_context", "recommended_plugins", "apps_instructions", "plugins_instructions",
	"agent_message_board_notification", "user_action", "permissions", "collaboration_mode", "multi_agent_mode", "model_switch")

// summaryBegins is how the summary of a compaction begins.
const summaryBegins = "Another language model started to solve this problem"

// isByTool reports whether the tool wrote a text in the user's name.
func isByTool(s string) bool {
	s = strings.TrimSpace(s)
	if strings.HasPrefix(s, "# AGENTS.md instructions") && strings.HasSuffix(s, "</INSTRUCTIONS>") {
		return true
	}
	rest, ok := strings.CutPrefix(s, "<")
	if !ok || !strings.HasSuffix(s, ">") {
		return false
	}
	end := strings.IndexAny(rest, "> \n")
	if end < 0 {
		return false
	}
	tag := rest[:end]
	if !tags[strings.ToLower(tag)] && !strings.HasPrefix(tag, "external_") {
		return false
	}
	closing := s[max(0, len(s)-len(tag)-3):]
	return strings.EqualFold(closing, "</"+tag+">")
}

// filePrefix begins the names of files.
const filePrefix = "rollout-"
