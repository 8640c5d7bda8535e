package strict

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// Part is one part of an answer of the made-up model.
type Part struct {
	kind      string // text, thinking, call
	text      string // or the arguments of the call, as JSON
	signature string
	id, name  string // of the call
}

// Text is a text that the model says.
func Text(s string) Part {
	return Part{kind: "text", text: s}
}

// Thinking is the model's thoughts with their signature: base64 for Anthropic and Gemini;
// for Responses, encrypted content that begins with gAAAA.
func Thinking(s, signature string) Part {
	return Part{kind: "thinking", text: s, signature: signature}
}

// Call is a call of a tool, with its arguments as a JSON object. A fourth string is the
// thought signature that Gemini gives with the call.
func Call(id, name, arguments string, signature ...string) Part {
	return Part{kind: "call", text: arguments, id: id, name: name, signature: strings.Join(signature, "")}
}

// Answer is one answer of the made-up model.
type Answer struct {
	Parts []Part
	// Chunk is the most bytes of a text that one streamed event carries; 0: all.
	Chunk int
	// Pause, if set, is called before each streamed event with its number, from 0: a test
	// that blocks in it holds the stream there. Events before it have been sent.
	Pause func(event int)

	id string // of the response; each has another
}

// Request is a request that a server was sent.
type Request struct {
	Path     string
	Body     []byte
	Refusals []Refusal // nothing if it was accepted
}

// Server is one provider's API on 127.0.0.1. It demands some key, judges each request,
// and answers it by its script, streamed where the request says so; only of Chat an answer
// says nothing. A request that is accepted when the script is at its end is refused with the rule "script".
type Server struct {
	// URL is where the server listens, without a path: the base URL of Anthropic's and
	// Gemini's clients. OpenAI's have URL + "/v1".
	URL string

	api    API
	limits Limits

	mu       sync.Mutex
	script   []Answer
	requests []Request
}

// New returns a server that listens until the test ends.
func New(tb testing.TB, api API, limits Limits) *Server {
	s := &Server{api: api, limits: limits}
	server := httptest.NewServer(s)
	tb.Cleanup(server.Close)
	s.URL = server.URL
	return s
}

// Script adds answers to the script.
func (s *Server) Script(answers ...Answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.script = append(s.script, answers...)
}

// Requests returns the requests so far, in the order in which they came.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// Refusals returns what was refused so far.
func (s *Server) Refusals() []Refusal {
	var all []Refusal
	for _, r := range s.Requests() {
		all = append(all, r.Refusals...)
	}
	return all
}

// ServeHTTP answers a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has gone
	}
	refusals := s.door(r)
	if len(refusals) == 0 {
		refusals = Judge(s.api, s.limits, body)
	}
	answer, refusals := s.next(Request{r.URL.Path, body, refusals})
	if len(refusals) > 0 {
		s.reject(w, refusals[0])
		return
	}
	var request struct {
		Model  string
		Stream bool
	}
	_ = json.Unmarshal(body, &request) // judged
	if s.api == Gemini {
		name, method, _ := strings.Cut(r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:], ":")
		request.Model, request.Stream = name, method == "streamGenerateContent"
	}
	whole, events := s.api.answer(answer, request.Model)
	if !request.Stream {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(whole) // the client may have gone
		return
	}
	stream(w, answer, events)
}

// door refuses requests without a key and to other paths.
func (s *Server) door(r *http.Request) []Refusal {
	j := &judge{api: s.api}
	path := [...]string{"/v1/messages", "/v1/chat/completions", "/v1/responses", "/v1beta/models/"}[s.api]
	if r.Method != http.MethodPost || !(r.URL.Path == path || s.api == Gemini && strings.HasPrefix(r.URL.Path, path)) {
		j.refuse("path", "Not found: %s %s", r.Method, r.URL.Path).Status = 404
		return j.found
	}
	key := r.Header.Get("x-api-key") + r.Header.Get("x-goog-api-key") + r.URL.Query().Get("key")
	if s.api == Chat || s.api == Responses {
		key = ""
	}
	if key+strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ") == "" {
		refusal := j.refuse("key", "Authentication is required")
		refusal.Status, refusal.Type = 401, [...]string{"authentication_error", "invalid_request_error", "invalid_request_error", "UNAUTHENTICATED"}[s.api]
	}
	if s.api == Anthropic && r.Header.Get("anthropic-version") == "" {
		j.refuse("version", "anthropic-version: header is required")
	}
	return j.found
}

// next records a request and returns the answer to it.
func (s *Server) next(r Request) (Answer, []Refusal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var answer Answer
	switch {
	case len(r.Refusals) > 0:
	case len(s.script) > 0:
		answer, s.script = s.script[0], s.script[1:]
		answer.id = fmt.Sprintf("strict_%d", len(s.requests))
	default:
		j := &judge{api: s.api}
		j.refuse("script", "the test's script has no further answer")
		r.Refusals = j.found
	}
	s.requests = append(s.requests, r)
	return answer, r.Refusals
}

// reject answers a refusal as the provider does.
func (s *Server) reject(w http.ResponseWriter, r Refusal) {
	null := func(s string) any {
		if s == "" {
			return nil
		}
		return s
	}
	var body object
	switch s.api {
	case Anthropic:
		body = object{"type": "error", "error": object{"type": r.Type, "message": r.Message}, "request_id": "req_strict"}
	case Gemini:
		body = object{"error": object{"code": r.Status, "message": r.Message, "status": r.Type}}
	default:
		body = object{"error": object{"message": r.Message, "type": r.Type, "param": null(r.Param), "code": null(r.Code)}}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(r.Status)
	_ = json.NewEncoder(w).Encode(body) // the client may have gone
}

// event is one event of a stream.
type event struct {
	name string // "": it has none
	data object
}

// stream sends events as the answer says.
func stream(w http.ResponseWriter, answer Answer, events []event) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	flush := http.NewResponseController(w)
	for i, e := range events {
		if answer.Pause != nil {
			answer.Pause(i)
		}
		if e.name != "" {
			fmt.Fprintf(w, "event: %s\n", e.name)
		}
		line, _ := json.Marshal(e.data) // maps and strings
		fmt.Fprintf(w, "data: %s\n\n", line)
		if flush.Flush() != nil {
			return // the client has gone
		}
	}
}
