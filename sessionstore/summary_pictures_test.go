package sessionstore_test

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/png"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSummaryOfPictures: the index knows how many pictures a session has, the largest side of
// them, how many are damaged, and how many results are of no call, in each form that a message may
// have. It takes what is new as messages are appended, and what the backup has.
func TestSummaryOfPictures(t *testing.T) {
	t.Parallel()
	of := func(width, height int) string {
		var b bytes.Buffer
		require.NoError(t, png.Encode(&b, image.NewGray(image.Rect(0, 0, width, height))))
		return base64.StdEncoding.EncodeToString(b.Bytes())
	}
	source := func(data string) string {
		return `{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "` + data + `"}}`
	}
	said := func(role string, blocks ...string) string {
		return `{"role": "` + role + `", "content": [` + strings.Join(blocks, ", ") + "]}\n"
	}
	result := func(id, content string) string {
		return `{"type": "tool_result", "tool_use_id": "` + id + `", "content": ` + content + `}`
	}
	use := `{"type": "tool_use", "id": "a", "name": "f", "input": {}}`
	rows := []struct {
		row                     string
		refused, pictures, side int
	}{
		{said("user", source(of(10, 20))), 0, 1, 20},
		{said("user", source("bm8gcGljdHVyZQ=="), source("%%")), 2, 3, 20},
		{said("user", `{"type": "image_url", "image_url": {"url": "data:image/png;base64,`+of(30, 1)+`"}}`), 2, 4, 30},
		{said("user", `{"type": "input_image", "image_url": "data:image/png;base64,`+of(1, 40)+`"}`), 2, 5, 40},
		{said("user", `{"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}`, `{"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}}`), 2, 5, 40},
		{said("assistant", use), 2, 5, 40},
		{said("user", result("a", "["+source(of(50, 50))+"]"), result("b", `"x"`)), 3, 6, 50},
		{`{"role": "tool", "tool_call_id": "z", "content": "x"}` + "\n", 4, 6, 50},
		{said("assistant", source("%%"), use) + said("system", source("%%")) + said("user", result("a", "["+result("n", "["+source("%%")+"]")+"]")), 4, 6, 50}, // no provider looks at them
		{said("user", `{"type": "image_url", "image_url": {"url": "data:image/png;name=`+strings.Repeat("n", 80)+`;base64,`+of(60, 1)+`"}}`), 4, 7, 60},
	}
	dir := t.TempDir()
	text := ""
	for n, tt := range rows {
		text += tt.row
		for _, before := range []string{"", user(strings.Repeat("long ", 30_000)) + "\n"} { // a large transcript has an index of its own
			id := "small"
			if before != "" {
				id = "large"
			}
			write(t, before+text, dir, id, transcriptFile)
			for range 2 {
				sum, err := open(t, dir, nil).Summary(t.Context(), id)
				require.NoError(t, err)
				require.Equal(t, []int{tt.refused, tt.pictures, tt.side}, []int{sum.Refused, sum.Pictures, sum.Side}, "%s %d", id, n)
			}
		}
	}
	write(t, text, dir, "small", transcriptFile+".backup")
	write(t, "{", dir, "small", transcriptFile)
	sum, err := open(t, dir, nil).Summary(t.Context(), "small")
	require.NoError(t, err)
	require.Equal(t, []int{4, 7, 60}, []int{sum.Refused, sum.Pictures, sum.Side}, "of the backup")
}
