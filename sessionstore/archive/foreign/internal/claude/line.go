package claude

import (
	"bytes"
	"encoding/json"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/format/pytime"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/thread"
)

// line is the content of a line of the tool's file. Its slices share the memory of the
// line.
type line struct {
	kind, subtype          string
	uuid, parent, logical  string
	leaf                   string // the record that a title or a prompt is of
	at                     time.Time
	atText                 string
	cwd, title, session    string
	sidechain, meta        bool
	team, summary, shown   bool   // shown: only in the tool's transcript
	human                  bool   // the tool says that a person wrote it
	explicit               bool   // a person chose the record that the line names
	goesOn                 string // the session in which this one goes on
	mark                   string // see thread.ExportMember
	response, request      string // the ids of the response and of its request
	model                  string // of the response
	content, usage, attach []byte
	compact                []byte
	unknown                []string // names of members that are not known
}

// parse reads a line. The error has no text of it.
func parse(raw []byte) (line, error) {
	l := line{}
	raw = pyjson.TrimSpace(raw)
	if err := pyjson.Check(raw, pyjson.Tolerant); err != nil {
		return l, err
	}
	if pyjson.KindOf(raw) != pyjson.Object {
		return l, thread.ErrNoObject
	}
	for m := range pyjson.Members(raw) {
		l.member(pyjson.Text(m.Key), m.Value)
	}
	return l, nil
}

func (l *line) member(name string, v []byte) {
	switch name {
	case "type":
		l.kind = thread.Text(v)
	case "subtype":
		l.subtype = thread.Text(v)
	case "uuid":
		l.uuid = thread.Text(v)
	case "parentUuid":
		l.parent = thread.Text(v)
	case "logicalParentUuid":
		l.logical = thread.Text(v)
	case "compactMetadata":
		l.compact = v
	case "isVisibleInTranscriptOnly":
		l.shown = thread.IsTrue(v)
	case "timestamp":
		l.atText = thread.Text(v)
		if t, _, err := pytime.Parse(thread.Text(v)); err == nil {
			l.at = t
		}
	case "sessionId":
		l.session = thread.Text(v)
	case "cwd":
		l.cwd = thread.Text(v)
	case "summary", "customTitle", "aiTitle":
		l.title = thread.Text(v)
	case "leafUuid":
		l.leaf = thread.Text(v)
	case "isSidechain":
		l.sidechain = thread.IsTrue(v)
	case "explicit":
		l.explicit = thread.IsTrue(v)
	case "isMeta":
		l.meta = thread.IsTrue(v)
	case "teamName":
		l.team = thread.Text(v) != ""
	case "origin":
		l.human = thread.Text(thread.Members(v, "kind")[0]) == "human"
	case "requestId":
		l.request = thread.Text(v)
	case "continuedInSessionId":
		l.goesOn = thread.Text(v)
	case "isCompactSummary":
		l.summary = thread.IsTrue(v)
	case "message":
		l.message(v)
	case "attachment":
		l.attach = v
	case thread.ExportMember:
		l.mark = thread.Text(v)
	default:
		if !memberNames[name] {
			l.unknown = append(l.unknown, name)
		}
	}
}

func (l *line) message(v []byte) {
	if pyjson.KindOf(v) != pyjson.Object {
		return
	}
	f := pyjson.Values(v, "id", "model", "content", "usage")
	l.response, l.model, l.content, l.usage = thread.Text(f[0]), thread.Text(f[1]), f[2], f[3]
}

// synthetic is the model of answers that the tool itself wrote.
const synthetic = "<synthetic>"

// isFiller reports whether the tool wrote an answer behind a prompt that got none, when a
// person went on. It shows no such answer.
func (l line) isFiller() bool {
	return l.kind == "assistant" && l.model == synthetic && l.Prompt() == "No response requested."
}

// inChain reports whether lines of that kind are linked by parentUuid.
func inChain(kind string) bool {
	switch kind {
	case "user", "assistant", "progress", "system", "attachment":
		return true
	}
	return false
}

// kinds are the kinds of lines besides the linked kinds of inChain. None of them is part of
// the conversation.
var kinds = thread.Set("summary", "file-history-snapshot", "file-history-delta", "attribution-snapshot", "queue-operation",
	"custom-title", "ai-title", "last-prompt", "tag", "mode", "permission-mode", "memory-mode", "cost-state", "pr-link",
	"worktree-state", "agent-name", "agent-color", "agent-setting", "frame-link", "relocated", "bridge-session", "started",
	"launched", "result", "failed", "task-summary", "dev-mods", "fork-context-ref", "observer-ref", "derived-from",
	"continued-in", "resume-head-vouch", "ended-by-model", "session-owner", "host-row", "hybrid-organization",
	"history-suppression", "isolation-latch", "atis-latch", "tools-used", "content-replacement", "data-flow-records",
	"data-flow-incomplete", "artifact-comment-monitor", "artifact-autoreact-ledger", "api-request", "api-request-shape",
	"api-request-blob", "api-request-resumed")

