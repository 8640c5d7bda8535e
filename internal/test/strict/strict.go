// Package strict is the providers' APIs for tests: servers on 127.0.0.1 that refuse
// whatever a provider's documents, or public reports of its answers, say it refuses,
// with its status, type and message, and that answer by a script otherwise.
//
// [Rules] lists what is refused and where that is said. Where documents and reports are
// silent, a request is accepted; where they contradict each other, the newest decides.
// The package is written from those sources alone and imports nothing of this
// repository, so that it can judge what other packages hold for acceptable.
//
// Not judged: whether a model exists, numbers of tokens, whether a signature is true
// (its form is), schemas of tools, options of sampling, and sizes of requests to Gemini,
// which takes more than its documents say. Gemini's fields are read in camelCase, as its
// clients write them.
package strict

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// API is a provider's interface.
type API int

// The interfaces.
const (
	Anthropic API = iota // POST /v1/messages
	Chat                 // POST /v1/chat/completions
	Responses            // POST /v1/responses
	Gemini               // POST /v1beta/models/{model}:generateContent and :streamGenerateContent
)

// String returns the name of the interface.
func (a API) String() string {
	return [...]string{"anthropic", "chat", "responses", "gemini"}[a]
}

// Host is who serves a model. The zero Host is the maker of the model.
type Host int

// The hosts.
const (
	Maker Host = iota
	Bedrock
	Vertex
)

// Limits is what depends on the host and the model. The zero Limits are those of the
// maker's newest models, but for what a model demands beyond the others.
type Limits struct {
	Host       Host
	Window200k bool // the model has a context window of 200,000 tokens
	NoPrefill  bool // the model cannot continue an assistant's message (Claude 4.6 and later)
	ShortIDs   bool // the model takes ids of calls of at most 40 characters (OpenAI, before GPT-5)
	Signatures bool // the model demands the signatures of the current turn's calls (Gemini 3)
}

// Refusal is one reason why a provider refuses a request, as the provider says it.
type Refusal struct {
	Rule    string // the ID of one of the Rules
	Status  int    // of HTTP
	Type    string // error.type, or error.status of Gemini
	Param   string // error.param of OpenAI
	Code    string // error.code of OpenAI
	Message string
}

// Judge returns the reasons why the API refuses the body of a request, in the order in
// which they are found; a server answers the first. It returns nothing if the API
// accepts the request.
func Judge(api API, limits Limits, body []byte) []Refusal {
	j := &judge{api: api, limits: limits}
	if j.tooLarge(int64(len(body))); len(j.found) > 0 {
		return j.found
	}
	if at := loneSurrogate(body); at >= 0 && api == Anthropic {
		j.refuse("anthropic.json", "The request body is not valid JSON: no low surrogate in string: line 1 column %d (char %d)", at+1, at)
		return j.found
	}
	var request object
	if json.Unmarshal(body, &request) != nil || request == nil {
		j.refuse(api.String()+".json", "%s", [...]string{
			"The request body is not valid JSON",
			"We could not parse the JSON body of your request. (HINT: This likely means you aren't using your HTTP library correctly.)",
			"We could not parse the JSON body of your request. (HINT: This likely means you aren't using your HTTP library correctly.)",
			"Invalid JSON payload received.",
		}[api])
		return j.found
	}
	switch api {
	case Anthropic:
		j.anthropic(request)
	case Chat:
		j.chat(request)
	case Responses:
		j.responses(request)
	case Gemini:
		j.gemini(request)
	}
	return j.found
}

// judge collects the refusals of one request.
type judge struct {
	api    API
	limits Limits
	found  []Refusal
	images int // pictures of the request
}

// refuse adds a refusal with the status and type that the provider gives most of them.
func (j *judge) refuse(rule, format string, args ...any) *Refusal {
	kind := "invalid_request_error"
	if j.api == Gemini {
		kind = "INVALID_ARGUMENT"
	}
	j.found = append(j.found, Refusal{Rule: rule, Status: 400, Type: kind, Message: fmt.Sprintf(format, args...)})
	return &j.found[len(j.found)-1]
}

// tooLarge refuses a request of that many bytes.
func (j *judge) tooLarge(size int64) {
	const mb = 1 << 20
	switch limit := [...]int64{32 * mb, 20 * mb, 30 * mb}[j.limits.Host]; {
	case j.api == Anthropic && size > limit:
		r := j.refuse("anthropic.size", "Request exceeds the maximum size")
		r.Status, r.Type = 413, "request_too_large"
	case (j.api == Chat || j.api == Responses) && size > 512*mb:
		j.refuse("openai.size", "Total payload size exceeds the allowed limit of 512MB.")
	}
}

// tooMany refuses a request to Anthropic of that many messages.
func (j *judge) tooMany(messages int) {
	if messages > 100_000 {
		j.refuse("anthropic.count", "messages: List should have at most 100000 items after validation, not %d", messages)
	}
}

type object = map[string]any

// fields returns v if it is an object, or nil.
func fields(v any) object {
	o, _ := v.(object)
	return o
}

// list returns v if it is an array, or nil.
func list(v any) []any {
	l, _ := v.([]any)
	return l
}

// text returns v if it is a string, or "".
func text(v any) string {
	s, _ := v.(string)
	return s
}

// isText reports whether v is a string.
func isText(v any) bool {
	_, ok := v.(string)
	return ok
}

func blank(s string) bool {
	return strings.TrimSpace(s) == ""
}

// word reports whether s has letters, digits and characters of more, and nothing else.
func word(s, more string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune(more, r)
	})
}

// loneSurrogate returns where JSON escapes half of a surrogate pair alone, or -1.
func loneSurrogate(body []byte) int {
	for at := 0; ; {
		next := bytes.IndexByte(body[at:], '\\')
		if next < 0 || at+next+1 >= len(body) {
			return -1
		}
		at += next
		if body[at+1] != 'u' {
			at += 2
			continue
		}
		unit := escaped(body[at:])
		switch {
		case unit < 0xd800 || unit > 0xdfff:
			at += 6
		case unit < 0xdc00 && escaped(body[min(at+6, len(body)):]) >= 0xdc00 && escaped(body[at+6:]) <= 0xdfff:
			at += 12
		default:
			return at
		}
	}
}

// escaped returns the unit that an escape such as \ud83d at the start of b stands for,
// or 0.
func escaped(b []byte) uint64 {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0
	}
	unit, _ := strconv.ParseUint(string(b[2:6]), 16, 16)
	return unit
}

// oneOf reports whether s is one of the list, which is separated by spaces.
func oneOf(s, all string) bool {
	return slices.Contains(strings.Fields(all), s)
}
