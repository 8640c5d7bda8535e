package langchaingo

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/tmc/langchaingo/llms"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// ErrFunction is returned for the deprecated function calls: use tool calls, which have
// ids.
var ErrFunction = errors.New("function calls without an id cannot be resumed, use tool calls")

// row is a line of a transcript, with its members in the order in which the
// reference writes them.
type row struct {
	Role       string     `json:"role"`
	Content    string     `json:"content"`
	Reasoning  string     `json:"reasoning_content,omitempty"`
	ToolCalls  []toolCall `json:"tool_calls,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
	Name       string     `json:"name,omitempty"`
	Metadata   struct {
		Timestamp string `json:"timestamp"`
	} `json:"metadata"`
}

// toolCall is the reference's form; llms.ToolCall encodes itself in another.
type toolCall struct {
	ID       string            `json:"id"`
	Type     string            `json:"type"`
	Function llms.FunctionCall `json:"function"`
}

// toRow returns the line for a message.
func toRow(message llms.ChatMessage, at time.Time) (sessionstore.Message, error) {
	var r row
	r.Metadata.Timestamp = at.UTC().Format("2006-01-02T15:04:05.000+00:00")
	r.Content = message.GetContent()
	switch m := message.(type) {
	case llms.HumanChatMessage:
		r.Role = "user"
	case llms.AIChatMessage:
		r.Role, r.Reasoning = "assistant", m.ReasoningContent
		if m.FunctionCall != nil {
			return sessionstore.Message{}, ErrFunction
		}
		for i, call := range m.ToolCalls {
			if call.ID == "" || call.FunctionCall == nil {
				return sessionstore.Message{}, fmt.Errorf("tool call %d: %w", i, ErrFunction)
			}
			r.ToolCalls = append(r.ToolCalls, toolCall{call.ID, "function", *call.FunctionCall})
		}
	case llms.ToolChatMessage:
		r.Role, r.ToolCallID = "tool", m.ID
	case llms.SystemChatMessage:
		r.Role = "system"
	case llms.GenericChatMessage:
		r.Role, r.Name = m.Role, m.Name
	case llms.FunctionChatMessage:
		return sessionstore.Message{}, ErrFunction
	default:
		return sessionstore.Message{}, fmt.Errorf("%w: %T", llms.ErrUnexpectedChatMessageType, message)
	}
	return sessionstore.NewMessage(r)
}

// toMessage returns the message of a line.
func toMessage(m sessionstore.Message) llms.ChatMessage {
	switch m.Role() {
	case "user":
		return llms.HumanChatMessage{Content: m.Content()}
	case "assistant":
		ai := llms.AIChatMessage{Content: m.Content(), ReasoningContent: text(m, "reasoning_content")}
		for _, call := range m.ToolCalls() {
			ai.ToolCalls = append(ai.ToolCalls, llms.ToolCall{
				ID: call.ID, Type: "function",
				FunctionCall: &llms.FunctionCall{Name: call.Name, Arguments: string(call.Arguments)},
			})
		}
		return ai
	case "tool":
		return llms.ToolChatMessage{ID: m.ToolCallID(), Content: m.Content()}
	}
	return llms.GenericChatMessage{Role: m.Role(), Name: text(m, "name"), Content: m.Content()}
}

// text returns a member where it is a string.
func text(m sessionstore.Message, name string) (s string) {
	if raw, ok := m.Lookup(name); ok {
		_ = json.Unmarshal(raw, &s) // another kind of value is no text
	}
	return s
}
