package said

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/test/strict"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice/accept"
)

// checkRound requires that a conversation, as far as a provider can say it, is the same
// after a request was made of it and messages of the request.
func checkRound(t testing.TB, f *Format, msgs []sessionstore.Message, why string) []sessionstore.Message {
	t.Helper()
	fixed, err := accept.Fix(f.rules, msgs)
	require.NoError(t, err, why)
	request, _, err := f.Request(fixed.Messages)
	require.NoError(t, err, why)
	again := back(t, f, request)
	if want, got := says(f, fixed.Messages), says(f, again); !equalLines(want, got) {
		require.Equal(t, want, got, "%s of %s\n%s", why, f.Name, linesOf(fixed.Messages))
	}
	return again
}

func equalLines(a, b []string) bool { return strings.Join(a, "\n") == strings.Join(b, "\n") }

func linesOf(msgs []sessionstore.Message) string {
	var b strings.Builder
	for _, m := range msgs {
		b.Write(m.AppendTo(nil))
		b.WriteByte('\n')
	}
	return b.String()
}

// TestRoundTrip makes requests of conversations at random, and messages of the requests.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	begin := testenv.Seed(t)
	for seed := begin; seed < begin+testenv.Share[uint64](200, 1000, 10_000); seed++ {
		msgs := talk(t, seed)
		for _, f := range formats {
			checkRound(t, f, msgs, fmt.Sprint("seed ", seed))
		}
	}
}

// TestChain hands a conversation from provider to provider. All but thinking, signatures
// and the mark of a failure, which not each can say, arrives.
func TestChain(t *testing.T) {
	t.Parallel()
	begin := testenv.Seed(t)
	for seed := begin; seed < begin+testenv.Share[uint64](50, 250, 2500); seed++ {
		fixed, err := accept.Fix(accept.Anthropic, talk(t, seed))
		require.NoError(t, err)
		msgs := fixed.Messages
		for _, f := range []*Format{Anthropic, OpenAI, Gemini, Anthropic} {
			again := checkRound(t, f, msgs, fmt.Sprint("seed ", seed))
			require.Equal(t, said(msgs), said(again), "seed %d, %s", seed, f.Name)
			msgs = again
		}
	}
}

// said returns what each provider can say of a conversation.
func said(msgs []sessionstore.Message) (list []string) {
	for _, line := range says(OpenAI, msgs) {
		if !strings.HasPrefix(line, "thinking ") {
			list = append(list, line)
		}
	}
	return list
}

