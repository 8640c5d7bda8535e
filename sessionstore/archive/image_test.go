package archive_test

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive"
)

// TestImages writes a session with images: the page holds them, Markdown has them beside
// it, and a stream of Markdown names them.
func TestImages(t *testing.T) {
	t.Parallel()
	st, err := sessionstore.Open(t.TempDir(), nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, st.Close()) })
	var picture bytes.Buffer
	require.NoError(t, png.Encode(&picture, image.NewGray(image.Rect(0, 0, 1200, 800))))
	data := base64.StdEncoding.EncodeToString(picture.Bytes())
	const id = "5f0c9a61-2d0b-4f53-8a55-6b0a10f7c001"
	for _, line := range []string{
		`{"role": "user", "content": [{"type": "text", "text": "look"}, {"type": "image", "source": {"type": "base64", "media_type": "text/html", "data": "` + data + `"}}, {"type": "image", "source": {"type": "base64", "media_type": "image/svg+xml", "data": "PHN2Zz4="}}]}`,
		`{"role": "assistant", "content": "", "tool_calls": [{"id": "c", "tool": "shot", "arguments": {}}]}`,
		`{"role": "tool", "tool_call_id": "c", "content": [{"type": "image", "data": "` + data + `"}]}`,
	} {
		m, err := sessionstore.ParseMessage([]byte(line))
		require.NoError(t, err)
		require.NoError(t, st.Append(t.Context(), id, m))
	}
	write := func(f archive.Format) string {
		var out strings.Builder
		require.NoError(t, archive.Write(t.Context(), &out, st, []string{id}, &archive.WriteOptions{Format: f}))
		return out.String()
	}
	page := write(archive.HTML)
	require.Equal(t, 2, strings.Count(page, `<p class="file"><img src="data:image/png;base64,`+strings.ReplaceAll(data, "+", "&#43;")+`" width="1200" height="800" alt="image 1,200 × 800"></p>`))
	require.Contains(t, page, `<p class="file">[image image/svg&#43;xml, 5 B]</p>`)
	require.Contains(t, page, "img-src data:")
	require.NotContains(t, page, "text/html;base64")

	text := write(archive.Markdown)
	require.Equal(t, 2, strings.Count(text, "\n\\[image 1,200 × 800\\]\n"), text)
	require.NotContains(t, text, data[:20])

	name := filepath.Join(t.TempDir(), "our talk.md")
	require.NoError(t, archive.WriteFile(t.Context(), name, st, []string{id}, &archive.WriteOptions{Format: archive.Markdown}))
	written, err := os.ReadFile(name)
	require.NoError(t, err)
	folder := filepath.Join(filepath.Dir(name), "our talk.images")
	for _, base := range []string{"message-1-1.png", "message-3-1.png"} {
		require.Contains(t, string(written), "\n![image 1,200 × 800](<our%20talk.images/"+base+">)\n")
		got, err := os.ReadFile(filepath.Join(folder, base))
		require.NoError(t, err)
		require.Equal(t, picture.Bytes(), got)
	}
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	require.Len(t, entries, 2)
}
