package realtools

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/amplifier-go/sessionstorage/internal/test/strict"
)

// model is a made-up model. It speaks the Responses API, as Codex does, and the Messages
// API, as Claude Code does, and numbers its answers.
type model struct {
	url string

	mu       sync.Mutex
	requests []request
	answers  int
	strict   bool                     // what the provider refuses is refused
	named    bool                     // an answer names its prompt
	calls    map[string][]call        // what the model answers to a prompt with these words
	held     map[string]chan struct{} // prompts that get no answer; closed once one came
	cuts     map[string]cut           // prompts whose answer never ends
	watched  map[string]chan struct{} // closed once the prompt came
}

// cut is an answer of several pieces that never ends.
type cut struct {
	pieces, events int // how many pieces are sent whole, and how many events of the next one
	sent           chan struct{}
}

// call is a call of one of the tool's functions.
type call struct {
	name      string
	arguments object
}

// request is what a tool sent to the model.
type request struct {
	size    int
	said    []said
	refused []strict.Refusal
	waiting []string // the texts that the last answer does not know
	results []string // of calls
}

// said is one text of a conversation, or an image.
type said struct{ role, text string }

// newModel returns a model in the network.
func newModel(t *testing.T, n *network) *model {
	t.Helper()
	l, m := n.listen(t), &model{calls: map[string][]call{}, held: map[string]chan struct{}{}, cuts: map[string]cut{}, watched: map[string]chan struct{}{}}
	m.url = "http://" + l.Addr().String()
	server := &http.Server{Handler: m}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = server.Serve(l)
	}()
	t.Cleanup(func() {
		_ = server.Close()
		<-ended
	})
	return m
}

func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the tool went away
	}
	var in struct {
		Model    string
		Stream   bool
		Messages []item
		Input    []item
	}
	asked := request{size: len(body)}
	if json.Unmarshal(body, &in) == nil {
		for _, i := range append(in.Messages, in.Input...) {
			asked.take(i)
		}
	}
	if m.strict {
		asked.refused = judge(r.URL.Path, body)
	}
	n, called := m.answer(asked)
	var texts []string
	if called == nil {
		texts = []string{m.text(asked, n)}
	}
	switch {
	case m.holds(asked):
		<-r.Context().Done()
	case m.cutOff(w, r, asked, n, in.Model):
		<-r.Context().Done()
	case len(asked.refused) > 0:
		refuse(w, asked.refused[0])
	case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/responses"):
		stream(w, responses(n, called, texts...))
	case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/messages") && in.Stream:
		stream(w, messages(n, in.Model, called, texts...))
	case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/messages"):
		reply(w, wholeMessage(n, in.Model))
	case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/count_tokens"):
		reply(w, object{"input_tokens": len(body) / 4})
	default:
		reply(w, object{"data": []any{}, "models": []any{}})
	}
}

// judge returns why the provider refuses a request.
func judge(path string, body []byte) []strict.Refusal {
	switch {
	case strings.HasSuffix(path, "/responses"):
		return strict.Judge(strict.Responses, strict.Limits{}, body)
	case strings.HasSuffix(path, "/messages"):
		return strict.Judge(strict.Anthropic, strict.Limits{}, body)
	}
	return nil
}

func refuse(w http.ResponseWriter, why strict.Refusal) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(why.Status)
	_ = json.NewEncoder(w).Encode(object{"type": "error", "error": object{"type": why.Type, "code": why.Code, "param": why.Param, "message": why.Message}})
}

// answer keeps a request and returns the number of its answer, with a call where one is
// meant for the prompt.
func (m *model) answer(asked request) (n int, called []call) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests = append(m.requests, asked)
	m.answers++
	for prompt, came := range m.watched {
		if slices.ContainsFunc(asked.waiting, func(text string) bool { return strings.Contains(text, prompt) }) {
			close(came)
			delete(m.watched, prompt)
		}
	}
	for words, c := range m.calls {
		for _, text := range asked.waiting {
			if strings.Contains(text, words) {
				called = c
			}
		}
	}
	return m.answers, called
}

// take takes the next item of the conversation.
func (r *request) take(i item) {
	texts, results := i.said(), i.results()
	r.said = append(r.said, texts...)
	r.results = append(r.results, results...)
	switch {
	case i.Role == "system" || i.Role == "developer":
	case i.Role != "user" || len(results) > 0:
		r.waiting = nil
	default:
		for _, s := range texts {
			r.waiting = append(r.waiting, s.text)
		}
	}
}

