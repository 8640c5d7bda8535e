package claude

import (
	"bytes"
	"cmp"
	"encoding/json"
	"iter"
	"slices"
	"strings"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/format/pytime"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/thread"
)

// line is the content of a line of the tool's file. Its slices share the memory of the
// line.
type line struct {
	kind, subtype         string
	uuid, parent, logical string
	leaf                  string // the record that a title or a prompt is of
	thread.Head
	cwd, title, session    string
	sidechain, meta        bool
	team, summary, shown   bool   // shown: only in the tool's transcript
	human                  bool   // the tool says that a person wrote it
	explicit               bool   // a person chose the record that the line names
	goesOn                 string // the session in which this one goes on
	copied                 string // the session that a fork copied the record from
	response, request      string // the ids of the response and of its request
	model                  string // of the response
	content, usage, attach []byte
	compact                []byte
	unknown                []string // names of members that are not known
}

// parse reads a line. The error has no text of it.
func parse(raw []byte) (line, error) {
	l := line{}
	raw, err := thread.Object(raw)
	if err != nil {
		return l, err
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
		l.uuid = thread.ID(thread.Text(v))
	case "parentUuid":
		l.parent = thread.ID(thread.Text(v))
	case "logicalParentUuid":
		l.logical = thread.ID(thread.Text(v))
	case "compactMetadata":
		l.compact = v
	case "isVisibleInTranscriptOnly":
		l.shown = thread.IsTrue(v)
	case "timestamp":
		l.AtText = thread.Text(v)
		l.At, _, _ = pytime.Parse(l.AtText)
	case "sessionId":
		l.session = thread.ID(thread.Text(v))
	case "cwd":
		l.cwd = thread.Text(v)
	case "summary", "customTitle", "aiTitle":
		l.title = thread.Text(v)
	case "leafUuid":
		l.leaf = thread.ID(thread.Text(v))
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
	case "forkedFrom":
		l.copied = thread.ID(thread.Text(thread.Members(v, "sessionId")[0]))
	case "requestSessionId":
		l.copied = cmp.Or(l.copied, thread.ID(thread.Text(v)))
	case "continuedInSessionId":
		l.goesOn = thread.ID(thread.Text(v))
	case "isCompactSummary":
		l.summary = thread.IsTrue(v)
	case "message":
		if pyjson.KindOf(v) == pyjson.Object {
			f := pyjson.Values(v, "id", "model", "content", "usage")
			l.response, l.model, l.content, l.usage = thread.Text(f[0]), thread.Text(f[1]), f[2], f[3]
		}
	case "attachment":
		l.attach = v
	case thread.ExportMember:
		l.Mark = thread.Text(v)
	case thread.SealMember:
		l.Seal = thread.Text(v)
	default:
		if !memberNames[name] {
			l.unknown = append(l.unknown, name)
		}
	}
}

// tokenNames are the names of the numbers of tokens.
var tokenNames = thread.TokenNames{"input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"}

// synthetic is the model of answers that the tool itself wrote.
const synthetic = "<synthetic>"

// inChain are the kinds of lines that are linked by parentUuid.
var inChain = thread.Set("user", "assistant", "progress", "system", "attachment")

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
var memberNames = thread.Set("version", "gitBranch", "userType", "toolUseResult", "slug", "permissionDecision", "toolInputStreamMs", "queueSkipAttachments",
	"agentId", "sourceToolAssistantUUID", "sourceToolUseID", "toolUseID", "parentToolUseID",
	"thinkingMetadata", "todos", "permissionMode", "imagePasteIds", "planContent", "isApiErrorMessage", "error",
	"apiError", "apiErrorStatus", "errorDetails", "durationMs", "entrypoint", "promptId", "promptSource",
	"agentName", "effort", "perTurnEffort", "costUSD", "session_id", "originalModel", "fallbackModel", "requestedModel",
	"attributionAgent", "attributionMcpServer", "attributionMcpTool", "attributionPlugin", "attributionSkill",
	"mcpMeta", "interruptedByShutdown", "isAbortedMidStream", "toolDenialKind", "toolEndsTurn", "sessionKind",
	"classifierMetaLines", "ownerAccountUuid", "ownerOrganizationUuid", "apiBlockIndex", "madeBy", "promptCacheRequested",
	"requestRef", "rowSource", "sentAtMs", "turnOrigin", "turnPosition")

