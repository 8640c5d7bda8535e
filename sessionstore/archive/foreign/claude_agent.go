package foreign

import (
	"encoding/json"
	"io"
	"path/filepath"
	"strings"
)

// agentPrefix is what the name of a file of a sub-agent begins with.
const agentPrefix = "agent-"

// claudeAgent returns the id and the kind of the sub-agent whose file is at path.
func claudeAgent(path string) (id, name string) {
	id = strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), agentPrefix), historySuffix)
	return id, agentName(path)
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

// agentName returns the kind of sub-agent that the file beside path names.
func agentName(path string) string {
	f, fi, err := openRegular(strings.TrimSuffix(path, historySuffix) + ".meta.json")
	if err != nil {
		return "agent"
	}
	defer f.Close()
	if fi.Size() > maxAgentMetadata {
		return "agent"
	}
	raw, err := io.ReadAll(io.LimitReader(f, maxAgentMetadata))
	meta := struct {
		AgentType string `json:"agentType"`
	}{}
	if err != nil || json.Unmarshal(raw, &meta) != nil || meta.AgentType == "" {
		return "agent"
	}
	return meta.AgentType
}