// item is a message of either API, or a result of a call.
type item struct {
	Role    string
	Content json.RawMessage
	Output  json.RawMessage
}

// results returns the texts of results of calls.
func (i item) results() (all []string) {
	if len(i.Output) > 0 {
		return []string{joined(i.Output)}
	}
	var parts []struct {
		Type    string
		Content json.RawMessage
	}
	_ = json.Unmarshal(i.Content, &parts) // a text has no results
	for _, p := range parts {
		if p.Type == "tool_result" {
			all = append(all, joined(p.Content))
		}
	}
	return all
}

// joined returns the text of content, which is a text or a list of parts.
func joined(content json.RawMessage) string {
	var texts []string
	for _, s := range (item{Content: content}).said() {
		texts = append(texts, s.text)
	}
	return strings.Join(texts, "\n")
}

// said returns the texts of a message. An image counts as a text that names its length.
func (i item) said() (all []said) {
	var text string
	if json.Unmarshal(i.Content, &text) == nil {
		return []said{{i.Role, text}}
	}
	var parts []struct {
		Type, Text, Data string
		URL              string `json:"image_url"`
		Source           struct{ Data string }
	}
	_ = json.Unmarshal(i.Content, &parts) // an item of another kind has no texts
	for _, p := range parts {
		switch p.Type {
		case "text", "input_text", "output_text":
			all = append(all, said{i.Role, p.Text})
		case "image":
			all = append(all, said{i.Role, image(p.Source.Data + p.Data)})
		case "input_image":
			_, data, _ := strings.Cut(p.URL, ";base64,")
			all = append(all, said{i.Role, image(data)})
		}
	}
	return all
}

// image is the text for an image.
func image(base64 string) string { return fmt.Sprintf("image of %d", len(base64)) }

// asked returns the largest request that has the prompt: tools also ask for titles.
func (m *model) asked(prompt string) (found request, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range m.requests {
		for _, s := range r.said {
			if s.role == "user" && strings.Contains(s.text, prompt) && r.size > found.size {
				found, ok = r, true
			}
		}
	}
	return found, ok
}

// calling lets the model answer prompts with these words with a call, or with several at once.
func (m *model) calling(words, name string, arguments object, more ...call) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls[words] = append([]call{{name, arguments}}, more...)
}

// watching returns a channel that is closed once a prompt came.
func (m *model) watching(prompt string) chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.watched[prompt] = make(chan struct{})
	return m.watched[prompt]
}

// holding lets the model give no answer to a prompt. The channel is closed once it was asked.
func (m *model) holding(prompt string) chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.held[prompt] = make(chan struct{})
	return m.held[prompt]
}

// holds reports whether a request gets no answer: its last text is a prompt that is held.
func (m *model) holds(asked request) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for prompt, ended := range m.held {
		if n := len(asked.waiting); n > 0 && strings.HasSuffix(asked.waiting[n-1], prompt) {
			close(ended)
			delete(m.held, prompt)
			return true
		}
	}
	return false
}

// cutting lets the model begin an answer to a prompt that never ends. The channel is closed once
// its beginning was sent.
func (m *model) cutting(prompt string, pieces, events int) chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.cuts[prompt] = cut{pieces, events, make(chan struct{})}
	return m.cuts[prompt].sent
}

// piece is a piece of an answer that never ends.
func piece(prompt string, n int) string { return fmt.Sprintf("Piece %d about %s", n, prompt) }

// cutOff sends the beginning of an answer, and reports whether a request gets one that never ends.
func (m *model) cutOff(w http.ResponseWriter, r *http.Request, asked request, n int, model string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for prompt, c := range m.cuts {
		if !slices.ContainsFunc(asked.waiting, func(text string) bool { return strings.Contains(text, prompt) }) {
			continue
		}
		delete(m.cuts, prompt)
		var texts []string
		for i := range c.pieces + 1 {
			texts = append(texts, piece(prompt, i))
		}
		events, each := messages(n, model, nil, texts...), 3
		if strings.HasSuffix(r.URL.Path, "/responses") {
			events, each = responses(n, nil, texts...), 1
		}
		stream(w, events[:1+c.pieces*each+c.events%each])
		_ = http.NewResponseController(w).Flush() // the tool may be gone
		close(c.sent)
		return true
	}
	return false
}

