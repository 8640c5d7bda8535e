package openai

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"

	"github.com/amplifier-go/sessionstorage/eventslog"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/bridge"
	"github.com/amplifier-go/sessionstorage/sessionstore/bridge/internal/said"
)

// Params returns the input of a request that says what stored messages say. The texts of
// system messages, which are the request's Instructions, and what OpenAI cannot be told,
// such as the thinking of another provider and that a tool failed, are in the Report. Faults
// that another provider takes, such as a long id, are mended as accept.Fix does, and are in
// the Report, too.
//
// The error is for what breaks the conversation, such as a call without a result; it names
// the message. accept.Fix mends it.
func Params(messages []sessionstore.Message) (responses.ResponseInputParam, bridge.Report, error) {
	list, report, err := said.OpenAI.Request(messages)
	if err != nil {
		return nil, bridge.Report{}, err
	}
	items := make(responses.ResponseInputParam, len(list))
	for i, raw := range list {
		if !said.Typed(raw, &items[i]) { // the SDK does not know it as it is
			items[i] = param.Override[responses.ResponseInputItemUnionParam](raw)
		}
	}
	return items, report, nil
}

// Message returns the row that stores a response, made now. Of a stream it takes the
// response of the event response.completed or response.incomplete. A response that failed
// is an error.
func Message(response *responses.Response) (sessionstore.Message, error) {
	switch {
	case response == nil:
		return sessionstore.Message{}, errors.New("store an answer of openai: there is no response")
	case response.Status == responses.ResponseStatusFailed:
		return sessionstore.Message{}, fmt.Errorf("store an answer of openai: the response failed: %s", response.Error.Code)
	}
	answer := make([]json.RawMessage, len(response.Output))
	for i, item := range response.Output {
		if answer[i] = json.RawMessage(item.RawJSON()); len(answer[i]) == 0 {
			return sessionstore.Message{}, fmt.Errorf("store an answer of openai: item %d was not read from JSON", i+1)
		}
	}
	return said.OpenAI.Row([][]json.RawMessage{answer}, string(response.Model), time.Now())
}

// Event returns the event of a response for the session's events.jsonl, of which
// eventslog.Log.Usage and the tool's stats sum up tokens. took is how long the response
// took. It has no cost: prices are the program's.
// Of nil it is the zero Event, which no log takes.
func Event(response *responses.Response, took time.Duration) eventslog.Event {
	if response == nil {
		return eventslog.Event{}
	}
	u := response.Usage
	return said.OpenAI.Event(response.ID, string(response.Model), said.Tokens{
		Input: u.InputTokens, Output: u.OutputTokens,
		CacheRead: u.InputTokensDetails.CachedTokens, CacheWrite: u.InputTokensDetails.CacheWriteTokens,
		Reasoning: u.OutputTokensDetails.ReasoningTokens,
	}, took)
}
