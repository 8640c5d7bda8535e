package accept_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice/accept"
)

// png returns the base64 of a PNG of that width, height, and size in bytes, as far as it says
// so of itself.
func png(w, h, size int) string {
	chunk := func(kind string, content []byte) []byte {
		all := binary.BigEndian.AppendUint32(nil, uint32(len(content)))
		return append(append(append(all, kind...), content...), 0, 0, 0, 0)
	}
	head := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, uint32(w)), uint32(h))
	all := append([]byte("\x89PNG\r\n\x1a\n"), chunk("IHDR", append(head, 8, 2, 0, 0, 0))...)
	all = append(all, chunk("IDAT", make([]byte, max(0, size-len(all)-24)))...)
	return base64.StdEncoding.EncodeToString(append(all, chunk("IEND", nil)...))
}

// gif returns the base64 of a GIF with that many frames of one pixel.
func gif(frames int) string {
	all := "GIF89a\x01\x00\x01\x00\x00\x00\x00" + strings.Repeat("\x2c\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x01\x00\x00", frames) + ";"
	return base64.StdEncoding.EncodeToString([]byte(all))
}

func encoded(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

func image(kind, data string) string {
	return `{"type": "image", "source": {"type": "base64", "media_type": "` + kind + `", "data": "` + data + `"}}`
}

func imageURL(kind, data string) string {
	return `{"type": "image_url", "image_url": {"url": "data:` + kind + `;base64,` + data + `"}}`
}

func inputImage(kind, data string) string {
	return `{"type": "input_image", "image_url": "data:` + kind + `;base64,` + data + `"}`
}

func userOf(blocks ...string) string {
	return `{"role": "user", "content": [` + strings.Join(blocks, ", ") + `]}`
}

const mb = 1 << 20

// fill is as much base64 as n bytes of it hold, in a PNG.
func fill(n int) string { return png(8, 8, n/4*3) }

// TestPictures has pictures that a provider takes, and that it refuses, in each form and place.
func TestPictures(t *testing.T) {
	t.Parallel()
	small, jpeg := png(8, 8, 0), encoded("\xff\xd8\xff\xc2\x00\x11\x08\x00\x08\x00\x08\x03\x01\x22\x00\x02\x11\x01\x03\x11\x01\xff\xda\x00\x02\x00\xff\xd9 and more")
	all := func(why string) map[accept.Provider]string {
		return map[accept.Provider]string{accept.Anthropic: why, accept.OpenAIChat: why, accept.OpenAIResponses: why, accept.Gemini: why}
	}
	openAI := []accept.Provider{accept.OpenAIChat, accept.OpenAIResponses}
	webp := encoded("RIFF\x24\x00\x00\x00WEBPVP8X" + "\x0a\x00\x00\x00\x00\x00\x00\x00\x07\x00\x00\x07\x00\x00" + strings.Repeat("\x00", 20))
	heic := encoded("\x00\x00\x00\x18ftypheic\x00\x00\x00\x00heicmif1\x00\x00\x00\x14ispe\x00\x00\x00\x00\x00\x00\x00\x08\x00\x00\x00\x08")
	large := testenv.Some(t, 1, "image", "image_url", "input_image") // forms of which the large ones are judged
	for _, form := range []struct {
		name  string
		block func(kind, data string) string
	}{{"image", image}, {"image_url", imageURL}, {"input_image", inputImage}} {
		for _, c := range []struct {
			name, kind, data string
			refused          map[accept.Provider]string
		}{
			{"a small one", "image/png", small, nil},
			{"one without padding", "image/png", strings.TrimRight(png(8, 8, 100), "="), nil},
			{"one with escaped slashes", "image/png", strings.ReplaceAll(small, "/", `\/`), nil},
			{"one at the limit of pixels", "image/png", png(8000, 8000, 0), nil},
			{"a wide one", "image/png", png(8001, 8, 0), hasOnly("wide_image@0", anthropic...)},
			{"a high one", "image/png", png(8, 9000, 0), hasOnly("wide_image@0", anthropic...)},
			{"a large one", "image/png", fill(6 * mb), nil},
			{"one at the limit of bytes", "image/png", fill(10*mb - 4), nil},
			{"one beyond it", "image/png", fill(10*mb + 8), hasOnly("large_image@0", anthropic...)},
			{"one with another type", "image/jpeg", small, hasOnly("image_type@0", anthropic...)},
			{"one without a type", "", small, all("image_type@0")},
			{"one that is said to be a file", "application/octet-stream", small, all("image_type@0")},
			{"one with a type in capitals", "image/PNG", small, hasOnly("image_type@0", accept.Anthropic, accept.Gemini)},
			{"a jpg", "image/jpg", jpeg, hasOnly("image_type@0", accept.Anthropic, accept.Gemini)},
			{"one that is said to be a bmp", "image/bmp", small, hasOnly("image_type@0", accept.Anthropic, accept.Gemini)},
			{"a gif", "image/gif", gif(1), nil},
			{"a gif that moves", "image/gif", gif(3), hasOnly("image_not_taken@0", openAI...)},
			{"a webp", "image/webp", webp, nil},
			{"a heic", "image/heic", heic, hasOnly("image_not_taken@0", append(openAI, accept.Anthropic)...)},
			{"an svg", "image/svg+xml", encoded(`<svg xmlns="http://www.w3.org/2000/svg"/>`), all("image_not_taken@0")},
			{"a bmp", "image/bmp", encoded("BM" + strings.Repeat("\x01", 60)), all("image_not_taken@0")},
			{"one that is empty", "image/png", "", all("bad_image@0")},
			{"one that is cut", "image/png", png(8, 8, 3000)[:2000], all("bad_image@0")},
			{"a text", "image/png", encoded("<html>not found</html>"), all("bad_image@0")},
			{"what is not base64", "image/png", "not base64!", all("bad_image@0")},
			{"the URL alphabet", "image/png", strings.NewReplacer("+", "-", "/", "_").Replace(png(0xfbef, 0xbefb, 0)), hasOnly("bad_image@0", anthropic...)},
		} {
			if len(c.data) < mb || slices.Contains(large, form.name) {
				verdict{form.name + ", " + c.name, []string{userOf(form.block(c.kind, c.data))}, c.refused}.run(t)
			}
		}
	}
	moved := image("image/png", "data:image/jpeg;base64,"+small)
	verdict{"a data URL as data", []string{userOf(moved)}, all("bad_image@0")}.run(t)
	for _, block := range []string{
		`{"type": "image", "source": {"type": "url", "url": "https://example.com/a.svg"}}`, `{"type": "image_url", "image_url": {"url": "https://example.com/a.svg"}}`,
		`{"type": "input_image", "file_id": "f"}`, `{"type": "image", "source": {"type": "file", "file_id": "f"}}`,
		`{"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "x"}}`,
	} {
		verdict{"one that is elsewhere: " + block, []string{userOf(block)}, nil}.run(t)
	}
	for _, block := range []string{`{"type": "image"}`, `{"type": "image", "source": {}}`, `{"type": "image_url", "image_url": 5}`, `{"type": "image_url", "image_url": {"url": ""}}`, `{"type": "input_image"}`} {
		verdict{"one without a source: " + block, []string{userOf(block)}, all("bad_image@0")}.run(t)
	}
	for name, block := range map[string]string{
		"with line breaks": image("image/png", small[:20]+`\r\n`+small[20:]), "with escapes": image("image/png", strings.NewReplacer("+", `\u002b`, "/", `\/`).Replace(small)),
		"with an address that is a string": `{"type": "image_url", "image_url": "data:image/png;base64,` + small + `"}`,
		"elsewhere, as a string":           `{"type": "image_url", "image_url": "https://example.com/a.png"}`,
		"in an object of an input":         `{"type": "input_image", "image_url": {"url": "data:image/png;base64,` + small + `"}}`,
	} {
		verdict{"one " + name, []string{userOf(block)}, nil}.run(t)
	}
	verdict{"a URL that does not say base64", []string{userOf(`{"type": "image_url", "image_url": {"url": "data:image/png,` + small + `"}}`)}, all("image_type@0")}.run(t)
	verdict{"a URL that is base64 alone", []string{userOf(`{"type": "image_url", "image_url": {"url": "` + small + `"}}`)}, all("image_type@0")}.run(t)
	verdict{"of the assistant", []string{ask, `{"role": "assistant", "content": [{"type": "text", "text": "See"}, ` + image("image/png", small) + `]}`}, hasOnly("block_of_other_role@1", anthropic...)}.run(t)
	cut := image("image/png", small[:40])
	verdict{"in a document", []string{userOf(`{"type": "document", "source": {"type": "content", "content": [` + cut + `]}}`)}, hasOnly("bad_image@0", anthropic...)}.run(t)
	inObject := []string{ask, using("c1"), userOf(`{"type": "tool_result", "tool_use_id": "c1", "content": ` + cut + `}`), say}
	verdict{"in a result that is an object", inObject, hasOnly("bad_image@2", accept.Anthropic, accept.OpenAIResponses)}.run(t)
	inResult := []string{ask, using("c1"), userOf(`{"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": "t"}, ` + cut + `]}`), say}
	inMessage := []string{ask, calling("c1"), `{"role": "tool", "tool_call_id": "c1", "content": [` + cut + `]}`, say}
	verdict{"in a result", inResult, hasOnly("bad_image@2", accept.Anthropic, accept.OpenAIResponses)}.run(t)
	verdict{"in a message of a tool", inMessage, hasOnly("bad_image@2", accept.Anthropic, accept.OpenAIResponses)}.run(t)
}

// refusals are the refusals by a target, as text.
func refusals(target accept.Target, msgs []sessionstore.Message) string {
	var all []string
	for _, r := range target.Check(msgs) {
		text := fmt.Sprintf("%s@%d", r.Reason, r.Row)
		if r.Disputed {
			text += "?"
		}
		all = append(all, text)
	}
	return strings.Join(all, " ")
}

// many returns a conversation with a picture in each of n turns, and one of another width in
// the last turn.
func many(t *testing.T, n, last int) []sessionstore.Message {
	t.Helper()
	var rows []string
	for i := range n {
		rows = append(rows, userOf(`{"type": "text", "text": "q"}`, image("image/png", png(8+i, 8, 0))), say)
	}
	return parse(t, append(rows, userOf(image("image/png", png(last, 8, 0))))...)
}

// TestTargets has what depends on the host, on the window, and on the conversation as a whole.
func TestTargets(t *testing.T) {
	t.Parallel()
	large := parse(t, userOf(image("image/png", fill(6*mb))))
	require.Equal(t, "large_image@0?", refusals(accept.Target{}, large))
	require.Equal(t, "large_image@0", refusals(accept.Target{Host: accept.Bedrock}, large))
	require.Equal(t, "large_image@0", refusals(accept.Target{Host: accept.GoogleCloud}, large))
	require.Empty(t, refusals(accept.Target{Provider: accept.Gemini}, large))
	seven := image("image/png", fill(5*mb-4))
	three := parse(t, userOf(seven, seven, seven, seven, seven))
	require.NotContains(t, refusals(accept.Target{}, three), "large_request")
	require.Equal(t, "large_request@-1?", refusals(accept.Target{Host: accept.Bedrock}, three))
	require.Empty(t, refusals(accept.Target{Host: accept.GoogleCloud}, three))
	seven = image("image/png", fill(5*mb-4)) + strings.Repeat(", "+image("image/png", fill(5*mb-4)), 6)
	require.Contains(t, refusals(accept.Target{Host: accept.GoogleCloud}, parse(t, userOf(seven))), "large_request@-1")
	rules := accept.PicturesOf(accept.Anthropic, accept.OwnAPI, 0)
	rules.Types[0] = "image/bmp"
	require.NotContains(t, accept.PicturesOf(accept.Anthropic, accept.OwnAPI, 0).Types, "image/bmp", "each caller has rules of its own")
	larger := parse(t, userOf(image("image/png", fill(8*mb))))
	require.Equal(t, "large_image@0?", refusals(accept.Target{Provider: accept.Gemini, Host: accept.GoogleCloud}, larger))
	require.Equal(t, "image_not_taken@0?", refusals(accept.Target{Provider: accept.Gemini}, parse(t, userOf(image("image/gif", gif(1))))))

	require.Empty(t, refusals(accept.Target{}, many(t, 19, 2001)), "twenty")
	require.Equal(t, "wide_image@40", refusals(accept.Target{}, many(t, 20, 2001)), "twenty-one")
	require.Empty(t, refusals(accept.Target{}, many(t, 20, 2000)))
	require.Empty(t, refusals(accept.Target{Provider: accept.OpenAIChat}, many(t, 20, 9000)))
	documents := append(many(t, 19, 2001), parse(t, say, userOf(`{"type": "document", "source": {"type": "text", "data": "x"}}`))...)
	require.Equal(t, "wide_image@38", refusals(accept.Target{}, documents), "documents count")

	require.Empty(t, refusals(accept.Target{}, many(t, 99, 8)))
	require.Equal(t, "too_many_images@-1?", refusals(accept.Target{}, many(t, 100, 8)))
	require.Equal(t, "too_many_images@-1", refusals(accept.Target{Window: 200_000}, many(t, 100, 8)))
	require.Empty(t, refusals(accept.Target{Window: 1_000_000}, many(t, 599, 8)))
	require.Equal(t, "too_many_images@-1", refusals(accept.Target{Window: 1_000_000}, many(t, 600, 8)))
	require.Equal(t, "too_many_images@-1", refusals(accept.Target{Provider: accept.OpenAIResponses}, many(t, 1500, 8)))

	four := parse(t, userOf(image("image/png", fill(9*mb))), say, userOf(image("image/png", fill(9*mb)), image("image/png", fill(9*mb)), image("image/png", fill(6*mb))))
	require.Contains(t, refusals(accept.Target{}, four), "large_request@-1 ")
	require.Equal(t, "large_request@-1?", refusals(accept.Target{Provider: accept.Gemini}, four))
	require.Empty(t, refusals(accept.Target{Provider: accept.OpenAIChat}, four))

	words := parse(t, userOf(`{"type": "text", "text": "`+strings.Repeat("words ", 1000)+`"}`, image("image/png", fill(mb))))
	require.Equal(t, "long_conversation@-1?", refusals(accept.Target{Window: 500}, words))
	require.Empty(t, refusals(accept.Target{Window: 5000}, words))

	own := accept.PicturesOf(accept.Anthropic, accept.OwnAPI, 0)
	own.Side.Certain = 4
	require.Equal(t, "wide_image@0", refusals(accept.Target{Pictures: &own}, parse(t, userOf(image("image/png", png(5, 1, 0))))))
	own = accept.Pictures{Side: accept.Limit{Certain: 4}}
	require.Equal(t, "wide_image@0", refusals(accept.Target{Pictures: &own}, parse(t, userOf(image("", png(5, 1, 0)), image("image/png", "%%")))), "types are not judged, sizes are")
	require.Equal(t, "image_type@0 image_not_taken@0?", refusals(accept.Target{Provider: accept.Gemini}, parse(t, userOf(image("", gif(1))))), "what is certain goes before what is disputed")
	require.Equal(t, "unknown_provider@-1", refusals(accept.Target{Provider: 9}, large))
}

const (
	badOut     = `{"type": "text", "text": "(An image was left out: it is damaged, or of a kind that the model does not take.)"}`
	largeOut   = `{"type": "text", "text": "(An image was left out: it is larger than the model takes.)"}`
	surplusOut = `{"type": "text", "text": "(An image was left out: there were more than the model takes.)"}`
)

// TestFixPictures has the smallest change for each fault of a picture alone.
func TestFixPictures(t *testing.T) {
	t.Parallel()
	small := png(8, 8, 0)
	odd := png(0xfbef, 0xbefb, 0)
	require.True(t, strings.ContainsAny(odd, "+/"))
	url := strings.NewReplacer("+", "-", "/", "_").Replace(odd)
	own := accept.PicturesOf(accept.Anthropic, accept.OwnAPI, 0)
	own.Side, own.ManySide = accept.Limit{}, accept.Limit{}
	for _, c := range []struct{ name, was, is string }{
		{"the type", image("image/jpeg", small), image("image/png", small)},
		{"the type of a URL", imageURL("image/jpeg", small), imageURL("image/png", small)},
		{"the type of input", inputImage("", small), inputImage("image/png", small)},
		{"a type that is missing", `{"type": "image", "source": {"data": "` + small + `"}}`, `{"type": "image", "source": {"data": "` + small + `", "media_type": "image/png"}}`},
		{"a data URL as data", image("image/gif", "data:image/jpeg;base64,"+small), image("image/png", small)},
		{"the URL alphabet", image("image/png", url), image("image/png", odd)},
		{"the type of one with line breaks", image("image/jpeg", small[:20]+`\n`+small[20:]), image("image/png", small[:20]+`\n`+small[20:])},
		{"the type of a URL with line breaks", imageURL("image/jpeg", small[:20]+`\n`+small[20:]), imageURL("image/png", small[:20]+`\n`+small[20:])},
		{"base64 as a URL", `{"type": "image_url", "image_url": {"url": "` + small + `", "detail": "low"}}`, `{"type": "image_url", "image_url": {"url": "data:image/png;base64,` + small + `", "detail": "low"}}`},
		{"a URL with parameters", `{"type": "image_url", "image_url": "data: image/PNG; charset=binary;base64, ` + small + `"}`, `{"type": "image_url", "image_url": "data:image/png;base64, ` + small + `"}`},
		{"one as MCP has it", `{"type": "image", "data": "` + small + `", "mimeType": "image/jpeg"}`, image("image/png", small)},
		{"a cut one as MCP has it", `{"type": "image", "data": "` + small[:40] + `", "mimeType": "image/png"}`, badOut},
		{"one in a document", `{"type": "document", "source": {"type": "content", "content": [` + image("image/jpeg", small) + `, ` + image("image/png", "") + `]}}`, `{"type": "document", "source": {"type": "content", "content": [` + image("image/png", small) + `, ` + badOut + `]}}`},
		{"an empty one", image("image/png", ""), badOut},
		{"one that is cut", image("image/png", png(8, 8, 300)[:200]), badOut},
		{"a cut one in a data URL as data", image("image/png", "data:image/png;base64,"+png(8, 8, 300)[:200]), badOut},
		{"an svg", imageURL("image/svg+xml", encoded("<svg/>")), badOut},
		{"a large one", image("image/png", fill(11*mb)), largeOut},
	} {
		msgs := parse(t, userOf(`{"type": "text", "text": "See"}`, c.was), say, ask)
		fixed, err := accept.Target{Pictures: &own}.Fix(msgs)
		require.NoError(t, err, c.name)
		require.Equal(t, userOf(`{"type": "text", "text": "See"}`, c.is), lines(fixed.Messages)[0], c.name)
		require.Len(t, fixed.Amendments, 1)
	}
	fixed := mend(t, accept.Anthropic, parse(t, userOf(image("image/png", png(9000, 8, 0)))))
	require.Equal(t, []string{userOf(largeOut)}, lines(fixed.Messages))
	fixed = mend(t, accept.Anthropic, parse(t, ask, `{"role": "assistant", "content": [`+image("image/png", small)+`]}`))
	require.Equal(t, `{"role": "assistant", "content": [`+badOut+`]}`, lines(fixed.Messages)[1])
}

// TestFixAmounts takes out the oldest pictures, and none of the last turn.
func TestFixAmounts(t *testing.T) {
	t.Parallel()
	left := func(target accept.Target, msgs []sessionstore.Message) string {
		fixed, err := target.Fix(msgs)
		require.NoError(t, err)
		var all strings.Builder
		for _, m := range fixed.Messages {
			line := string(m.AppendTo(nil))
			all.WriteString(strings.Repeat("x", strings.Count(line, surplusOut)+strings.Count(line, largeOut)))
			all.WriteString(strings.Repeat("p", strings.Count(line, `"image"`)))
		}
		return all.String()
	}
	ps := func(n int) string { return strings.Repeat("p", n) }
	require.Equal(t, "xx"+ps(100), left(accept.Target{Window: 200_000}, many(t, 101, 8)))
	require.Equal(t, "xxx"+ps(20), left(accept.Target{}, many(t, 22, 2001)), "the wide one is of the last turn")
	wide := append(many(t, 3, 8), append(parse(t, say, userOf(image("image/png", png(2001, 8, 0))), say), many(t, 21, 8)...)...)
	require.Equal(t, ps(4)+"x"+ps(22), left(accept.Target{}, wide), "to take the wide one out is less")

	row := func(n int) string { return userOf(image("image/png", fill(n*1024))) }
	sum := parse(t, row(9), say, row(1), say, row(9), say, row(9), say, row(9))
	rules := accept.Pictures{Types: []string{"image/png"}, Request: accept.Limit{Certain: 32 << 10}}
	require.Equal(t, "xpppp", left(accept.Target{Pictures: &rules}, sum))
	elsewhere := userOf(`{"type": "image", "source": {"type": "url", "url": "u"}}`)
	rules.Request.Certain = 20 << 10
	require.Equal(t, "xpxpp", left(accept.Target{Pictures: &rules}, parse(t, row(9), say, elsewhere, say, row(9), say, row(9), say, row(9))))

	inTurn := parse(t, userOf(image("image/png", fill(9<<10))), using("c1"), userOf(`{"type": "tool_result", "tool_use_id": "c1", "content": [`+image("image/png", fill(9<<10))+`]}`, `{"type": "text", "text": "and this?"}`, image("image/png", fill(9<<10))), say)
	rules = accept.Pictures{Types: []string{"image/png"}, Number: accept.Limit{Certain: 2}, InResults: true}
	_, err := accept.Target{Pictures: &rules}.Fix(inTurn)
	require.ErrorContains(t, err, "too many", "a text beside a result begins no turn")
	far := parse(t, userOf(`{"type": "image", "source": {"type": "url", "url": "u"}}`), say, userOf(image("image/png", fill(64))), say, userOf(image("image/png", fill(64))))
	rules = accept.Pictures{Types: []string{"image/png"}, Number: accept.Limit{Certain: 1}}
	require.Equal(t, "xxp", left(accept.Target{Pictures: &rules}, far), "one that is elsewhere is taken out, too")
	stray := parse(t, userOf(image("image/png", fill(64))), say, userOf(`{"type": "tool_result", "tool_use_id": "c9", "content": [`+image("image/png", fill(64))+`]}`), ask)
	rules.InResults = true
	require.Equal(t, "p", left(accept.Target{Pictures: &rules}, stray), "what goes anyway does not count")
	rules = accept.Pictures{Types: []string{"image/png"}, Request: accept.Limit{Certain: 20 << 10}}

	_, err = accept.Target{Pictures: &rules}.Fix(parse(t, userOf(image("image/png", fill(9<<10)), image("image/png", fill(9<<10)), image("image/png", fill(9<<10)))))
	require.ErrorContains(t, err, "too large", "of the last turn nothing is taken out")
}

// TestScale gives pictures to a scaler, and leaves out what it cannot do.
func TestScale(t *testing.T) {
	t.Parallel()
	var wanted []accept.Wanted
	scale := func(raw []byte, want accept.Wanted) ([]byte, string, error) {
		wanted = append(wanted, want)
		if bytes.HasPrefix(raw, []byte("GIF")) {
			return nil, "", errors.New("not today")
		}
		side := want.Side
		if binary.BigEndian.Uint32(raw[16:]) == 9999 {
			side++ // a scaler that does not do what it should
		}
		made, err := base64.StdEncoding.DecodeString(png(side, side, 0))
		return made, "image/png", err
	}
	target := accept.Target{Scale: scale}
	fixed, err := target.Fix(parse(t, userOf(image("image/png", png(9000, 8, 0)), imageURL("image/png", png(9999, 8, 0)))))
	require.NoError(t, err)
	require.Equal(t, []string{userOf(image("image/png", png(8000, 8000, 0)), largeOut)}, lines(fixed.Messages))
	require.Equal(t, []string{"image/jpeg", "image/png", "image/gif", "image/webp"}, wanted[0].Types)
	require.Equal(t, 8000, wanted[0].Side)
	require.Equal(t, 10*mb/4*3, wanted[0].Bytes)

	fixed, err = target.Fix(append(many(t, 20, 2500), parse(t, say, ask)...))
	require.NoError(t, err)
	require.Equal(t, userOf(image("image/png", png(2000, 2000, 0))), lines(fixed.Messages)[40])
	require.Len(t, fixed.Amendments, 1)

	never := accept.Target{Scale: func([]byte, accept.Wanted) ([]byte, string, error) { return nil, "", errors.New("never") }}
	fixed, err = never.Fix(many(t, 20, 2500))
	require.NoError(t, err)
	require.Equal(t, userOf(image("image/png", png(2500, 8, 0))), lines(fixed.Messages)[40], "of the last turn nothing is taken out")
	require.Equal(t, userOf(`{"type": "text", "text": "q"}`, surplusOut), lines(fixed.Messages)[0])

	moving := accept.Target{Provider: accept.OpenAIChat, Scale: scale}
	fixed, err = moving.Fix(parse(t, userOf(image("image/gif", gif(2)))))
	require.NoError(t, err)
	require.Equal(t, []string{userOf(badOut)}, lines(fixed.Messages))
}

// TestMendAnyPictures mends random conversations with pictures of all kinds for random targets.
func TestMendAnyPictures(t *testing.T) {
	t.Parallel()
	begin := testenv.Seed(t)
	for seed := begin; seed < begin+testenv.Share[uint64](100, 300, 5000); seed++ {
		r := rand.New(rand.NewPCG(seed, 7))
		data := []string{png(8, 8, 0), png(2500, 30, 0), png(9000, 30, 0), png(8, 8, 60)[:70], "", "%%", gif(1), gif(2), encoded("<svg/>"), "data:image/png;base64," + png(8, 8, 0), png(8, 8, 0) + `\n`}
		forms := []func(kind, data string) string{image, imageURL, inputImage, func(kind, data string) string {
			return `{"type": "image", "data": "` + data + `", "mimeType": "` + kind + `"}`
		}, func(kind, data string) string {
			return `{"type": "image_url", "image_url": "data:` + kind + `,` + data + `"}`
		}, func(string, string) string {
			return `{"type": "image", "source": {"type": "url", "url": "u"}}`
		}, func(kind, data string) string {
			return `{"type": "document", "source": {"type": "content", "content": [` + image(kind, data) + `]}}`
		}}
		kinds := []string{"image/png", "image/gif", "image/jpeg", ""}
		var rows []string
		for range r.IntN(30) {
			var blocks []string
			for range 1 + r.IntN(3) {
				block := forms[r.IntN(len(forms))](kinds[r.IntN(4)], data[r.IntN(len(data))])
				if r.IntN(4) == 0 {
					block = `{"type": "document", "source": {"type": "text", "data": "x"}}`
				}
				blocks = append(blocks, fmt.Sprintf(`{"type": "text", "text": "text %d of %d"}`, len(blocks), len(rows)), block)
			}
			rows = append(rows, userOf(blocks...), say)
		}
		msgs := parse(t, append(rows, ask)...)
		rules := accept.PicturesOf(accept.Provider(r.IntN(4)), accept.OwnAPI, 0)
		rules.Number, rules.Request, rules.Many = accept.Limit{Certain: 5 + r.IntN(40)}, accept.Limit{Certain: 2000 + r.IntN(4000)}, r.IntN(20)
		target := accept.Target{Provider: accept.Provider(r.IntN(4)), Pictures: &rules}
		fixed, err := target.Fix(msgs)
		if err != nil { // documents are not taken out, and texts not
			require.Regexp(t, "too many|too large|too wide", err.Error(), "seed %d", seed)
			continue
		}
		texts := regexp.MustCompile(`"text [^"]*"`)
		require.Equal(t, texts.FindAllString(strings.Join(rows, ""), -1), texts.FindAllString(strings.Join(lines(fixed.Messages), ""), -1))
		for _, left := range target.Check(fixed.Messages) {
			require.True(t, left.Disputed, "seed %d: %s", seed, left)
		}
		again, err := target.Fix(fixed.Messages)
		require.NoError(t, err)
		require.Empty(t, again.Amendments, "seed %d", seed)
	}
}
