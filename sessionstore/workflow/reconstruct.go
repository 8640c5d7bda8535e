package workflow

import "slices"

// The roles of messages.
const (
	userRole      = "user"
	assistantRole = "assistant"
	systemRole    = "system"
)

// DefaultMaxPairs is how many pairs of messages a resumed workflow is given.
// At about 1,000 tokens a message and more, they fit a model of 64k tokens.
const DefaultMaxPairs = 25

// ChatMessage is a message for a model.
type ChatMessage struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// ReconstructContext makes the conversation with a model of the records of a
// workflow: of each that is completed and has a user input, that and the
// output, empty when there is none. It keeps the last maxPairs pairs;
// zero and less mean [DefaultMaxPairs].
func ReconstructContext(outputs []PhaseRecord, maxPairs int) []ChatMessage {
	if maxPairs <= 0 {
		maxPairs = DefaultMaxPairs
	}
	messages := pairs(outputs)
	return messages[max(0, len(messages)/2-maxPairs)*2:]
}

// ReconstructContextTokens is [ReconstructContext] that keeps as many whole
// pairs from the end as fit into budget tokens; count returns how many tokens
// a content has. A nil count takes four bytes for a token.
func ReconstructContextTokens(outputs []PhaseRecord, budget int, count func(content string) int) []ChatMessage {
	if count == nil {
		count = func(content string) int { return (len(content) + 3) / 4 }
	}
	messages := pairs(outputs)
	first := len(messages)
	for first > 0 {
		for _, m := range slices.Backward(messages[first-2 : first]) {
			need := count(m.Content)
			if need > budget {
				return messages[first:]
			}
			budget -= need
		}
		first -= 2
	}
	return messages
}

// pairs returns the messages of all records that have them.
func pairs(outputs []PhaseRecord) []ChatMessage {
	messages := []ChatMessage{}
	for _, r := range outputs {
		if r.Status != completed || r.UserInput == nil {
			continue
		}
		output := ""
		if r.Output != nil {
			output = *r.Output
		}
		messages = append(messages, ChatMessage{userRole, *r.UserInput}, ChatMessage{assistantRole, output})
	}
	return messages
}
