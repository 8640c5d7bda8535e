package genai

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	sdk "google.golang.org/genai"

	"github.com/amplifier-go/sessionstorage/eventslog"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/bridge"
	"github.com/amplifier-go/sessionstorage/sessionstore/bridge/internal/said"
)

// format is Gemini's, for the types of the SDK.
var format = func() *said.Format {
	f := *said.Gemini
	f.Fits = func(raw []byte) bool {
		part := sdk.Part{}
		return json.Unmarshal(raw, &part) == nil && !bare(part)
	}
	return &f
}()

// Params returns the contents of a request that say what stored messages say. The texts of
// system messages, which are the SystemInstruction of its config, and what Gemini cannot be
// told, such as the thinking of another provider, are in the Report. Faults that another
// provider takes, such as two prompts in a row, are mended as accept.Fix does, and are in
// the Report, too.
//
// The error is for what breaks the conversation, such as a call without a result; it names
// the message. accept.Fix mends it.
func Params(messages []sessionstore.Message) ([]*sdk.Content, bridge.Report, error) {
	list, report, err := format.Request(messages)
	if err != nil {
		return nil, bridge.Report{}, err
	}
	contents := make([]*sdk.Content, len(list))
	for i, raw := range list {
		if json.Unmarshal(raw, &contents[i]) != nil {
			return nil, bridge.Report{}, fmt.Errorf("make a request of gemini: content %d: a call has a number that is too large for the SDK", i+1)
		}
	}
	return contents, report, nil
}

// Message returns the row that stores a response, made now: of all the responses of a
// stream, in their order, or of the one that there is. Of several candidates the first
// counts. A response without a candidate, as to a prompt that was blocked, is an error.
func Message(responses ...*sdk.GenerateContentResponse) (sessionstore.Message, error) {
	parts, model, err := make([][]*sdk.Part, len(responses)), "", errors.New("there is no candidate")
	last := &sdk.Part{}
	for i, r := range responses {
		switch {
		case r == nil:
			continue
		case len(r.Candidates) > 0 && r.Candidates[0] != nil:
			err = nil
		case r.PromptFeedback != nil && r.PromptFeedback.BlockReason != "":
			err = fmt.Errorf("the prompt was blocked: %s", r.PromptFeedback.BlockReason)
		}
		model = cmp.Or(r.ModelVersion, model)
		if err != nil || len(r.Candidates) == 0 || r.Candidates[0].Content == nil {
			continue
		}
		for _, part := range r.Candidates[0].Content.Parts {
			switch {
			case part == nil:
			case !bare(*part):
				last = named(*part)
				parts[i] = append(parts[i], last)
			case last.Text != "" && last.ThoughtSignature == nil && last.Thought == part.Thought:
				last.ThoughtSignature = part.ThoughtSignature // as it is where the answer is no stream
			}
		}
	}
	answer := make([][]json.RawMessage, len(parts))
	for i, parts := range parts {
		for _, part := range parts {
			raw, bad := json.Marshal(part)
			answer[i], err = append(answer[i], raw), errors.Join(err, bad)
		}
	}
	if err != nil {
		return sessionstore.Message{}, fmt.Errorf("store an answer of gemini: %w", err)
	}
	return said.Gemini.Row(answer, model, time.Now())
}

// bare reports whether a part says nothing but the signature of what is before it, as the end of
// a stream does. Gemini refuses it in a request, unless it has an empty text, which the SDK
// leaves out.
func bare(part sdk.Part) bool {
	part.Thought, part.ThoughtSignature = false, nil
	return reflect.ValueOf(part).IsZero()
}

// named returns a copy of a part. A call in it has an id, by which its result is found.
func named(part sdk.Part) *sdk.Part {
	if part.FunctionCall != nil && part.FunctionCall.ID == "" {
		call := *part.FunctionCall
		call.ID = "gemini_call_" + strings.ReplaceAll(sessionstore.NewID(), "-", "")[:12]
		part.FunctionCall = &call
	}
	return &part
}

// Event returns the event of a response for the session's events.jsonl, of which
// eventslog.Log.Usage and the tool's stats sum up tokens. Of a stream it takes the last
// response, which has the usage of all. took is how long the response took. It has no
// cost: prices are the program's. Of nil it is the zero Event, which no log takes.
func Event(response *sdk.GenerateContentResponse, took time.Duration) eventslog.Event {
	if response == nil {
		return eventslog.Event{}
	}
	var t said.Tokens
	if u := response.UsageMetadata; u != nil {
		t = said.Tokens{
			Input: int64(u.PromptTokenCount + u.ToolUsePromptTokenCount), Output: int64(u.CandidatesTokenCount + u.ThoughtsTokenCount),
			CacheRead: int64(u.CachedContentTokenCount), Reasoning: int64(u.ThoughtsTokenCount),
		}
	}
	return said.Gemini.Event(response.ResponseID, response.ModelVersion, t, took)
}
