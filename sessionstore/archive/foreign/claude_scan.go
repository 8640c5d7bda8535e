package foreign

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"github.com/amplifier-go/sessionstorage/internal/pyjson"
)

// claudeFormat is how Claude Code writes.
type claudeFormat struct{}

func (claudeFormat) scan(s *scanning, raw []byte) error {
	l, err := parseClaude(raw)
	if err != nil {
		return err
	}
	r, parent := record{}, uint64(0)
	s.noteClaude(l)
	if inChain(l.kind) && l.uuid != "" {
		r.uuid, parent = hash(l.uuid), hash(l.parent)
	}
	r.key, r.flags = s.describeClaude(l, int32(len(s.t.records)))
	if r.uuid == 0 {
		r.flags &= isUnknown | isSidechain // nothing can follow it, and it follows nothing
	}
	s.add(r, parent)
	return nil
}

func (claudeFormat) finish(s *scanning) { s.t.link(s.parents) }

func (claudeFormat) part(raw []byte, _ int64, _ int) (part, error) { return parseClaude(raw) }

func (claudeFormat) agent(path string, _ *table) (id, name string) {
	id = strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), agentPrefix), historySuffix)
	return id, agentName(path)
}

// maxAgentMetadata is the largest file that tells of a sub-agent.
const maxAgentMetadata = 1 << 20

// agentName returns the kind of sub-agent that the file beside path names.
func agentName(path string) string {
	beside := strings.TrimSuffix(path, historySuffix) + ".meta.json"
	if fi, err := os.Stat(beside); err != nil || fi.Size() > maxAgentMetadata {
		return "agent"
	}
	raw, err := os.ReadFile(beside)
	meta := struct {
		AgentType string `json:"agentType"`
	}{}
	if err != nil || json.Unmarshal(raw, &meta) != nil || meta.AgentType == "" {
		return "agent"
	}
	return meta.AgentType
}

// noteClaude keeps what a line says about the session.
func (s *scanning) noteClaude(l claudeLine) {
	if s.t.first.IsZero() {
		s.t.first = l.at
	}
	s.cwd(l.cwd)
	person := l.kind == "custom-title"
	if l.title != "" && (person || !s.t.byPerson) {
		s.t.title, s.t.byPerson = l.title, person
	}
	for _, name := range l.unknown {
		s.report.unknown("member", name)
	}
}

// describeClaude returns the key and the flags of a line.
func (s *scanning) describeClaude(l claudeLine, at int32) (key uint64, f flags) {
	if l.sidechain {
		f |= isSidechain
	}
	if l.team || l.meta {
		f |= isSide
	}
	switch l.kind {
	case "user":
		return s.userClaude(l, f|isUser, at)
	case "assistant":
		for block := range pyjson.Elements(l.content) {
			if m := pyjson.Values(block, "type", "id"); text(m[0]) == "tool_use" && l.uuid != "" {
				s.calls = append(s.calls, hash(text(m[1])))
			}
		}
		if l.response == "" {
			return hash("uuid " + l.uuid), f | isAssistant
		}
		return hash("id " + l.response), f | isAssistant
	case "attachment":
		if m := pyjson.Values(l.attach, "type", "prompt"); text(m[0]) == "queued_command" && text(m[1]) != "" {
			f |= isQueued
		}
		return 0, f | isLink
	case "system", "progress":
		return 0, f | isLink
	}
	if !claudeKinds[l.kind] {
		s.report.unknown("kind", l.kind)
		return 0, f | isUnknown
	}
	return 0, f
}

func (s *scanning) userClaude(l claudeLine, f flags, at int32) (uint64, flags) {
	said := ""
	person := !l.meta && !l.summary
	if pyjson.KindOf(l.content) == pyjson.String {
		said = pyjson.Text(l.content)
	}
	for block := range pyjson.Elements(l.content) {
		m := pyjson.Values(block, "type", "text", "tool_use_id")
		switch text(m[0]) {
		case "tool_result":
			f |= hasResults
			if l.uuid != "" {
				s.result(text(m[2]), at)
			}
		case "text":
			if said == "" || byTool(text(m[1])) {
				said = text(m[1])
			}
		case "image", "document":
			if said == "" {
				said = "image"
			}
		}
	}
	if f&hasResults != 0 || strings.TrimSpace(said) == "" || byTool(said) {
		person = false
	}
	if person {
		f |= isPerson
		if !isCommand(said) {
			f |= isPrompt
		}
	}
	return hash(said), f
}
