package browsertest

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	cdp "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// pictured is a session with images.
const pictured = "5f0c9a61-2d0b-4f53-8a55-6b0a10f7c009"

// chart returns an image as base64.
func chart(t *testing.T, width, height int) string {
	t.Helper()
	img := image.NewRGBA(image.Rect(0, 0, width, height))
	for x := range width {
		for y := range height {
			line := float64(height)/2 - float64(height)/3*math.Sin(float64(x)/float64(width)*9)
			c := color.RGBA{240, 244, 250, 255}
			if math.Abs(float64(y)-line) < float64(height)/60+1 {
				c = color.RGBA{40, 90, 200, 255}
			}
			img.Set(x, y, c)
		}
	}
	var out bytes.Buffer
	require.NoError(t, png.Encode(&out, img))
	return base64.StdEncoding.EncodeToString(out.Bytes())
}

// pictures makes a session with images in a prompt and in a result, and files that are no
// images.
func (s *sample) pictures() {
	s.create(pictured, map[string]any{"name": "The curve of this winter"})
	block := func(media, data string) map[string]any {
		return map[string]any{"type": "image", "source": map[string]any{"type": "base64", "media_type": media, "data": data}}
	}
	hostile := base64.StdEncoding.EncodeToString([]byte(`<svg xmlns="http://www.w3.org/2000/svg" onload="window.broken = 4"></svg>`))
	s.add(pictured,
		s.message(map[string]any{"role": "user", "content": []any{
			map[string]any{"type": "text", "text": "What does this curve say?"},
			block("image/png", chart(s.t, 1200, 800)), block("image/svg+xml", hostile),
			map[string]any{"type": "document", "title": "series of the winter.pdf", "source": map[string]any{"type": "base64", "media_type": "application/pdf", "data": hostile}},
		}}),
		s.called("call_1", "take_a_screenshot_of_the_whole_window_with_its_frame", map[string]any{"window": "plot of the daily means of the winter, with thirty years of means behind it"}),
		s.message(map[string]any{"role": "tool", "tool_call_id": "call_1", "content": []any{block("image/png", chart(s.t, 300, 900))}}),
		s.said("assistant", "It **rises**."),
	)
}

// TestImages looks at the images of prompts and results, and at files that are named.
func TestImages(t *testing.T) {
	s := newSample(t)
	s.pictures()
	p := browse(t)
	at := serve(t, s.dir)
	p.open(at+address(pictured)+"#1", "document.querySelectorAll('.message').length === 3 && document.querySelector('.message.user img')?.complete")
	require.Equal(t, "image 1,200 × 800", eval[string](p, "document.querySelector('.message.user img').alt"))
	require.Equal(t, []float64{1200, 800}, eval[[]float64](p, "((i) => [i.naturalWidth, i.naturalHeight])(document.querySelector('.message.user img'))"))
	require.Equal(t, []string{"", "image image/svg+xml, 73 B", "document series of the winter.pdf, 73 B"}, eval[[]string](p, "[...document.querySelectorAll('.message.user .file')].map((f) => f.textContent)"))
	require.Equal(t, "image 300 × 900", p.text(".call summary .mark"))
	require.Equal(t, 1, eval[int](p, "document.querySelectorAll('img').length"), "folded")
	p.click(".call summary")
	p.until("document.querySelector('.call .result img')?.naturalHeight === 900")
	require.InDelta(t, 480, eval[float64](p, "document.querySelector('.call .result img').clientHeight"), 1)
	for _, width := range []int64{390, 1400} {
		p.size(width, 900)
		require.True(t, eval[bool](p, "((n) => n.scrollWidth <= n.clientWidth && n.getBoundingClientRect().right <= innerWidth)(document.querySelector('.call .name'))"), "the name is whole")
		for _, scheme := range []string{"light", "dark"} {
			p.scheme(scheme)
			p.shot(fmt.Sprintf("images-%d-%s", width, scheme))
		}
	}
	// An image that is opened by itself runs nothing.
	p.open(at+"/api"+address(pictured)+"/messages/0/files/0", "document.images.length === 1")
	require.Equal(t, "image/png", eval[string](p, "document.contentType"))
	require.Equal(t, 0, eval[int](p, "window.broken ?? 0"))
}

// TestLinks opens links to messages: from outside, and on the page.
func TestLinks(t *testing.T) {
	s := newSample(t)
	s.fill()
	s.turns(long, 500)
	p := browse(t)
	at := serve(t, s.dir)
	marked := func(n int) string {
		return fmt.Sprintf("document.querySelector('.found')?.dataset.n === '%d' && ((b, m) => m.top >= b.top - 1 && m.top < b.top + 60)(document.querySelector('#messages').getBoundingClientRect(), document.querySelector('.found').getBoundingClientRect())", n)
	}
	p.open(at+address(long)+"#401", marked(400))
	p.do(evaluate("location.hash = '#22'"))
	p.until(marked(21))
	require.Equal(t, "#22", eval[string](p, "document.querySelector('.found .line').getAttribute('href')"))
	p.click(".found .line")
	p.until(marked(21))
	p.click("#tab-events")
	require.Equal(t, "#events", eval[string](p, "location.hash"))
	p.do(evaluate("location.hash = '#900'"))
	p.until(marked(899))
	// A result is shown with its call.
	p.open(at+address(research)+"#3", "document.querySelector('.message[data-n=\"1\"]')")
	p.until("document.activeElement?.dataset?.n === '1' || document.querySelector('.message[data-n=\"1\"]').getBoundingClientRect().top < 300")
}

// TestPrint prints a session of which a part is in sight: the paper has all of it.
func TestPrint(t *testing.T) {
	s := newSample(t)
	s.turns(long, 500)
	s.pictures()
	p := browse(t)
	at := serve(t, s.dir)
	for id, want := range map[string]struct{ messages, images, pages int }{long: {1000, 0, 60}, pictured: {3, 2, 1}} {
		p.open(at+address(id)+"#transcript", "document.querySelector('.message')")
		var paper []byte
		p.do(chromedp.ActionFunc(func(ctx context.Context) (err error) {
			paper, _, err = cdp.PrintToPDF().Do(ctx)
			return err
		}))
		pages := bytes.Count(paper, []byte("/Type /Page\n"))
		require.GreaterOrEqual(t, pages, want.pages)
		require.GreaterOrEqual(t, bytes.Count(paper, []byte("/Subtype /Image")), want.images, "images are on the paper")
		require.Equal(t, 0, eval[int](p, "document.querySelectorAll('#print').length"), "nothing is left")
		p.do(evaluate("dispatchEvent(new Event('beforeprint'))"), emulation.SetEmulatedMedia().WithMedia("print"))
		require.Equal(t, want.messages, eval[int](p, "document.querySelectorAll('#print article').length"))
		require.Equal(t, 0, eval[int](p, "[...document.querySelectorAll('#print details:not([open])')].length"))
		require.True(t, eval[bool](p, "document.querySelector('#print').offsetHeight > 300 && !document.querySelector('#panel').offsetParent"))
		p.shot("print-" + id[len(id)-1:])
		p.do(evaluate("dispatchEvent(new Event('afterprint'))"), emulation.SetEmulatedMedia().WithMedia(""))
		require.True(t, eval[bool](p, "Boolean(document.querySelector('#panel').offsetParent)"))
	}
}
