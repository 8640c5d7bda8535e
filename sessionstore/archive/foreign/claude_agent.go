package foreign

import (
	"io"
	"path/filepath"
	"strings"

	"github.com/amplifier-go/sessionstorage/internal/pyjson"
)

// agentPrefix is what the name of a file of a sub-agent begins with.
const agentPrefix = "agent-"

// claudeAgent returns the id of the sub-agent whose file is at path, and its kind and its
// task as the file beside it tells.
func claudeAgent(path string) (id, name, task string) {
	id = strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), agentPrefix), historySuffix)
	name, task = agentMetadata(path)
	return id, firstOf(name, "agent"), task
}

// repeatsConversation reports whether a file of an agent is not of a sub-agent: the
// tool lets a copy of the conversation do such work, and writes that copy again.
func repeatsConversation(path string) bool {
	name := filepath.Base(path)
	return strings.HasPrefix(name, agentPrefix+"acompact-") || strings.HasPrefix(name, agentPrefix+"aside_question-")
}

// sideQuestion is the name of the sub-session of a question that a person asked beside
// the conversation.
const sideQuestion = "side question"

// isSideQuestion reports whether a file of an agent holds such a question.
func isSideQuestion(path string) bool {
	return strings.HasPrefix(filepath.Base(path), agentPrefix+"aside_question-")
}

// maxAgentMetadata is the largest file that tells of a sub-agent.
const maxAgentMetadata = 1 << 20

// agentMetadata returns what the file beside path tells of a sub-agent.
func agentMetadata(path string) (kind, task string) {
	f, fi, err := openRegular(strings.TrimSuffix(path, historySuffix) + ".meta.json")
	if err != nil {
		return "", ""
	}
	defer f.Close()
	if fi.Size() > maxAgentMetadata {
		return "", ""
	}
	raw, err := io.ReadAll(io.LimitReader(f, maxAgentMetadata))
	raw = pyjson.TrimSpace(raw)
	if err != nil || pyjson.Check(raw, pyjson.Tolerant) != nil {
		return "", ""
	}
	m := members(raw, "agentType", "description")
	return text(m[0]), text(m[1])
}
