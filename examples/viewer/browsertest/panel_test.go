package browsertest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/eventslog"
	"github.com/amplifier-go/sessionstorage/examples/viewer/web"
)

// pageState is a state of a page that is looked at.
type pageState struct {
	name, path string
	ready      string // true when the page shows what it is to show
	act        string // what is done then; "": nothing
	done       string // true when that shows
}

func pictures() []pageState {
	const messages = "document.querySelectorAll('.message').length > 0"
	return []pageState{
		{name: "projects", path: "/", ready: "document.querySelectorAll('.projects .session').length === 2"},
		{name: "list", path: "/p/" + project, ready: "document.querySelectorAll('.session').length > 3"},
		{name: "search", path: "/p/" + project + "/search?q=davos", ready: "document.querySelectorAll('.hit').length > 1"},
		{name: "usage", path: "/p/" + project + "/usage", ready: "document.querySelector('.usage-page svg')"},
		{name: "missing", path: "/p/none", ready: "document.querySelector('.error-text')"},
		{name: "phases", path: address(research) + "#phases", ready: cards + " === 4 && document.querySelectorAll('#lineage a').length === 2"},
		{
			name: "prompts", path: address(research) + "#phases", ready: cards + " === 4",
			act:  "document.querySelectorAll('.prompt-header button').forEach((b, i) => i < 2 && b.click()); document.querySelector('#resume').click()",
			done: "document.querySelectorAll('.prompt-content').length === 2 && !document.querySelector('#resumed').hidden",
		},
		{name: "transcript", path: address(research) + "#transcript", ready: messages},
		{
			name: "events", path: address(research) + "#events", ready: "document.querySelectorAll('.event .name').length > 3",
			act: "document.querySelector('.event:nth-child(4)').click()", done: "(document.querySelector('.viewer pre')?.textContent ?? '').includes('{')",
		},
		{name: "conversation", path: address(finished) + "#conversation", ready: "document.querySelectorAll('#conversation .message').length === 2"},
		{name: "decisions", path: address(finished) + "#decisions", ready: "document.querySelectorAll('.decision').length > 3"},
		{name: "images", path: address(pictured) + "#1", ready: "document.querySelector('.message img')?.complete", act: "document.querySelector('.call summary').click()", done: "document.querySelector('.call[open] img')"},
		{name: "damaged", path: address(damaged) + "#transcript", ready: messages},
		{name: "recovered", path: address(recovered) + "#transcript", ready: messages},
		{name: "hostile", path: address(hostile) + "#phases", ready: "document.querySelectorAll('.prompt-view-card').length > 0"},
		{name: "calls", path: address(research) + "#transcript", ready: messages, act: "document.querySelector('#to-top').click(); document.querySelector('.message[data-n=\"1\"] summary').click()", done: "document.querySelector('.call[open] .result')"},
		{name: "hostile-calls", path: address(hostile) + "#transcript", ready: messages, act: "document.querySelector('.call summary').click()", done: "document.querySelector('.call[open] .result')"},
		{name: "actions", path: address(finished) + "#transcript", ready: messages, act: "document.querySelector('#actions-button').click()", done: actionsOpen},
		{name: "keys", path: address(finished) + "#transcript", ready: messages, act: "document.querySelector('#keys').showModal()", done: "document.querySelector('#keys').open"},
	}
}

