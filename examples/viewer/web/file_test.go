package web

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/png"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// picture returns a PNG, also as base64.
func picture(t *testing.T, width, height int) (data []byte, text string) {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, png.Encode(&out, image.NewGray(image.Rect(0, 0, width, height))))
	return out.Bytes(), base64.StdEncoding.EncodeToString(out.Bytes())
}

// block returns a block of content that says it is an image of that type.
func imageBlock(media, data string) map[string]any {
	return map[string]any{"type": "image", "source": map[string]any{"type": "base64", "media_type": media, "data": data}}
}

// TestImages asks for the images of prompts and results, in a short transcript and in one
// of which parts are read.
func TestImages(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	data, text := picture(t, 12, 8)
	page := `<script>alert(1)</script><svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`
	msgs := []map[string]any{
		{"role": "user", "content": []any{map[string]any{"type": "text", "text": "look"}, imageBlock("text/html", text), imageBlock("image/svg+xml", base64.StdEncoding.EncodeToString([]byte(page)))}},
		{"role": "assistant", "content": "", "tool_calls": []any{map[string]any{"id": "c", "tool": "shot", "arguments": map[string]any{}}}},
		{"role": "tool", "tool_call_id": "c", "content": []any{map[string]any{"type": "image", "data": text, "mimeType": "image/png"}}},
	}
	s.create(one, nil, msgs...)
	s.create(two, nil)
	var long []map[string]any
	for range 40 {
		long = append(long, user(strings.Repeat("x", longFrom/30)))
	}
	s.add(two, append(long, msgs...)...)
	for id, first := range map[string]int{one: 0, two: 40} {
		var list messageList
		s.json(fmt.Sprintf("%s/messages?from=%d&to=%d", api(id), first, first+3), &list)
		require.Equal(t, "look", list.Rows[0].Text.Text)
		require.Len(t, list.Rows[0].Files, 2)
		f := list.Rows[0].Files[0]
		require.Equal(t, []any{first, 0, true, "image 12 × 8"}, []any{f.N, f.I, f.Image, f.Label})
		require.False(t, list.Rows[0].Files[1].Image)
		require.Contains(t, list.Rows[0].Files[1].Label, "image image/svg+xml, ")
		res := list.Rows[1].Calls[0].Result
		require.Empty(t, res.Text.Text)
		require.Equal(t, []int{first + 2, 0}, []int{res.Files[0].N, res.Files[0].I})

		for _, n := range []int{first, first + 2} {
			answer, body := s.send("GET", fmt.Sprintf("%s/messages/%d/files/0", api(id), n))
			require.Equal(t, http.StatusOK, answer.StatusCode)
			require.Equal(t, string(data), body)
			require.Equal(t, "image/png", answer.Header.Get("Content-Type"), "by its bytes")
			require.Equal(t, "nosniff", answer.Header.Get("X-Content-Type-Options"))
			require.Equal(t, filePolicy, answer.Header.Get("Content-Security-Policy"))
			require.Equal(t, fmt.Sprintf(`inline; filename=message-%d-1.png`, n+1), answer.Header.Get("Content-Disposition"))
		}
		for _, path := range []string{"0/files/1", "0/files/2", "0/files/-1", "0/files/x", "1/files/0", "99/files/0"} {
			answer, body := s.send("GET", api(id)+"/messages/"+path)
			require.NotContains(t, body, "<script")
			require.Equal(t, http.StatusNotFound, answer.StatusCode, path)
		}
	}
}
