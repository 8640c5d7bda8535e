package conversation

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// pictureOf returns the base64 of an image.
func pictureOf(t *testing.T, format string, width, height int) string {
	t.Helper()
	var out bytes.Buffer
	img := image.NewGray(image.Rect(0, 0, width, height))
	switch format {
	case "png":
		require.NoError(t, png.Encode(&out, img))
	case "jpeg":
		require.NoError(t, jpeg.Encode(&out, img, nil))
	case "gif":
		require.NoError(t, gif.Encode(&out, img, nil))
	}
	return base64.StdEncoding.EncodeToString(out.Bytes())
}

// webps are the heads of files of the three kinds, of 1,200 × 800.
var webps = []string{
	"RIFF\x00\x00\x00\x00WEBPVP8 \x00\x00\x00\x00\x00\x00\x00\x9d\x01\x2a\xb0\x04\x20\x03",
	"RIFF\x00\x00\x00\x00WEBPVP8L\x00\x00\x00\x00\x2f\xaf\xc4\xc7\x00\x00\x00\x00\x00\x00",
	"RIFF\x00\x00\x00\x00WEBPVP8X\x00\x00\x00\x00\x00\x00\x00\x00\xaf\x04\x00\x1f\x03\x00",
}

// TestFiles reads the forms that the APIs of models and MCP have for files.
func TestFiles(t *testing.T) {
	t.Parallel()
	wide, small := pictureOf(t, "png", 1200, 800), pictureOf(t, "jpeg", 3, 2)
	type expected struct {
		label, name, media string
		image              bool
	}
	for block, want := range map[string]expected{
		`{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "` + wide + `"}}`:                                            {"image 1,200 × 800", "", "image/png", true},
		`{"type": "image", "source": {"type": "base64", "media_type": "text/html", "data": "` + small + `"}}`:                                           {"image 3 × 2", "", "image/jpeg", true},
		`{"type": "image_url", "image_url": {"url": "data:image/svg+xml;base64,` + strings.ReplaceAll(small, "/", `\/`) + `"}}`:                         {"image 3 × 2", "", "image/jpeg", true},
		`{"type": "input_image", "image_url": "data:image/png;base64,` + wide + `"}`:                                                                    {"image 1,200 × 800", "", "image/png", true},
		`{"type": "image", "data": "` + pictureOf(t, "gif", 5, 4) + `", "mimeType": "image/gif"}`:                                                       {"image 5 × 4", "", "image/gif", true},
		`{"inlineData": {"mimeType": "image/png", "data": "` + wide + `"}}`:                                                                             {"image 1,200 × 800", "", "image/png", true},
		`{"type": "image", "source": {"type": "base64", "media_type": "image/svg+xml", "data": "PHN2Zz4="}}`:                                            {"image image/svg+xml, 5 B", "", "image/svg+xml", false},
		`{"type": "image", "source": {"type": "url", "url": "https://example.org/cat.png"}}`:                                                            {"image at https://example.org/cat.png", "", "", false},
		`{"type": "image_url", "image_url": {"url": "https://example.org/cat.png"}}`:                                                                    {"image at https://example.org/cat.png", "", "", false},
		`{"type": "document", "title": "report.pdf", "source": {"type": "base64", "media_type": "application/pdf", "data": "` + wide[:2000] + `"}}`:     {"document report.pdf, 1.5 kB", "report.pdf", "application/pdf", true},
		`{"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "hello"}}`:                                                 {"document text/plain, 5 B", "", "text/plain", false},
		`{"type": "file", "file": {"filename": "a.bin", "file_data": "data:application/x;base64,AAAA"}}`:                                                {"file a.bin, 3 B", "a.bin", "application/x", false},
		`{"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}}`:                                                                     {"sound, 3 B", "", "", false},
		`{"type": "resource", "resource": {"uri": "file:///x.bin", "mimeType": "application/x", "blob": "AAAA"}}`:                                       {"file application/x, 3 B", "", "application/x", false},
		`{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "!!!!"}}`:                                                    {"image image/png, 3 B", "", "image/png", false},
		`{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "` + wide[:48] + `"}}`:                                       {"image 1,200 × 800", "", "image/png", true},
		`{"type": "image", "source": {"type": "base64", "data": "` + base64.StdEncoding.EncodeToString([]byte("\x89PNG\r\n\x1a\nIHDR nothing")) + `"}}`: {"image, 20 B", "", "", false},
	} {
		c := parse(t, `{"role": "user", "content": [{"type": "text", "text": "look"}, `+block+`]}`)
		m := c.Messages(0, 1, brief)[0]
		require.Equal(t, "look", m.Text.Text, block)
		require.Len(t, m.Files, 1, block)
		f := m.Files[0]
		if want.name == "report.pdf" { // an image under another name is an image
			require.True(t, f.Image)
			require.Equal(t, "report.pdf", f.Name)
			continue
		}
		require.Equal(t, want, expected{f.Label, f.Name, f.Media, f.Image}, block)
	}
	for _, head := range webps {
		c := parse(t, `{"role": "user", "content": [{"type": "image", "data": "`+base64.StdEncoding.EncodeToString([]byte(head))+`"}]}`)
		m := c.Messages(0, 1, brief)[0]
		require.Nil(t, m.Text)
		require.Equal(t, "image 1,200 × 800", m.Files[0].Label)
		require.Equal(t, "image/webp", m.Files[0].Media)
		data, err := m.Files[0].Data()
		require.NoError(t, err)
		require.Equal(t, head, string(data))
	}
	raw := "GIF89a\x01\x00\x01\x00" + strings.Repeat("\xff\xfb\xf0", 20)
	text := base64.URLEncoding.EncodeToString([]byte(raw))
	for name, text := range map[string]string{"of the URL alphabet": text, "with white space": strings.NewReplacer("-", "+", "_", "/").Replace(text[:8] + " " + text[8:] + `\t`)} {
		f := Files(parse(t, `{"role": "user", "content": [{"type": "image", "data": "`+text+`"}]}`).msgs[0])[0]
		require.True(t, f.Image, name)
		data, err := f.Data()
		require.NoError(t, err, name)
		require.Equal(t, raw, string(data), name)
	}
	broken := Files(parse(t, `{"role": "user", "content": [{"type": "image", "data": "`+pictureOf(t, "png", 1200, 800)+`*"}]}`).msgs[0])[0]
	require.False(t, broken.Image, "no program can show it")
	_, err := broken.Data()
	require.EqualError(t, err, "file 1 of message 1: it is not base64")
}