// TestGoldenRoundTrip takes each conversation of the reference's vectors.
func TestGoldenRoundTrip(t *testing.T) {
	t.Parallel()
	n := 0
	err := filepath.WalkDir(filepath.Join("..", "..", "..", "..", "testdata"), func(path string, e fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".json" {
			return err
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var v any
		if json.Unmarshal(raw, &v) != nil {
			return nil
		}
		conversations(v, func(msgs []sessionstore.Message) {
			n++
			for _, f := range formats {
				checkRound(t, f, msgs, path)
			}
		})
		return nil
	})
	require.NoError(t, err)
	require.Greater(t, n, 500)
}

// conversations calls each with the lists of messages, and the texts of transcripts, in v.
func conversations(v any, each func([]sessionstore.Message)) {
	found := func(lines []string) {
		var msgs []sessionstore.Message
		for _, line := range lines {
			if m, err := sessionstore.ParseMessage([]byte(line)); err == nil && m.Role() != "" && pyjson.Check([]byte(line), pyjson.Strict) == nil {
				msgs = append(msgs, m)
			}
		}
		if len(msgs) > 0 {
			each(msgs)
		}
	}
	switch v := v.(type) {
	case map[string]any:
		for _, inner := range v {
			conversations(inner, each)
		}
	case []any:
		var lines []string
		for _, inner := range v {
			if raw, err := json.Marshal(inner); err == nil && strings.Contains(string(raw), `"role"`) {
				lines = append(lines, string(raw))
			}
			conversations(inner, each)
		}
		found(lines)
	case string:
		if strings.Contains(v, `"role"`) {
			found(strings.Split(v, "\n"))
		}
	}
}

// dealer makes conversations as agents have them.
type dealer struct {
	*rand.Rand
	calls int
}

const (
	picture = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
	pdf     = "JVBERi0xLjQKJSVFT0Y="
	seal    = "QUJDRA=="
)

func (d *dealer) of(list ...string) string { return list[d.IntN(len(list))] }

func (d *dealer) words() string {
	return string(pyjson.Quote(d.of("so", "two\nlines", "Grüße 🌍", `a "quote"`, "<b>&", "\u2028") + fmt.Sprint(d.IntN(100))))
}

func (d *dealer) textual() string { return `{"type": "text", "text": ` + d.words() + `}` }

func (d *dealer) file() string {
	return d.of(
		`{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "`+picture+`"}}`,
		`{"type": "image_url", "image_url": {"url": "data:image/png;base64,`+picture+`"}}`,
		`{"type": "input_image", "image_url": "https://example.com/a.png"}`,
		`{"type": "image", "source": {"type": "url", "url": "https://example.com/b.png"}}`,
		`{"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "`+pdf+`"}, "title": "a.pdf"}`,
		`{"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "plain"}}`,
		`{"type": "document", "source": {"type": "url", "url": "https://example.com/c.pdf"}}`,
	)
}

func (d *dealer) some(most int, one ...func() string) string {
	list := []string{one[0]()}
	for range d.IntN(most) {
		list = append(list, one[d.IntN(len(one))]())
	}
	return "[" + strings.Join(list, ", ") + "]"
}

// answer makes an answer, with calls and their results where they are wanted.
func (d *dealer) answer(calls int) (rows []string) {
	var blocks, listed []string
	switch d.IntN(6) {
	case 0:
		blocks = append(blocks, `{"type": "thinking", "thinking": `+d.words()+`, "signature": "`+seal+`"}`)
	case 1:
		blocks = append(blocks, fmt.Sprintf(`{"type": "thinking", "thinking": "", "content": ["gAAAAABo", "rs_%d"]}`, d.Uint32()))
	case 2:
		blocks = append(blocks, `{"type": "redacted_thinking", "data": "opaque"}`)
	}
	if calls == 0 || d.IntN(2) == 0 {
		blocks = append(blocks, d.textual())
	}
	var ids []string
	for range calls {
		d.calls++
		id := fmt.Sprintf("%s%d", d.of("toolu_01", "call_", "gemini_call_"), d.calls)
		args := d.of(`{}`, `{"path": "a.go", "n": [1, 2.5, 12345678901234567890]}`, `{"x": {"y": null}}`)
		sign := d.of("", "", `, "signature": "`+seal+`"`)
		ids = append(ids, id)
		if d.IntN(3) > 0 {
			blocks = append(blocks, fmt.Sprintf(`{"type": "%s", "id": %q, "name": "read", "input": %s%s}`, d.of("tool_use", "tool_call"), id, args, sign))
		} else {
			listed = append(listed, fmt.Sprintf(`{"id": %q, "type": "function", "function": {"name": "read", "arguments": %s}}`, id, pyjson.Quote(args)))
			continue
		}
		if d.IntN(2) == 0 {
			listed = append(listed, fmt.Sprintf(`{"id": %q, "tool": "read", "arguments": %s%s}`, id, args, sign))
		}
	}
	by := d.of("", "", `, "metadata": {"provider": "gemini"}`, `, "metadata": {"provider": "anthropic"}`)
	rows = append(rows, `{"role": "assistant", "content": [`+strings.Join(blocks, ", ")+`], "tool_calls": [`+strings.Join(listed, ", ")+`]`+by+`}`)
	d.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	for _, id := range ids {
		content, failed := d.of(d.words(), d.words(), `""`, `" \n"`), d.of("", `, "is_error": true`)
		if d.IntN(3) == 0 {
			content = d.some(3, d.textual, d.file)
		}
		if d.IntN(2) == 0 {
			rows = append(rows, fmt.Sprintf(`{"role": "tool", "name": "read", "tool_call_id": %q, "content": %s%s}`, id, content, failed))
		} else {
			rows = append(rows, fmt.Sprintf(`{"role": "user", "content": [{"type": "tool_result", "tool_use_id": %q, "content": %s%s}]}`, id, content, failed))
		}
	}
	return rows
}

// talk returns a conversation that the seed decides.
func talk(t testing.TB, seed uint64) (msgs []sessionstore.Message) {
	d := dealer{Rand: rand.New(rand.NewPCG(seed, 64))}
	var rows []string
	for range 1 + d.IntN(4) {
		if d.IntN(4) == 0 {
			rows = append(rows, `{"role": "user", "content": "<system-reminder>x</system-reminder>"}`)
		}
		rows = append(rows, `{"role": "user", "content": `+d.of(d.words(), d.some(4, d.textual, d.file))+`}`)
		for range d.IntN(3) {
			rows = append(rows, d.answer(1+d.IntN(3))...)
		}
		rows = append(rows, d.answer(0)...)
	}
	for _, row := range rows {
		m, err := sessionstore.ParseMessage([]byte(row))
		require.NoError(t, err, row)
		msgs = append(msgs, m)
	}
	return msgs
}

// TestStrict makes requests of mended conversations. Servers that keep to the documents of
// the providers refuse none.
func TestStrict(t *testing.T) {
	t.Parallel()
	apis := map[*Format]strict.API{Anthropic: strict.Anthropic, OpenAI: strict.Responses, Gemini: strict.Gemini}
	begin := testenv.Seed(t)
	for seed := begin; seed < begin+testenv.Share[uint64](100, 500, 10_000); seed++ {
		next, err := sessionstore.Text("user", "and now?", noon)
		require.NoError(t, err)
		msgs := append(talk(t, seed), next)
		for _, f := range formats {
			fixed, err := accept.Fix(f.rules, msgs)
			require.NoError(t, err)
			request, _, err := f.Request(fixed.Messages)
			require.NoError(t, err)
			body, err := json.Marshal(map[*Format]object{
				Anthropic: {"model": "m", "max_tokens": 100, "messages": request},
				OpenAI:    {"model": "m", "store": false, "input": request},
				Gemini:    {"contents": request},
			}[f])
			require.NoError(t, err)
			if refused := strict.Judge(apis[f], strict.Limits{NoPrefill: true}, body); len(refused) > 0 {
				require.Empty(t, refused, "seed %d, %s: %s", seed, f.Name, body)
			}
		}
	}
}
