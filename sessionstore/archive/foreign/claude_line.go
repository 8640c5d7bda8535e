package foreign

import (
	"time"

	"github.com/amplifier-go/sessionstorage/internal/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/pytime"
)

// claudeLine is what a line of the tool's file says. Its slices share the memory of the
// line.
type claudeLine struct {
	kind, subtype          string
	uuid, parent, logical  string
	leaf                   string // the record that a title or a prompt is of
	at                     time.Time
	atText                 string
	cwd, title, session    string
	sidechain, meta        bool
	team, summary, shown   bool   // shown: only in the tool's transcript
	human                  bool   // the tool says that a person wrote it
	goesOn                 string // the session in which this one goes on
	mark                   string // see exportMember
	response, request      string // the ids of the response and of its request
	model                  string // of the response
	content, usage, attach []byte
	compact                []byte
	unknown                []string // names of members that are not known
}

// parseClaude reads a line. The error has no text of it.
func parseClaude(raw []byte) (claudeLine, error) {
	l := claudeLine{}
	raw = pyjson.TrimSpace(raw)
	if err := pyjson.Check(raw, pyjson.Tolerant); err != nil {
		return l, err
	}
	if pyjson.KindOf(raw) != pyjson.Object {
		return l, errNoObject
	}
	for m := range pyjson.Members(raw) {
		l.member(pyjson.Text(m.Key), m.Value)
	}
	return l, nil
}

func (l *claudeLine) member(name string, v []byte) {
	switch name {
	case "type":
		l.kind = text(v)
	case "subtype":
		l.subtype = text(v)
	case "uuid":
		l.uuid = text(v)
	case "parentUuid":
		l.parent = text(v)
	case "logicalParentUuid":
		l.logical = text(v)
	case "compactMetadata":
		l.compact = v
	case "isVisibleInTranscriptOnly":
		l.shown = isTrue(v)
	case "timestamp":
		l.atText = text(v)
		if t, _, err := pytime.Parse(text(v)); err == nil {
			l.at = t
		}
	case "sessionId":
		l.session = text(v)
	case "cwd":
		l.cwd = text(v)
	case "summary", "customTitle", "aiTitle":
		l.title = text(v)
	case "leafUuid":
		l.leaf = text(v)
	case "isSidechain":
		l.sidechain = isTrue(v)
	case "isMeta":
		l.meta = isTrue(v)
	case "teamName":
		l.team = text(v) != ""
	case "origin":
		l.human = text(members(v, "kind")[0]) == "human"
	case "requestId":
		l.request = text(v)
	case "continuedInSessionId":
		l.goesOn = text(v)
	case "isCompactSummary":
		l.summary = isTrue(v)
	case "message":
		l.message(v)
	case "attachment":
		l.attach = v
	case exportMember:
		l.mark = text(v)
	default:
		if !claudeMembers[name] {
			l.unknown = append(l.unknown, name)
		}
	}
}

func (l *claudeLine) message(v []byte) {
	if pyjson.KindOf(v) != pyjson.Object {
		return
	}
	f := pyjson.Values(v, "id", "model", "content", "usage")
	l.response, l.model, l.content, l.usage = text(f[0]), text(f[1]), f[2], f[3]
}

// inChain reports whether lines of that kind are linked by parentUuid.
func inChain(kind string) bool {
	switch kind {
	case "user", "assistant", "progress", "system", "attachment":
		return true
	}
	return false
}

// claudeKinds are the kinds of lines beside those of the chain. None of them is
// part of the conversation.
var claudeKinds = set("summary", "file-history-snapshot", "file-history-delta", "attribution-snapshot", "queue-operation",
	"custom-title", "ai-title", "last-prompt", "tag", "mode", "permission-mode", "memory-mode", "cost-state", "pr-link",
	"worktree-state", "agent-name", "agent-color", "agent-setting", "frame-link", "relocated", "bridge-session", "started",
	"launched", "result", "failed", "task-summary", "dev-mods", "fork-context-ref", "observer-ref", "derived-from",
	"continued-in", "resume-head-vouch", "ended-by-model", "session-owner", "host-row", "hybrid-organization",
	"history-suppression", "isolation-latch", "atis-latch", "tools-used", "content-replacement", "data-flow-records",
	"data-flow-incomplete", "artifact-comment-monitor", "artifact-autoreact-ledger", "api-request", "api-request-shape",
	"api-request-blob", "api-request-resumed")

// claudeMembers are members of lines of the user and of the model that no message is made of.
var claudeMembers = set("version", "gitBranch", "userType", "forkedFrom", "toolUseResult", "slug",
	"agentId", "sourceToolAssistantUUID", "sourceToolUseID", "toolUseID", "parentToolUseID",
	"thinkingMetadata", "todos", "permissionMode", "imagePasteIds", "planContent", "isApiErrorMessage", "error",
	"apiError", "apiErrorStatus", "errorDetails", "durationMs", "entrypoint", "promptId", "promptSource",
	"agentName", "effort", "perTurnEffort", "costUSD", "session_id", "originalModel", "fallbackModel", "requestedModel",
	"attributionAgent", "attributionMcpServer", "attributionMcpTool", "attributionPlugin", "attributionSkill",
	"mcpMeta", "interruptedByShutdown", "isAbortedMidStream", "toolDenialKind", "toolEndsTurn", "sessionKind",
	"classifierMetaLines", "ownerAccountUuid", "ownerOrganizationUuid", "apiBlockIndex", "madeBy", "promptCacheRequested",
	"requestRef", "requestSessionId", "rowSource", "sentAtMs", "turnOrigin", "turnPosition")