// TestFilesOfResults are with the calls, under the message that holds them.
func TestFilesOfResults(t *testing.T) {
	t.Parallel()
	img := func(width int) string {
		return fmt.Sprintf(`{"type": "image", "data": "%s"}`, pictureOf(t, "png", width, 1))
	}
	c := parse(t, user, callAB,
		`{"role": "tool", "tool_call_id": "a", "content": [`+img(1)+`]}`,
		`{"role": "user", "content": [`+img(2)+`, {"type": "tool_result", "tool_use_id": "b", "content": [{"type": "text", "text": "B"}, `+img(3)+`]}, `+img(4)+`]}`)
	all := c.Messages(0, c.Len(), brief)
	a, b := all[1].Calls[0].Result, all[1].Calls[1].Result
	require.Empty(t, a.Text.Text, "no base64")
	require.Equal(t, []int{2, 0, 1}, []int{a.Files[0].N, a.Files[0].I, a.Files[0].Width})
	require.Equal(t, "B", b.Text.Text)
	require.Equal(t, []int{3, 1, 3}, []int{b.Files[0].N, b.Files[0].I, b.Files[0].Width})
	require.True(t, all[2].Elsewhere)
	require.False(t, all[3].Elsewhere)
	require.Len(t, all[3].Files, 2)
	require.Equal(t, []int{2, 4}, []int{all[3].Files[0].Width, all[3].Files[1].Width})
	require.Equal(t, []int{0, 2}, []int{all[3].Files[0].I, all[3].Files[1].I})
}

// TestLargeImages are named and not shown.
func TestLargeImages(t *testing.T) {
	t.Parallel()
	head, err := base64.StdEncoding.DecodeString(pictureOf(t, "gif", 1, 1))
	require.NoError(t, err)
	copy(head[6:10], "\xff\xff\xff\xff") // of 65,535 × 65,535
	for data, label := range map[string]string{
		base64.StdEncoding.EncodeToString(head): fmt.Sprintf("image image/gif, 65,535 × 65,535, %d B", len(head)),
		pictureOf(t, "png", 1, 1) + "":          "image 1 × 1",
	} {
		f := Files(parse(t, `{"role": "user", "content": [{"type": "image", "data": "`+data+`"}]}`).msgs[0])[0]
		require.Equal(t, label, f.Label)
		require.Equal(t, label == "image 1 × 1", f.Image)
	}
	large := pictureOf(t, "png", 1, 1)
	large = strings.TrimRight(large, "=") + strings.Repeat("A", 23<<20)
	f := Files(parse(t, `{"role": "user", "content": [{"type": "image", "data": "`+large+`"}]}`).msgs[0])[0]
	require.False(t, f.Image)
	require.Equal(t, "image image/png, 1 × 1, 18.1 MB", f.Label)
}

// TestFilesOfManyResults shows a message with many results, as of calls at once: each of its
// files is looked at once, and not once for each result.
func TestFilesOfManyResults(t *testing.T) {
	const n = 100
	var calls, results []string
	for i := range n {
		calls = append(calls, fmt.Sprintf(`{"type": "tool_use", "id": "c%d", "name": "shot", "input": {}}`, i))
		results = append(results, fmt.Sprintf(`{"type": "tool_result", "tool_use_id": "c%d", "content": [{"type": "image", "data": "AAAA"}]}`, i))
	}
	var rows []sessionstore.Message
	for _, line := range []string{
		`{"role": "assistant", "content": [` + strings.Join(calls, ", ") + `]}`,
		`{"role": "user", "content": [` + strings.Join(results, ", ") + `]}`,
	} {
		m, err := sessionstore.ParseMessage([]byte(line))
		require.NoError(t, err)
		rows = append(rows, m)
	}
	view, err := New(rows)
	require.NoError(t, err)
	shown := view.Messages(0, 2, Limits{})[0].Calls
	require.Len(t, shown, n)
	for i, c := range shown {
		require.Len(t, c.Result.Files, 1)
		require.Equal(t, i, c.Result.Files[0].I)
	}
	require.Less(t, testing.AllocsPerRun(1, func() { view.Messages(0, 2, Limits{}) }), float64(100*n))
}
