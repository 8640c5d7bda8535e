package genai

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"time"

	sdk "google.golang.org/genai"

	"github.com/amplifier-go/sessionstorage/eventslog"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/bridge"
	"github.com/amplifier-go/sessionstorage/sessionstore/bridge/internal/said"
)

// Params returns the contents of a request that say what stored messages say. The texts of
// system messages, which are the SystemInstruction of its config, and what Gemini cannot be
// told, such as the thinking of another provider, are in the Report. Faults that another
// provider takes, such as two prompts in a row, are mended as accept.Fix does, and are in
// the Report, too.
//
// The error is for what breaks the conversation, such as a call without a result; it names
// the message. accept.Fix mends it.
func Params(messages []sessionstore.Message) ([]*sdk.Content, bridge.Report, error) {
	list, report, err := said.Gemini.Request(messages)
	if err != nil {
		return nil, bridge.Report{}, err
	}
	contents := make([]*sdk.Content, len(list))
	for i, raw := range list {
		if err := json.Unmarshal(raw, &contents[i]); err != nil {
			return nil, bridge.Report{}, fmt.Errorf("make a request of gemini: content %d: %w", i+1, err)
		}
	}
	return contents, report, nil
}

// Message returns the row that stores a response, made now: of all the responses of a
// stream, in their order, or of the one that there is. Of several candidates the first
// counts. A response without a candidate, as to a prompt that was blocked, is an error.
func Message(responses ...*sdk.GenerateContentResponse) (sessionstore.Message, error) {
	shown, sent, model, err := joined(responses)
	if err != nil {
		return sessionstore.Message{}, fmt.Errorf("store an answer of gemini: %w", err)
	}
	answer, err := marshal(shown)
	if err != nil {
		return sessionstore.Message{}, err
	}
	wire, err := marshal(sent)
	if err != nil {
		return sessionstore.Message{}, err
	}
	return said.Gemini.Row(answer, wire, model, time.Now())
}

func marshal(parts []*sdk.Part) (list []json.RawMessage, err error) {
	for i, part := range parts {
		raw, err := json.Marshal(part)
		if err != nil {
			return nil, fmt.Errorf("store an answer of gemini: part %d is not JSON", i+1)
		}
		list = append(list, raw)
	}
	return list, nil
}

// joined returns the parts of an answer, as they are shown and as they go back, and the
// model. A text that goes on in the next response of a stream is one; but what goes back
// keeps a part with a signature apart, as Gemini wants it.
func joined(responses []*sdk.GenerateContentResponse) (shown, sent []*sdk.Part, model string, err error) {
	err = errors.New("there is no candidate")
	for _, r := range responses {
		switch {
		case r == nil:
			continue
		case r.PromptFeedback != nil && r.PromptFeedback.BlockReason != "":
			err = fmt.Errorf("the prompt was blocked: %s", r.PromptFeedback.BlockReason)
		}
		model = cmp.Or(r.ModelVersion, model)
		if len(r.Candidates) == 0 || r.Candidates[0] == nil {
			continue
		}
		err = nil
		if r.Candidates[0].Content == nil {
			continue
		}
		for i, part := range r.Candidates[0].Content.Parts {
			if part == nil {
				continue
			}
			if i > 0 || !goOn(shown, part) {
				shown = append(shown, &sdk.Part{})
			}
			if i > 0 || !goOn(sent, part) || part.ThoughtSignature != nil {
				sent = append(sent, &sdk.Part{})
			}
			add(shown[len(shown)-1], part)
			add(sent[len(sent)-1], part)
		}
	}
	return shown, sent, model, err
}

// goOn reports whether a part goes on with the text of the last of parts.
func goOn(parts []*sdk.Part, part *sdk.Part) bool {
	plain := func(p *sdk.Part) bool {
		return p.Text != "" && reflect.DeepEqual(*p, sdk.Part{Text: p.Text, Thought: p.Thought, ThoughtSignature: p.ThoughtSignature})
	}
	if len(parts) == 0 {
		return false
	}
	last := parts[len(parts)-1]
	return last.ThoughtSignature == nil && last.Thought == part.Thought && plain(last) && plain(part)
}

// add makes whole, which may have the beginning of the text, the part.
func add(whole, part *sdk.Part) {
	text := whole.Text + part.Text
	*whole = *part
	whole.Text = text
}

// Event returns the event of a response for the session's events.jsonl, of which
// eventslog.Log.Usage and the tool's stats sum up tokens. Of a stream it takes the last
// response, which has the usage of all. took is how long the response took. It has no
// cost: prices are the program's.
func Event(response *sdk.GenerateContentResponse, took time.Duration) eventslog.Event {
	var t said.Tokens
	if u := response.UsageMetadata; u != nil {
		t = said.Tokens{
			Input: int64(u.PromptTokenCount + u.ToolUsePromptTokenCount), Output: int64(u.CandidatesTokenCount + u.ThoughtsTokenCount),
			CacheRead: int64(u.CachedContentTokenCount), Reasoning: int64(u.ThoughtsTokenCount),
		}
	}
	return said.Gemini.Event(response.ResponseID, response.ModelVersion, t, took)
}