func (l line) ID() string { return l.uuid }

func (l line) Spent() (model string, used thread.Usage) {
	if l.model != synthetic {
		model = l.model
	}
	used.Read(l.usage, &tokenNames)
	return model, used
}

// block is a part of a content.
type block struct {
	kind, text string
	raw        []byte
}

// blocksOf yields the parts of a content. A text alone is one of them.
func blocksOf(content []byte) iter.Seq[block] {
	return func(yield func(block) bool) {
		if pyjson.KindOf(content) == pyjson.String {
			yield(block{"text", pyjson.Text(content), nil})
			return
		}
		for raw := range pyjson.Elements(content) {
			if m := thread.Members(raw, "type", "text"); !yield(block{thread.Text(m[0]), thread.Text(m[1]), raw}) {
				return
			}
		}
	}
}

func (l line) Answer() (p thread.AnswerParts) {
	for b := range blocksOf(l.content) {
		switch b.kind {
		case "text":
			p.Said.Say(b.text)
		case "thinking":
			p.Thought.Say(thread.Text(thread.Members(b.raw, "thinking")[0]))
		case "tool_use":
			m := thread.Members(b.raw, "id", "name", "input")
			p.Call(m[0], m[1], m[2])
		default:
			p.Other = append(p.Other, b.kind)
		}
	}
	return p
}

func (l line) User() (p thread.UserParts) {
	for b := range blocksOf(l.content) {
		switch b.kind {
		case "text":
			p.Said.Say(b.text)
		case "image", "document":
			p.Show(json.RawMessage(bytes.Clone(b.raw)))
		case "tool_result":
		default:
			p.Other = append(p.Other, b.kind)
		}
	}
	if l.attach != nil {
		p.Said.Say(l.queuedText())
	}
	return p
}

// texts returns the texts of the content.
func (l line) texts() (all []string) {
	for b := range blocksOf(l.content) {
		if b.kind == "text" {
			all = append(all, b.text)
		}
	}
	return all
}

// Prompt returns the text of a line, its blocks joined by a newline.
func (l line) Prompt() string { return strings.Join(l.texts(), "\n") }

// isTyped reports whether a person typed one of the texts. human says that the tool names a person.
// Newer versions of the tool mark such texts; otherwise texts of the tool begin with a tag or
// name an unknown command. Text that an editor adds is in a block of its own before the text
// that was typed.
func isTyped(texts []string, human bool) bool {
	return slices.ContainsFunc(texts, func(s string) bool {
		return strings.TrimSpace(s) != "" && (human || !thread.ByTool.MatchString(s) && !thread.UnknownCommand.MatchString(s))
	})
}

// queued returns the prompt that an attachment holds, which was typed while the
// model worked, "" where it holds none. The tool queues its own notes as well.
func (l line) queued() string {
	m := thread.Members(l.attach, "commandMode", "isMeta", "prompt")
	mode := thread.Text(m[0])
	if mode != "" && mode != "prompt" || thread.IsTrue(m[1]) || !isTyped(line{content: m[2]}.texts(), false) {
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

func (l line) Result(call uint64, early bool) (p thread.UserParts, found bool) {
	for b := range blocksOf(l.content) {
		m := thread.Members(b.raw, "tool_use_id", "content")
		if b.kind != "tool_result" || thread.Hash(thread.Text(m[0])) != call {
			continue
		}
		for part := range blocksOf(m[1]) {
			switch {
			case part.kind == "text":
				p.Said = append(p.Said, part.text)
			case part.kind == "image" && !early:
				p.Show(part.raw)
			default:
				p.Leave(part.kind)
			}
		}
		return p, true
	}
	return p, false
}
