package agree

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/strict"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice/accept"
)

// Why accept refuses more than a provider.
const (
	gh      = "https://github.com/"
	torn    = "the documents say nothing of half a surrogate pair, but UTF-8 has none: " + gh + "JohnnyZ93/oai-compatible-copilot/issues/206 2026-04-26, " + gh + "NousResearch/hermes-agent/pull/102771 2026-09-04"
	unsent  = "what is of another role is not sent, and a session that has it is broken"
	paired  = "Gemini pairs by number, an id is optional: " + gh + "googleapis/go-genai/blob/6fd3e65e/types.go 2026-08-21"
	byID    = "the Responses API pairs by the id alone, wherever the result is: " + gh + "deepseek-ai/awesome-deepseek-integration/issues/740 2026-09-20; the reference does not"
	sameIDs = "only servers that imitate the API say that they refuse it: " + gh + "earendil-works/pi/issues/9057 2026-09-03, " + gh + "openclaw/openclaw/pull/47136 2026-03-15"
	joined  = "it is joined with the message beside it"
	shapes  = "taken by the maker, " + gh + "experientiallabs/experiential/pull/804 2026-09, refused before and by others: "
)

// provider is a provider as both judge it, and where they differ.
type provider struct {
	accept accept.Provider
	strict strict.API
	limits strict.Limits

	stricter map[accept.Reason]string // what accept alone refuses, and why it may
	laxer    map[string]string        // rules by which the server alone refuses, and why it may
}

const pictures = "pictures are judged elsewhere"

// providers are the providers. Bedrock is the strictest host of Anthropic's models; a
// session may be resumed there, too.
var providers = []provider{
	{
		accept.Anthropic, strict.Anthropic,
		strict.Limits{Host: strict.Bedrock},
		map[accept.Reason]string{
			accept.BadToolName:      "a call's name may be anything of 200 characters, but a tool's that a request declares not: " + gh + "modelcontextprotocol/modelcontextprotocol/issues/1345 2025-08-14",
			accept.BlankText:        shapes + gh + "NousResearch/hermes-agent/pull/69517 2026-07-22",
			accept.EmptyContent:     shapes + gh + "glowingjade/obsidian-smart-composer/pull/156 2024-12-05",
			accept.ForeignBlock:     "the documents say nothing of thinking of the user",
			accept.ThinkingNotFirst: "the documents say so of the current turn alone: https://platform.claude.com/docs/en/build-with-claude/extended-thinking 2026-11-29",
			accept.BrokenThinking:   unsent,
			accept.ResultLate:       joined,
		},
		map[string]string{"anthropic.image": pictures, "anthropic.image.source": pictures, "anthropic.image.type": pictures, "anthropic.image.match": pictures},
	},
	{
		accept.OpenAIChat, strict.Chat,
		strict.Limits{},
		map[accept.Reason]string{
			accept.BadArguments: torn, accept.BadBlock: torn, accept.BadContent: torn, accept.BrokenThinking: torn, accept.BadCallID: torn,
			accept.ForeignBlock:    unsent,
			accept.DuplicateCallID: sameIDs, accept.CallNoResult: sameIDs,
			accept.UnknownRole:  "function is a role of the API, and of no session",
			accept.EmptyContent: unsent,
		},
		map[string]string{"chat.image": pictures},
	},
	{
		accept.OpenAIResponses, strict.Responses,
		strict.Limits{},
		map[accept.Reason]string{
			accept.BadArguments: torn, accept.BadBlock: torn, accept.BadContent: torn, accept.BrokenThinking: torn, accept.BadCallID: torn,
			accept.ForeignBlock: unsent, accept.UnknownRole: unsent, accept.EmptyContent: unsent,
			accept.ReasoningAlone: "the model's next message may follow it, too",
			accept.ResultEarly:    byID, accept.ResultLate: byID,
			accept.DuplicateCallID: sameIDs, accept.CallNoResult: sameIDs, accept.ResultNoCall: sameIDs, accept.DuplicateResult: sameIDs,
		},
		map[string]string{"responses.image": pictures},
	},
	{
		accept.Gemini, strict.Gemini,
		strict.Limits{},
		map[accept.Reason]string{
			accept.BadArguments: torn, accept.BadBlock: torn, accept.BadContent: torn, accept.BrokenThinking: torn, accept.BadCallID: torn,
			accept.BadToolName:   "a call's name is not judged, but a tool's that a request declares: " + gh + "kaitranntt/ccs/issues/219 2025-12-28",
			accept.CallWithoutID: paired, accept.CallNoResult: paired, accept.ResultNoCall: paired, accept.DuplicateResult: paired,
			accept.ResultNotFirst: joined, accept.ResultLate: joined, accept.RolesInARow: joined, accept.EmptyContent: joined,
			accept.ForeignBlock: unsent, accept.UnknownRole: "model is a role of the API, and of no session",
		},
		map[string]string{"gemini.image": pictures, "gemini.image.type": pictures},
	},
}

