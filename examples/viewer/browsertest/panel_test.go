package browsertest

import (
	"testing"

	"github.com/chromedp/chromedp"
)

// TestPictures looks at the main states.
func TestPictures(t *testing.T) {
	s := newSample(t)
	s.fill()
	at := serve(t, s.dir)
	p := browse(t)
	look := func(name, path, ready string) {
		p.do(chromedp.Navigate("about:blank"), chromedp.Navigate(at+path))
		p.until(ready)
		p.shot(name)
	}
	const cards = "document.querySelectorAll('.prompt-view-card').length > 0"
	const messages = "document.querySelectorAll('.message').length > 0"
	for _, scheme := range []string{"light", "dark"} {
		p.scheme(scheme)
		p.size(1280, 860)
		look(scheme+"-list", "/p/"+project, "document.querySelector('.mark.damage')?.offsetParent !== undefined && document.querySelectorAll('.mark:not([hidden])').length > 1")
		look(scheme+"-panel", address(research)+"#phases", cards)
		p.do(chromedp.Evaluate("document.querySelectorAll('.prompt-header button').forEach((b, i) => i < 2 && b.click())", nil))
		p.until("document.querySelectorAll('.prompt-content').length === 2")
		p.shot(scheme + "-expanded")
		p.do(chromedp.Click("#resume", chromedp.ByQuery))
		p.until("!document.querySelector('#resumed').hidden")
		p.shot(scheme + "-resumed")
		look(scheme+"-transcript", address(research)+"#transcript", messages)
		look(scheme+"-events", address(research)+"#events", "document.querySelectorAll('.event .name').length > 3")
		p.do(chromedp.Click(".event:nth-child(4)", chromedp.ByQuery))
		p.until("(document.querySelector('.viewer pre')?.textContent ?? '').includes('{')")
		p.shot(scheme + "-event")
		look(scheme+"-damaged", address(damaged)+"#transcript", messages)
		look(scheme+"-recovered", address(recovered)+"#transcript", messages)
		look(scheme+"-hostile", address(hostile)+"#phases", cards)
		p.size(390, 800)
		look(scheme+"-narrow-panel", address(research)+"#phases", cards)
		look(scheme+"-narrow-transcript", address(research)+"#transcript", messages)
		look(scheme+"-narrow-events", address(research)+"#events", "document.querySelectorAll('.event .name').length > 3")
		look(scheme+"-narrow-list", "/p/"+project, "document.querySelectorAll('.session').length > 3")
	}
}