// TestPictures makes pictures of all pages, where the flag -shots names a
// directory. It compares what holds with every font: nothing is wider than the
// window, no control is covered, all text has enough contrast.
func TestPictures(t *testing.T) {
	s := newSample(t)
	s.fill()
	s.pictures()
	used := map[string]any{"input_tokens": 120_000, "output_tokens": 4_000, "cost_usd": "0.25"}
	s.events(finished, eventslog.Event{Name: "llm:response", Time: s.clock, Data: map[string]any{"response_id": "r", "provider": "p", "model": "claude-opus-4", "usage": used}})
	at := serveWith(t, s.dir, web.Options{Token: "TOKEN234", Write: true})
	p := browse(t)
	for _, one := range pictures() {
		p.size(390, 860)
		p.open(at+one.path, one.ready)
		if one.act != "" {
			p.do(chromedp.Evaluate("{"+one.act+"}", nil))
			p.until(one.done)
		}
		for _, width := range []int64{390, 1440} {
			p.size(width, 860)
			for _, scheme := range []string{"light", "dark"} {
				p.scheme(scheme)
				name := fmt.Sprintf("%s-%d-%s", one.name, width, scheme)
				p.shot(name)
				require.Empty(t, eval[[]string](p, "("+faults+")()"), name)
			}
		}
	}
	// Faults that are made are found.
	p.size(1440, 860)
	p.open(at+"/", "document.querySelectorAll('.projects .session').length === 2")
	for _, fault := range [][2]string{
		{"const e = document.querySelector('h1'); e.style.color = '#888'; e.style.backgroundColor = '#999'", "has a contrast of"},
		{"document.querySelector('.count').style.opacity = 0.6", "has a contrast of"},
		{"document.querySelector('h1').replaceWith(document.createElement('h2'))", "page has 0 main headings"},
		{"document.querySelector('h2').ariaLevel = '3'", "skips a level"},
		{"document.querySelector('main').insertAdjacentHTML('afterend', '<main>x</main>')", "page has 2 main landmarks"},
		{"document.querySelector('form').insertAdjacentHTML('afterend', '<form role=search><input aria-label=x></form>'); document.querySelector('form').removeAttribute('aria-label')", "search landmarks have one name"},
		{"document.querySelector('input').removeAttribute('aria-label')", "has no name"},
		{"document.querySelector('button').tabIndex = -1", "is out of reach of keys"},
		{"document.querySelector('.projects').style.width = '2000px'", "page is wider than the window"},
		{"const e = document.createElement('div'); e.style.cssText = 'position: fixed; inset: 0'; document.body.append(e)", "is covered by"},
		{"document.querySelector('.projects .session').insertAdjacentHTML('beforeend', '<p class=\"meta\"><span>a<br>b</span></p>')", "takes two lines"},
		{"const e = document.querySelector('.projects li'); e.style.height = '4px'; e.style.overflow = 'hidden'", "is hidden by"},
	} {
		p.do(evaluate("{" + fault[0] + "}"))
		require.Contains(t, strings.Join(eval[[]string](p, "("+faults+")()"), "\n"), fault[1])
	}
}

