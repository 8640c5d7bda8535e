package browsertest

import (
	"flag"
	"os"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

var picture = flag.String("picture", "", "file for the picture of the viewer that the README shows, as PNG")

// TestReadmePicture makes the picture of the viewer that the README shows, and
// keeps it with the flag -picture.
func TestReadmePicture(t *testing.T) {
	s := newSample(t)
	for i, title := range []string{"Sum up the meeting of Monday", "Why does the connection pool leak?", "Check the series for gaps", "Plot the means of thirty years"} {
		id := "5f0c9a61-2d0b-4f53-8a55-6b0a10f7d00" + string(rune('0'+i))
		s.create(id, nil)
		s.add(id, s.said("user", title), s.said("assistant", "Done."))
	}
	s.create(long, map[string]any{"name": "Hottest days in Lisbon"})
	s.add(long, s.said("user", "Which three days in July were the hottest in Lisbon?"),
		s.called("call_1", "read_file", map[string]any{"path": "data/lisbon.csv"}), s.result("call_1", "day;mean\n7;29.8\n8;31.4\n9;31.9\n17;30.8"),
		s.said("assistant", "By the daily means these were:\n\n| day | °C |\n|---|---|\n| 9 July | 31.9 |\n| 8 July | 31.4 |\n| 17 July | 30.8 |"),
		s.said("user", "And in Porto?"), s.said("assistant", "There is no series for **Porto** yet. I can fetch one."))
	p := browse(t)
	at := serve(t, s.dir)
	p.size(1180, 640)
	p.open(at+address(long)+"#transcript", "document.querySelector('#live.on') && document.querySelectorAll('.session').length === 5 && document.querySelectorAll('.message').length > 2")
	p.click("#to-top")
	p.until("document.querySelectorAll('.message').length === 5")
	p.do(evaluate("document.activeElement.blur()"))
	var png []byte
	p.do(chromedp.CaptureScreenshot(&png))
	require.Less(t, len(png), 150_000)
	if *picture != "" {
		require.NoError(t, os.WriteFile(*picture, png, 0o600))
	}
}
