package copilot

import (
	"cmp"
	"iter"
	"regexp"
	"strings"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/thread"
)

// The kinds of events that the code below names.
const (
	startKind   = "session.start"
	promptKind  = "user.message"
	answerKind  = "assistant.message"
	resultKind  = "tool.execution_complete"
	shellKind   = "tool.user_requested"
	pictureKind = "session.binary_asset"
	compactKind = "session.compaction_complete"
	clearKind   = "session.context_cleared"
	usageKind   = "session.usage_record"
	handoffKind = "session.handoff"
)

// kinds are the kinds of events in a file. The tool has others, which it only shows.
var kinds = func() map[string]thread.Flags {
	all := map[string]thread.Flags{
		promptKind:  thread.IsUser,
		answerKind:  thread.IsAssistant,
		resultKind:  thread.IsUser | thread.HasResults,
		compactKind: thread.IsUser | thread.IsSummary | thread.IsBoundary,
		clearKind:   thread.IsUser | thread.IsSummary | thread.IsBoundary,

		// The tool sends their texts in the name of the user.
		"system.notification": thread.IsUser, handoffKind: thread.IsUser,

		startKind: thread.IsLink | thread.IsNote, "session.resume": thread.IsLink | thread.IsNote,
		"session.model_change": thread.IsLink | thread.IsNote, usageKind: thread.IsLink | thread.IsNote,
	}
	for _, silent := range strings.Fields(`
		abort assistant.fusion_phase_completed assistant.fusion_phase_failed assistant.reasoning assistant.turn_end assistant.turn_start
		external_tool.completed external_tool.requested hook.end hook.start mcp_app.tool_call_complete model.message model.messages_snapshot
		model.model_call_failure model.model_call_started model.model_call_success model.response model.turn_ended model.turn_started
		permission.assentDetected permission.carriedForward permission.completed permission.contextualAuthorization permission.messageAuthorization
		permission.messageAuthorizationDegraded permission.messageAuthorizationRead permission.requested session.auto_mode_resolved
		session.autopilot_objective_changed session.binary_asset session.canvas.recorded session.canvas.removed session.compaction_start
		session.completion_receipt session.context_changed session.error session.fusion_completed session.fusion_resolved session.fusion_route_failed
		session.info session.mode_changed session.mode_notice_delivered session.permissions_changed session.plan_changed session.remote_steerable_changed
		session.schedule_cancelled session.schedule_created session.schedule_rearmed session.session_limits_changed session.shutdown session.task_complete
		session.truncation session.usage_checkpoint session.warning session.workspace_file_changed skill.invoked subagent.completed subagent.configured
		subagent.deselected subagent.failed subagent.selected subagent.started system.message tool.execution_start tool.user_requested tool_search.activated`) {
		all[silent] = thread.IsLink
	}
	return all
}()

// forkedFrom finds the id of the origin in the note at which a fork begins.
var forkedFrom = regexp.MustCompile(`(?s)^Forked from .*?\(([0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12})\)`)

// tokenNames are the names of the numbers of tokens. The input is with what was cached.
var tokenNames = thread.TokenNames{"inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens"}

// line is an event. Its slices share the memory of the line.
type line struct {
	thread.Head
	kind, id, agent string // agent is "" in the main conversation
	data            []byte

	// other returns members of the data of the event of that kind about a picture or a call.
	other func(kind, id string, names ...string) [4][]byte
}

// parse reads a line. The error has no text of it.
func parse(raw []byte) (line, error) {
	raw, err := thread.Object(raw)
	if err != nil {
		return line{}, err
	}
	m := thread.Members(raw, "type", "id", "agentId", "data")
	return line{Head: thread.HeadOf(raw), kind: thread.Text(m[0]), id: thread.Text(m[1]), agent: thread.Text(m[2]), data: m[3]}, nil
}

// get returns a member of the data as a text.
func (l line) get(name string) string { return thread.Text(thread.Members(l.data, name)[0]) }

// dir returns the working directory that the event names.
func (l line) dir() string {
	return thread.Text(thread.Members(thread.Members(l.data, "context")[0], "cwd")[0])
}

// flags returns what an event is in its conversation. A prompt of a sub-agent is its task.
func (l line) flags() thread.Flags {
	f := kinds[l.kind]
	m := thread.Members(l.data, "source", "isAutopilotContinuation", "success", "isUserRequested")
	source := thread.Text(m[0])
	switch {
	case l.kind == promptKind && !thread.IsTrue(m[1]) && (source == "" || source == "user" || l.agent != "" && strings.HasPrefix(source, "agent-")):
		f |= thread.IsPerson | thread.IsPrompt
	case l.kind == resultKind && thread.IsTrue(m[3]): // a command that a person gave to the shell
		f = thread.IsUser
	case l.kind == compactKind && (!thread.IsTrue(m[2]) || l.get("summaryContent") == ""): // it failed
		f = thread.IsLink
	}
	if f&thread.IsBoundary != 0 && l.agent != "" { // a sub-agent goes on in the same session
		f = thread.IsLink
	}
	return f
}