// memberNames are members of lines of the user and of the model that no message is made of.
var memberNames = thread.Set("version", "gitBranch", "userType", "forkedFrom", "toolUseResult", "slug", "permissionDecision", "toolInputStreamMs", "queueSkipAttachments",
	"agentId", "sourceToolAssistantUUID", "sourceToolUseID", "toolUseID", "parentToolUseID",
	"thinkingMetadata", "todos", "permissionMode", "imagePasteIds", "planContent", "isApiErrorMessage", "error",
	"apiError", "apiErrorStatus", "errorDetails", "durationMs", "entrypoint", "promptId", "promptSource",
	"agentName", "effort", "perTurnEffort", "costUSD", "session_id", "originalModel", "fallbackModel", "requestedModel",
	"attributionAgent", "attributionMcpServer", "attributionMcpTool", "attributionPlugin", "attributionSkill",
	"mcpMeta", "interruptedByShutdown", "isAbortedMidStream", "toolDenialKind", "toolEndsTurn", "sessionKind",
	"classifierMetaLines", "ownerAccountUuid", "ownerOrganizationUuid", "apiBlockIndex", "madeBy", "promptCacheRequested",
	"requestRef", "requestSessionId", "rowSource", "sentAtMs", "turnOrigin", "turnPosition")

func (l line) ID() string                { return l.uuid }
func (l line) Time() (time.Time, string) { return l.at, l.atText }

func (l line) Spent() (model string, used thread.Usage) {
	if l.model != synthetic {
		model = l.model
	}
	used.Read(l.usage)
	return model, used
}

func (l line) Answer() (p thread.AnswerParts) {
	if pyjson.KindOf(l.content) == pyjson.String {
		p.Said.Say(pyjson.Text(l.content))
		return p
	}
	for block := range pyjson.Elements(l.content) {
		m := pyjson.Values(block, "type", "text", "thinking", "input")
		switch kind := thread.Text(m[0]); kind {
		case "text":
			p.Said.Say(thread.Text(m[1]))
		case "thinking":
			p.Thought.Say(thread.Text(m[2]))
		case "tool_use":
			n := pyjson.Values(block, "id", "name")
			p.Calls = append(p.Calls, sessionstore.ToolCall{ID: thread.Text(n[0]), Name: thread.Text(n[1]), Arguments: thread.Arguments(m[3])})
		default:
			p.Other = append(p.Other, kind)
		}
	}
	return p
}

func (l line) User() (p thread.UserParts) {
	if pyjson.KindOf(l.content) == pyjson.String {
		p.Said.Say(pyjson.Text(l.content))
		return p
	}
	for block := range pyjson.Elements(l.content) {
		m := pyjson.Values(block, "type", "text")
		switch kind := thread.Text(m[0]); kind {
		case "text":
			p.Said.Say(thread.Text(m[1]))
		case "image", "document":
			p.Show(json.RawMessage(bytes.Clone(block)))
		case "tool_result":
		default:
			p.Other = append(p.Other, kind)
		}
	}
	p.Said.Say(l.queuedText())
	return p
}

// texts yields the texts of the content.
func (l line) texts() iter.Seq[string] {
	return func(yield func(string) bool) {
		if pyjson.KindOf(l.content) == pyjson.String {
			yield(pyjson.Text(l.content))
			return
		}
		for block := range pyjson.Elements(l.content) {
			if m := thread.Members(block, "type", "text"); thread.Text(m[0]) == "text" && !yield(thread.Text(m[1])) {
				return
			}
		}
	}
}

// Prompt returns the text of a line, its blocks joined by a newline.
func (l line) Prompt() string { return strings.Join(slices.Collect(l.texts()), "\n") }

// typed reports whether a person typed one of the texts. Newer versions of the tool mark
// such texts; otherwise texts of the tool begin with a tag or name an unknown command. Text
// that an editor adds is in a block of its own before the text that was typed.
func (l line) typed() bool {
	for s := range l.texts() {
		if strings.TrimSpace(s) != "" && (l.human || !thread.ByTool.MatchString(s) && !thread.UnknownCommand.MatchString(s)) {
			return true
		}
	}
	return false
}

// queued returns the prompt that an attachment holds, which was typed while the
// model worked, "" where it holds none. The tool queues its own notes as well.
func (l line) queued() string {
	m := thread.Members(l.attach, "commandMode", "isMeta", "prompt")
	mode := thread.Text(m[0])
	if mode != "" && mode != "prompt" || thread.IsTrue(m[1]) || !(line{content: m[2]}).typed() {
		return ""
	}
	return l.queuedText()
}

// queuedText returns the text of a queued attachment, also when the tool queued it; "" for
// other attachments.
func (l line) queuedText() string {
	m := thread.Members(l.attach, "type", "prompt")
	if thread.Text(m[0]) != "queued_command" {
		return ""
	}
	return line{content: m[1]}.Prompt()
}

func (l line) Result(call uint64) (said string, other []string, found bool) {
	for block := range pyjson.Elements(l.content) {
		m := pyjson.Values(block, "type", "tool_use_id", "content")
		if thread.Text(m[0]) != "tool_result" || thread.Hash(thread.Text(m[1])) != call {
			continue
		}
		if pyjson.KindOf(m[2]) == pyjson.String {
			return pyjson.Text(m[2]), nil, true
		}
		var said []string
		for part := range pyjson.Elements(m[2]) {
			n := pyjson.Values(part, "type", "text")
			if thread.Text(n[0]) == "text" {
				said = append(said, thread.Text(n[1]))
				continue
			}
			said, other = append(said, thread.NotText), append(other, thread.Text(n[0]))
		}
		return strings.Join(said, "\n"), other, true
	}
	return "", nil, false
}