type object = map[string]any

// event is one event of a stream.
type event struct {
	kind string
	data object
}

func stream(w http.ResponseWriter, events []event) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range events {
		e.data["type"] = e.kind
		data, _ := json.Marshal(e.data) // it holds nothing that JSON cannot
		_, _ = fmt.Fprintf(w, "event: %s\ndata: %s\n\n", e.kind, data)
	}
}

func reply(w http.ResponseWriter, o object) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(o) // the tool may be gone
}

// text is the text of the nth answer.
func (m *model) text(asked request, n int) string {
	for _, s := range slices.Backward(asked.said) {
		if all := named.FindAllString(s.text, -1); m.named && s.role == "user" && len(all) > 0 {
			return answerTo + all[len(all)-1]
		}
	}
	return answer(n)
}

func answer(n int) string { return fmt.Sprintf("Made-up answer number %d.", n) }

// responses are the events of an answer of the Responses API, of calls or of texts.
func responses(n int, called []call, texts ...string) []event {
	id := fmt.Sprint("resp_", n)
	events := []event{{"response.created", object{"response": object{"id": id}}}}
	var all []any
	done := func(item object) {
		events = append(events, event{"response.output_item.done", object{"output_index": len(all), "item": item}})
		all = append(all, item)
	}
	for i, text := range texts {
		done(object{
			"type": "message", "id": fmt.Sprintf("msg_%d%s", n, strings.Repeat("x", i)), "role": "assistant", "status": "completed",
			"content": []any{object{"type": "output_text", "text": text, "annotations": []any{}}},
		})
	}
	for i, c := range called {
		arguments, _ := json.Marshal(c.arguments) // it holds nothing that JSON cannot
		more := strings.Repeat("x", i)
		done(object{"type": "function_call", "id": fmt.Sprintf("fc_%d%s", n, more), "call_id": fmt.Sprintf("call_%d%s", n, more), "name": c.name, "arguments": string(arguments), "status": "completed"})
	}
	usage := object{
		"input_tokens": 100 * n, "input_tokens_details": object{"cached_tokens": 10},
		"output_tokens": 7, "output_tokens_details": object{"reasoning_tokens": 0}, "total_tokens": 100*n + 7,
	}
	return append(events, event{"response.completed", object{"response": object{"id": id, "usage": usage, "output": all}}})
}

// messages are the events of an answer of the Messages API, of calls or of texts.
func messages(n int, model string, called []call, texts ...string) []event {
	begun := wholeMessage(n, model)
	begun["content"], begun["stop_reason"] = []any{}, nil
	events, stop := []event{{"message_start", object{"message": begun}}}, "end_turn"
	block := func(content, delta object) {
		at := (len(events) - 1) / 3
		events = append(events,
			event{"content_block_start", object{"index": at, "content_block": content}},
			event{"content_block_delta", object{"index": at, "delta": delta}},
			event{"content_block_stop", object{"index": at}})
	}
	for _, text := range texts {
		block(object{"type": "text", "text": ""}, object{"type": "text_delta", "text": text})
	}
	for i, c := range called {
		arguments, _ := json.Marshal(c.arguments) // it holds nothing that JSON cannot
		block(object{"type": "tool_use", "id": fmt.Sprintf("toolu_%04d%s", n, strings.Repeat("x", i)), "name": c.name, "input": object{}}, object{"type": "input_json_delta", "partial_json": string(arguments)})
		stop = "tool_use"
	}
	return append(events,
		event{"message_delta", object{"delta": object{"stop_reason": stop, "stop_sequence": nil}, "usage": object{"output_tokens": 7}}},
		event{"message_stop", object{}})
}

// wholeMessage is an answer of the Messages API without a stream.
func wholeMessage(n int, model string) object {
	return object{
		"id": fmt.Sprintf("msg_%04d", n), "type": "message", "role": "assistant", "model": model,
		"content": []any{object{"type": "text", "text": answer(n)}}, "stop_reason": "end_turn", "stop_sequence": nil,
		"usage": object{"input_tokens": 10 * n, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 5, "output_tokens": 7},
	}
}