// says returns a hash of the id, the kind and the content of an event.
func (l line) says() uint64 {
	sum := thread.Hash(l.id + " " + l.kind + " " + l.get("toolCallId"))
	for i, name := range []string{"content", "transformedContent", "attachments", "toolRequests", "result", "error", "summaryContent", "initialMessage", "context"} {
		if kinds[l.kind]&thread.IsLink == 0 {
			sum += uint64(2*i+3) * thread.Content(thread.Members(l.data, name)[0])
		}
	}
	return sum
}

// used returns the usage that the event has, and the model.
func (l line) used() (raw []byte, model string) {
	name := map[string]string{usageKind: "usage", compactKind: "compactionTokensUsed"}[l.kind]
	raw = thread.Members(l.data, name)[0]
	return raw, thread.Text(thread.Members(raw, "model")[0])
}

func (l line) ID() string { return l.id }

func (l line) Spent() (model string, used thread.Usage) {
	raw, model := l.used()
	used.Read(raw, &tokenNames)
	used.Input = max(0, used.Input-used.CacheRead-used.CacheWrite)
	return cmp.Or(model, l.get("model"), l.get("newModel"), l.get("selectedModel")), used
}

// textsOf are the members of events that are texts of the tool.
var textsOf = map[string]string{compactKind: "summaryContent", clearKind: "initialMessage", handoffKind: "context"}

func (l line) User() (p thread.UserParts) {
	m := thread.Members(l.data, "content", "attachments", "isUserRequested")
	switch {
	case l.kind == resultKind && thread.IsTrue(m[2]):
		arguments := l.other(shellKind, l.get("toolCallId"), "arguments")[0]
		said, _ := l.output()
		p.Ran(thread.Text(thread.Members(arguments, "command")[0]), said)
	case textsOf[l.kind] != "":
		p.Said.Say(l.get(textsOf[l.kind]))
	case l.kind != resultKind:
		l.content(&p, thread.Text(m[0]), m[1])
	}
	return p
}

// content adds a content, and the pictures in a list of attachments or of parts of a result: each where an
// export says that it is in the content, else behind it. A picture may be in an event of its own.
func (l line) content(p *thread.UserParts, said string, pictures []byte) {
	places, begin := thread.Members(l.data, picturesAt)[0], 0
	say := func(end int) {
		text := said[begin:end]
		if places != nil {
			text = strings.TrimPrefix(text, "\n\n")
		}
		p.Said.Say(text)
		begin = end
	}
	next, stop := iter.Pull(pyjson.Elements(places))
	defer stop()
	for b := range pyjson.Elements(pictures) {
		end := len(said)
		if places != nil {
			raw, _ := next()
			at, ok := pyjson.Int(raw)
			if end = begin; ok && int64(begin) <= at && at <= int64(len(said)) {
				end = int(at)
			}
		}
		say(end)
		m := thread.Members(b, "type", "assetId", "data", "mimeType")
		if id := thread.Text(m[1]); id != "" {
			of := l.other(pictureKind, id, "data", "mimeType")
			m[2], m[3] = of[0], of[1]
		}
		p.Picture(thread.Text(m[3]), thread.Text(m[2]), thread.Text(m[0]))
	}
	say(len(said))
}

func (l line) Prompt() string { return l.get("content") }

func (l line) Answer() (p thread.AnswerParts) {
	m := thread.Members(l.data, "content", "reasoningText", "toolRequests")
	p.Said.Say(thread.Text(m[0]))
	p.Thought.Say(thread.Text(m[1]))
	for b := range pyjson.Elements(m[2]) {
		m := thread.Members(b, "toolCallId", "name", "arguments")
		p.Call(m[0], m[1], m[2])
	}
	return p
}

// output returns the text of a result, and its parts that are no text.
func (l line) output() (said string, parts []byte) {
	m := thread.Members(l.data, "result", "error")
	r := thread.Members(m[0], "content", "binaryResultsForLlm")
	if pyjson.KindOf(m[0]) != pyjson.Object {
		return thread.Text(thread.Members(m[1], "message")[0]), nil
	}
	return thread.Text(r[0]), r[1]
}

func (l line) Result(call uint64, _ bool) (p thread.UserParts, found bool) {
	said, parts := l.output()
	if l.content(&p, said, parts); len(p.Parts) == 0 {
		p.Said = thread.Texts{said}
	}
	return p, l.kind == resultKind && thread.Hash(l.get("toolCallId")) == call
}
