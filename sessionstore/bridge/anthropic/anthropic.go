package anthropic

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"github.com/amplifier-go/sessionstorage/eventslog"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/bridge"
	"github.com/amplifier-go/sessionstorage/sessionstore/bridge/internal/said"
)

// Params returns the messages of a request that say what stored messages say. The texts of
// system messages, and what Anthropic cannot be told, such as the thinking of another
// provider, are in the Report. Faults that another provider takes, such as a name with a
// dot, are mended as accept.Fix does, and are in the Report, too.
//
// The error is for what breaks the conversation, such as a call without a result; it names
// the message. accept.Fix mends it.
func Params(messages []sessionstore.Message) ([]sdk.MessageParam, bridge.Report, error) {
	list, report, err := said.Anthropic.Request(messages)
	if err != nil {
		return nil, bridge.Report{}, err
	}
	params := make([]sdk.MessageParam, len(list))
	for i, raw := range list {
		if params[i], err = messageParam(raw); err != nil {
			return nil, bridge.Report{}, fmt.Errorf("make a request of anthropic: message %d: %w", i+1, err)
		}
	}
	return params, report, nil
}

// messageParam returns a message with the types of the SDK. A block that these do not know
// as it is stays JSON.
func messageParam(raw json.RawMessage) (p sdk.MessageParam, err error) {
	var m struct {
		Role    sdk.MessageParamRole `json:"role"`
		Content []json.RawMessage    `json:"content"`
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		return p, err
	}
	p.Role = m.Role
	for _, raw := range m.Content {
		var block sdk.ContentBlockParamUnion
		if !said.Typed(raw, &block) {
			block = param.Override[sdk.ContentBlockParamUnion](raw)
		}
		p.Content = append(p.Content, block)
	}
	return p, nil
}

// Message returns the row that stores a response, made now. A response that a stream
// accumulated is whole after its last event.
func Message(response *sdk.Message) (sessionstore.Message, error) {
	if response == nil {
		return sessionstore.Message{}, errors.New("store an answer of anthropic: there is no response")
	}
	answer := make([]json.RawMessage, len(response.Content))
	for i, block := range response.Content {
		if answer[i] = json.RawMessage(block.RawJSON()); len(answer[i]) == 0 {
			return sessionstore.Message{}, fmt.Errorf("store an answer of anthropic: block %d was not read from JSON", i+1)
		}
		cut := response.StopReason == sdk.StopReasonMaxTokens || response.StopReason == sdk.StopReasonModelContextWindowExceeded
		if cut && i == len(response.Content)-1 && block.Type == "tool_use" && string(block.Input) == "{}" { // the SDK drops the half that came
			answer[i] = said.CutOff(answer[i])
		}
	}
	return said.Anthropic.Row([][]json.RawMessage{answer}, string(response.Model), time.Now())
}

// Event returns the event of a response for the session's events.jsonl, of which
// eventslog.Log.Usage and the tool's stats sum up tokens. took is how long the response
// took. It has no cost: prices are the program's.
// Of nil it is the zero Event, which no log takes.
func Event(response *sdk.Message, took time.Duration) eventslog.Event {
	if response == nil {
		return eventslog.Event{}
	}
	u := response.Usage
	return said.Anthropic.Event(response.ID, string(response.Model), said.Tokens{
		Input: u.InputTokens + u.CacheReadInputTokens, Output: u.OutputTokens,
		CacheRead: u.CacheReadInputTokens, CacheWrite: u.CacheCreationInputTokens,
		Reasoning: u.OutputTokensDetails.ThinkingTokens,
	}, took)
}