// faults returns what is wrong with the looks of a page.
const faults = `() => {
	const wrong = [];
	if (document.documentElement.scrollWidth > innerWidth) wrong.push("page is wider than the window: " + document.documentElement.scrollWidth);
	const name = (e) => e.tagName + "#" + e.id + "." + e.className + " " + e.textContent.trim().slice(0, 30);
	// shows is whether a point of an element is inside of all that clips it.
	const shows = (e, x, y) => {
		if (x < 0 || y < 0 || x >= innerWidth || y >= innerHeight || !e.checkVisibility({ opacityProperty: true, visibilityProperty: true })) return false;
		for (let box = e.parentElement; box && box !== document.documentElement; box = box.parentElement) {
			if (getComputedStyle(box).overflow === "visible") continue;
			const r = box.getBoundingClientRect();
			if (x < r.left || x >= r.right || y < r.top || y >= r.bottom) return false;
		}
		return true;
	};
	for (const e of document.querySelectorAll(".session .meta")) {
		if (e.getBoundingClientRect().height > 1.5 * parseFloat(getComputedStyle(e).lineHeight)) wrong.push(name(e) + " takes two lines");
	}
	const answer = document.querySelector("#resumed:not([hidden])");
	if (answer && answer.clientHeight < Math.min(answer.scrollHeight, 100)) wrong.push("#resumed is squeezed to " + answer.clientHeight);
	const modal = document.querySelector("dialog:modal");
	for (const e of (modal ?? document).querySelectorAll("a, button, input, select, summary")) {
		const r = e.getClientRects()[0];
		if (!r) continue;
		for (let box = e.parentElement; box; box = box.parentElement) {
			if (getComputedStyle(box).overflow !== "visible" && Math.min(box.clientHeight, box.clientWidth) < 16) wrong.push(name(e) + " is hidden by " + box.className);
		}
		const [x, y] = [r.x + r.width / 2, r.y + r.height / 2];
		if (!shows(e, x, y)) continue;
		const top = document.elementFromPoint(x, y);
		if (top && !e.contains(top) && !top.contains(e) && !e.labels?.[0]?.contains(top)) wrong.push(name(e) + " is covered by " + name(top));
	}
	const h1 = [...document.querySelectorAll("h1")].filter((e) => !e.closest(".markdown, #print") && e.checkVisibility({ visibilityProperty: true }));
	if (h1.length !== 1) wrong.push("page has " + h1.length + " main headings");
	const visible = (selector) => [...document.querySelectorAll(selector)].filter((e) => !e.closest("#print, dialog:not([open])") && e.checkVisibility({ visibilityProperty: true }));
	let level = 0;
	for (const e of visible("h1, h2, h3, h4, h5, h6").filter((e) => !modal || modal.contains(e))) {
		const now = Number(e.ariaLevel ?? e.tagName[1]);
		if (!modal && now > level + 1) wrong.push(name(e) + " skips a level");
		level = now;
	}
	if (visible("main").length !== 1) wrong.push("page has " + visible("main").length + " main landmarks");
	const searches = visible("[role=search]").map((e) => e.ariaLabel ?? "");
	if (new Set(searches).size < searches.length) wrong.push("search landmarks have one name");
	const named = (e) => [e.ariaLabel, e.title, e.textContent, ...[...(e.labels ?? [])].map((l) => l.textContent), ...[...e.querySelectorAll("img")].map((i) => i.alt), ...(e.getAttribute("aria-labelledby") ?? "").split(" ").map((id) => document.getElementById(id)?.textContent)].some((text) => text?.trim());
	for (const e of document.querySelectorAll("a, button, input, select, textarea, summary, iframe, dialog, nav, img, [tabindex='0'], [role=button], [role=tab], [role=option], [role=listbox], [role=region]")) {
		if (!(e.tagName === "IMG" ? e.alt.trim() : e.tagName === "INPUT" || e.tagName === "SELECT" || e.tagName === "TEXTAREA" ? e.ariaLabel || e.labels.length : named(e))) wrong.push(name(e) + " has no name");
		if (e.matches("a, button, input, select, textarea, summary") && !e.disabled && e.tabIndex < 0 && e.role !== "tab") wrong.push(name(e) + " is out of reach of keys");
	}
	const opacity = (e) => { let all = 1; for (; e; e = e.parentElement) all *= Number(getComputedStyle(e).opacity); return all; };
	const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
	const known = new Map();
	const rgba = (colour) => {
		if (!known.has(colour)) known.set(colour, draw(colour));
		return known.get(colour);
	};
	const draw = (colour) => {
		canvas.clearRect(0, 0, 1, 1);
		canvas.fillStyle = colour;
		canvas.fillRect(0, 0, 1, 1);
		const d = canvas.getImageData(0, 0, 1, 1).data;
		return [d[0], d[1], d[2], d[3] / 255];
	};
	const over = (a, b) => [0, 1, 2].map((i) => a[i] * a[3] + b[i] * (1 - a[3])).concat(1);
	const behind = (e) => {
		const layers = [];
		for (; e; e = e.parentElement) {
			const c = rgba(getComputedStyle(e).backgroundColor);
			layers.push(c);
			if (c[3] === 1) break;
		}
		return layers.reverse().reduce((below, c) => over(c, below), [255, 255, 255, 1]);
	};
	const light = (c) => c.slice(0, 3).map((v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4).reduce((s, v, i) => s + v * [0.2126, 0.7152, 0.0722][i], 0);
	for (const e of (modal ?? document.body).querySelectorAll("*")) {
		if (e.closest("svg, [aria-hidden=true]") || e.disabled || ![...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim())) continue;
		const r = e.getClientRects()[0];
		if (!r || !shows(e, r.x + 1, r.y + r.height / 2)) continue;
		const back = behind(e);
		const ink = [...rgba(getComputedStyle(e).color)];
		ink[3] *= opacity(e);
		const [x, y] = [light(over(ink, back)), light(back)].sort((a, b) => b - a);
		if ((x + 0.05) / (y + 0.05) < 4.5) wrong.push(name(e) + " has a contrast of " + ((x + 0.05) / (y + 0.05)).toFixed(2));
	}
	return wrong;
}`