// judged compares what both say of a conversation. It returns what accept refuses, and
// notes the differences that it met.
func (p provider) judged(t *testing.T, seed uint64, msgs []sessionstore.Message, met map[string]int) []accept.Refusal {
	t.Helper()
	refused := accept.Check(p.accept, msgs)
	body := translate(p.strict, msgs)
	found := strict.Judge(p.strict, p.limits, body)
	differ := func(who, kind, why string) {
		if met[fmt.Sprint(p.accept, kind)]++; why == "" && met[fmt.Sprint(p.accept, kind)] == 1 {
			assert.Failf(t, who+" alone refuses it", "%v %s, seed %d\n%s\n%s", p.accept, kind, seed, lines(msgs), body)
		}
	}
	foreign := slices.ContainsFunc(refused, func(r accept.Refusal) bool { return r.Reason == accept.ForeignBlock })
	for _, r := range refused {
		if len(found) == 0 && (!foreign || r.Reason == accept.ForeignBlock) { // a foreign block may have other faults
			differ("accept", string(r.Reason), p.stricter[r.Reason])
		}
	}
	for _, r := range found {
		if len(refused) == 0 {
			differ("the server", r.Rule, p.laxer[r.Rule])
		}
	}
	met[fmt.Sprint(p.accept, len(refused) == 0)]++
	return refused
}

// TestAgree compares both judges on conversations with and without faults. What accept
// mends, the servers take.
func TestAgree(t *testing.T) {
	t.Parallel()
	begin, met := testenv.Seed(t), map[string]int{}
	n := testenv.Share[uint64](200, 1000, 10_000)
	for seed := begin; seed < begin+n; seed++ {
		msgs := (&dealer{Rand: rand.New(rand.NewPCG(seed, 1))}).conversation(t)
		for _, p := range providers {
			p.judged(t, seed, msgs, met)
			fixed, err := accept.Fix(p.accept, msgs)
			require.NoError(t, err)
			require.Empty(t, p.judged(t, seed, fixed.Messages, met))
		}
	}
	for _, p := range providers {
		require.Greater(t, met[fmt.Sprint(p.accept, false)], int(n)/4, "so many are refused")
	}
}

// TestAgreeOverHTTP sends conversations, as they are and mended, to the servers.
func TestAgreeOverHTTP(t *testing.T) {
	t.Parallel()
	paths := map[strict.API]string{strict.Anthropic: "/v1/messages", strict.Chat: "/v1/chat/completions", strict.Responses: "/v1/responses", strict.Gemini: "/v1beta/models/m:generateContent"}
	begin := testenv.Seed(t)
	for _, p := range providers {
		s := strict.New(t, p.strict, p.limits)
		send := func(msgs []sessionstore.Message) int {
			body := translate(p.strict, msgs)
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+paths[p.strict], strings.NewReader(string(body)))
			require.NoError(t, err)
			for _, name := range []string{"x-api-key", "x-goog-api-key", "Authorization", "anthropic-version"} {
				r.Header.Set(name, "k")
			}
			if len(strict.Judge(p.strict, p.limits, body)) == 0 {
				s.Script(strict.Answer{Parts: []strict.Part{strict.Text("so")}})
			}
			answer, err := http.DefaultClient.Do(r)
			require.NoError(t, err)
			_, err = io.Copy(io.Discard, answer.Body)
			require.NoError(t, err)
			require.NoError(t, answer.Body.Close())
			return answer.StatusCode
		}
		refused := 0
		for seed := begin; seed < begin+50; seed++ {
			msgs := (&dealer{Rand: rand.New(rand.NewPCG(seed, 2))}).conversation(t)
			if send(msgs) != 200 {
				refused++
			}
			fixed, err := accept.Fix(p.accept, msgs)
			require.NoError(t, err)
			if len(strict.Judge(p.strict, p.limits, translate(p.strict, fixed.Messages))) == 0 { // but for pictures
				require.Equal(t, 200, send(fixed.Messages), "seed %d %v: %s", seed, p.accept, lines(fixed.Messages))
			}
		}
		require.NotZero(t, refused)
		require.Len(t, rulesOf(s.Refusals(), "script"), 0, "what is accepted is answered")
	}
}

// rulesOf returns the refusals by one rule.
func rulesOf(all []strict.Refusal, rule string) (of []strict.Refusal) {
	for _, r := range all {
		if r.Rule == rule {
			of = append(of, r)
		}
	}
	return of
}

func lines(msgs []sessionstore.Message) string {
	var b strings.Builder
	for _, m := range msgs {
		fmt.Fprintf(&b, "\n%s", m.AppendTo(nil))
	}
	return b.String()
}

// TestAgreeOnGolden compares both on the broken transcripts of the reference, as they are,
// as the reference repairs them, and mended.
func TestAgreeOnGolden(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "testdata", "golden", "repair.json"))
	require.NoError(t, err)
	type file struct{ Text string }
	var vectors []struct {
		Name     string
		Given    file `json:"transcript"`
		Repaired file `json:"expected_file"`
	}
	require.NoError(t, json.Unmarshal(raw, &vectors))
	met, judged := map[string]int{}, 0
	for i, v := range vectors {
		for _, f := range []file{v.Given, v.Repaired} {
			var msgs []sessionstore.Message
			for line := range strings.Lines(f.Text) {
				if m, err := sessionstore.ParseMessage([]byte(strings.TrimSuffix(line, "\n"))); err == nil {
					msgs = append(msgs, m)
				}
			}
			for _, p := range providers {
				judged += min(1, len(msgs))
				p.judged(t, uint64(i), msgs, met)
				fixed, err := accept.Fix(p.accept, msgs)
				require.NoError(t, err)
				require.Empty(t, p.judged(t, uint64(i), fixed.Messages, met))
			}
		}
	}
	require.Greater(t, judged, 400)
}
