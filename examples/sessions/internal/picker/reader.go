package picker

import (
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strings"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"

	"charm.land/bubbles/v2/viewport"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

// readerLines limits the lines in memory: beyond them, messages far from the shown ones
// are forgotten, and read again when the user comes back.
const readerLines = 4000

// reader shows a conversation of any size. Some messages in a row are in memory; those
// before and behind them are requested when the user comes near.
type reader struct {
	key         Key // the zero Key: nothing is read
	name        string
	gen         int // of the requests that count
	first, next int // the messages in memory: from first up to the one before next
	total       int
	seen        mark // the messages that were read
	passages    []Passage
	drawn       [][]string // the lines of each passage
	width       int        // of drawn
	view        viewport.Model
	waiting     bool // a request is under way
	loaded      bool // an answer came
	err         string
	goal        int  // the message to show first; 0: the end
	whole       bool // calls are not folded

	text    string // to find, clean; "": none
	pattern *regexp.Regexp
	hit     int // the line that was found last
	looking bool
}

// read begins to read a session at its end, or where a search found a text.
func (m *Model) read(s Session) []Command {
	m.mode = reading
	m.reader = reader{key: s.Key, name: s.name(), gen: m.reader.gen + 1, waiting: true, view: viewport.New(), whole: m.reader.whole}
	todo := []Command{Read{Key: s.Key, Gen: m.reader.gen, Back: true}}
	if m.found.text != "" {
		m.reader.seek(m.found.text)
		m.reader.waiting = false
		todo = m.reader.look(0, false)
	}
	return todo
}

// readKey handles a key of the reader.
func (m *Model) readKey(k Pressed) []Command {
	r := &m.reader
	switch k.Name {
	case "esc", "q", "tab", "left":
		if k.Name == "esc" && r.text != "" {
			r.text, r.looking = "", false
			return []Command{Look{Key: r.key}}
		}
		return m.closeReader()
	case "up", "k":
		r.view.ScrollUp(1)
	case "down", "j":
		r.view.ScrollDown(1)
	case "pgup", "b":
		r.view.PageUp()
	case "pgdown", "space", " ":
		r.view.PageDown()
	case "home", "g":
		return r.jump(1)
	case "end", "G":
		return r.jump(0)
	case "t":
		r.whole = !r.whole
		r.draw(m, true)
	case "/", "ctrl+f":
		m.mode, m.input = finding, ""
	case "n", "N":
		return m.further(k.Name == "N")
	case "y", "enter":
		return m.act(k.Name)
	case "?":
		m.mode = helping
	case "ctrl+k":
		m.mode = commanding
	}
	return r.want()
}

// closeReader shows the list again.
func (m *Model) closeReader() []Command {
	m.reader = reader{gen: m.reader.gen + 1, whole: m.reader.whole}
	m.rest()
	return []Command{Look{}}
}

// jump shows a message, or the end for 0.
func (r *reader) jump(message int) []Command {
	switch {
	case message == 0 && r.next > r.total:
		r.view.GotoBottom()
	case message >= r.first && message < r.next:
		r.view.SetYOffset(r.lineOf(message))
	default:
		r.gen++
		r.passages, r.drawn, r.first, r.next, r.waiting, r.goal = nil, nil, 0, 0, true, message
		return []Command{Read{Key: r.key, Gen: r.gen, From: message, Back: message == 0}}
	}
	return r.want()
}

// lineOf returns the line at which a message begins.
func (r *reader) lineOf(message int) (line int) {
	for i, p := range r.passages {
		if p.Message >= message {
			break
		}
		line += len(r.drawn[i])
	}
	return line
}

// want requests the messages before or behind those in memory when the screen is near.
func (r *reader) want() []Command {
	if r.waiting || r.key == (Key{}) || !r.loaded || r.first == 0 {
		return nil
	}
	near := r.near()
	switch {
	case r.first > 1 && r.view.YOffset() < near:
		r.waiting = true
		return []Command{Read{Key: r.key, Gen: r.gen, From: r.first, Back: true, Seen: r.seen}}
	case r.next <= r.total && r.view.YOffset()+2*near > r.view.TotalLineCount():
		r.waiting = true
		return []Command{Read{Key: r.key, Gen: r.gen, From: r.next, Seen: r.seen}}
	}
	return nil
}

// near is how many lines from the screen the lines in memory end when more are requested: so
// many above it, or twice as many from its top on.
func (r *reader) near() int { return max(10, r.view.Height()) }

// more requests the messages behind the last one, which may have been added since, or all
// of them where none could be read.
func (r *reader) more() []Command {
	if r.loaded && r.first == 0 {
		return r.jump(0)
	}
	if r.waiting || !r.loaded {
		return nil
	}
	r.waiting = true
	return []Command{Read{Key: r.key, Gen: r.gen, From: r.next, Seen: r.seen}}
}

// partRead takes messages of the conversation.
func (m *Model) partRead(e PartRead) []Command {
	r := &m.reader
	if e.Gen != r.gen || e.Key != r.key {
		return nil
	}
	r.waiting, r.loaded, r.err = false, true, ""
	if e.Err != nil {
		r.err = clean(e.Err.Error())
		if r.first > 0 && e.First == e.Next { // what was read stays, and is not read again at once
			m.failed("Not read", e.Err)
			return nil
		}
	}
	begins, ended := r.first == 0, r.next > r.total && r.view.AtBottom()
	if !begins && (e.Changed || e.Total < r.next-1) { // the conversation was replaced, or cut
		r.total, r.first, r.next = e.Total, 0, 0
		return r.jump(0)
	}
	r.total, r.seen = e.Total, e.Seen
	drawn := make([][]string, len(e.Passages))
	before := 0
	switch {
	case begins:
		r.passages, r.drawn, r.first, r.next = e.Passages, drawn, e.First, e.Next
	case e.Back && e.Next == r.first:
		r.passages, r.drawn, r.first = slices.Concat(e.Passages, r.passages), slices.Concat(drawn, r.drawn), e.First
		before = len(e.Passages)
	case !e.Back && e.First == r.next:
		r.passages, r.drawn, r.next = slices.Concat(r.passages, e.Passages), slices.Concat(r.drawn, drawn), e.Next
	}
	top := r.view.YOffset()
	r.draw(m, false)
	for _, lines := range r.drawn[:before] {
		top += len(lines)
	}
	r.view.SetYOffset(top)
	switch {
	case begins && r.goal == 0, ended && !e.Back && !begins:
		r.view.GotoBottom()
	case begins:
		r.view.SetYOffset(r.lineOf(r.goal))
		r.toHit(r.lineOf(r.goal))
	}
	r.forget(m)
	return r.want()
}

// forget drops the messages far from the screen when there are too many lines: on each side
// of its top, lines for half of them stay, and messages are dropped whole. That is more
// than [reader.want] would request again.
func (r *reader) forget(m *Model) {
	if r.view.TotalLineCount() <= readerLines {
		return
	}
	top, from, to, before, line := r.view.YOffset(), 0, 0, 0, 0
	for i, lines := range r.drawn {
		if i == 0 || r.passages[i].Message != r.passages[i-1].Message {
			if line <= top-readerLines/2 {
				from, before = i, line
			}
			if line < top+readerLines/2 {
				to = i + 1
			}
		} else if to == i {
			to = i + 1
		}
		line += len(lines)
	}
	if to < len(r.passages) {
		r.next = r.passages[to].Message
	}
	r.passages, r.drawn, r.first = r.passages[from:to], r.drawn[from:to], r.passages[from].Message
	r.hit -= before
	r.draw(m, false)
	r.view.SetYOffset(top - before)
}

// draw draws the passages that are not drawn yet, or all of them anew: then the passage
// at the top of the screen stays there.
func (r *reader) draw(m *Model, anew bool) {
	width := max(1, m.screen.width)
	top := -1
	if anew || width != r.width {
		top = r.passageAt(r.view.YOffset())
		r.drawn, r.width = make([][]string, len(r.passages)), width
	}
	var all []string
	at := 0
	for i := range r.passages {
		if r.drawn[i] == nil {
			r.drawn[i] = m.passage(&r.passages[i], len(r.passages[i].Text) <= renderedBytes, width)
		}
		if i == top {
			at = len(all)
		}
		all = append(all, r.drawn[i]...)
	}
	r.view.SetWidth(width)
	r.view.SetHeight(max(1, m.screen.height-1-len(m.footer(width))))
	r.view.SetContentLines(all)
	if top >= 0 {
		r.view.SetYOffset(at)
	}
}

// passageAt returns the passage that has a line.
func (r *reader) passageAt(line int) int {
	for i, lines := range r.drawn {
		if line -= len(lines); line < 0 {
			return i
		}
	}
	return len(r.drawn) - 1
}

// seek notes a text to find.
func (r *reader) seek(text string) {
	r.text, r.pattern, r.hit = clean(text), regexp.MustCompile("(?i)"+regexp.QuoteMeta(clean(text))), -1
}

// find finds a text from the screen on.
func (m *Model) find(text string) []Command {
	m.reader.seek(text)
	m.reader.hit = m.reader.view.YOffset() - 1
	return m.further(false)
}

// further shows the next line with the text, or the one before. Behind the end it goes on
// at the beginning.
func (m *Model) further(back bool) []Command {
	r := &m.reader
	if r.text == "" || r.waiting || !r.loaded {
		return nil
	}
	hits := r.hits()
	at := sort.SearchInts(hits, r.hit+1)
	if back {
		at = sort.SearchInts(hits, r.hit) - 1
	}
	if at >= 0 && at < len(hits) {
		r.hit = hits[at]
		r.view.SetYOffset(max(0, r.hit-r.view.Height()/3))
		return r.want()
	}
	if back {
		return r.look(r.first, true)
	}
	return r.look(r.next-1, false)
}

// hits returns the lines in memory with the text. A passage that has the text where it is
// not shown counts with its first line.
func (r *reader) hits() (lines []int) {
	at := 0
	for i, p := range r.passages {
		n := len(lines)
		for k, line := range r.drawn[i] {
			if r.pattern.MatchString(ansi.Strip(line)) {
				lines = append(lines, at+k)
			}
		}
		if len(lines) == n && r.pattern.MatchString(p.Text) {
			lines = append(lines, at)
		}
		at += len(r.drawn[i])
	}
	return lines
}

// look requests a look for the text.
func (r *reader) look(after int, back bool) []Command {
	r.looking = true
	return []Command{Look{r.key, r.gen, r.text, after, back}}
}

// looked shows the message that has the text.
func (m *Model) looked(e Looked) []Command {
	r := &m.reader
	if e.Gen != r.gen || e.Key != r.key || r.text == "" {
		return nil
	}
	r.looking = false
	if e.Err != nil {
		m.failed("Not everything could be searched", e.Err)
	}
	if e.Message == 0 {
		m.tell(fmt.Sprintf("%q is not in this conversation.", r.text))
		if !r.loaded {
			return r.jump(0)
		}
		return nil
	}
	todo := r.jump(e.Message)
	if r.first > 0 {
		r.toHit(r.lineOf(e.Message))
	}
	return todo
}

// toHit shows the first line with the text from a line on.
func (r *reader) toHit(from int) {
	if r.text == "" {
		return
	}
	hits := r.hits()
	if at := sort.SearchInts(hits, from); at < len(hits) {
		r.hit = hits[at]
		r.view.SetYOffset(max(0, r.hit-r.view.Height()/3))
	}
}

// readerLines draws the conversation: exactly height lines.
func (m *Model) readerLines(width, height int) []string {
	r := &m.reader
	r.view.SetHeight(height)
	if r.view.PastBottom() {
		r.view.GotoBottom()
	}
	switch {
	case r.err != "" && len(r.passages) == 0:
		return fill(m.paragraph(red, r.err, width), height)
	case !r.loaded || r.first == 0:
		return fill([]string{screen.Fit("Reading…", width)}, height)
	case len(r.passages) == 0:
		return fill([]string{screen.Fit("Nothing was said yet.", width)}, height)
	}
	lines := strings.Split(r.view.View(), "\n")
	if r.text != "" {
		for i, line := range lines {
			lines[i] = r.marked(line)
		}
	}
	return fill(lines, height)
}

// marked reverses the text to find in a line.
func (r *reader) marked(line string) string {
	plain := ansi.Strip(line)
	var marks []lipgloss.Range
	for _, at := range r.pattern.FindAllStringIndex(plain, -1) {
		from := ansi.StringWidth(plain[:at[0]])
		marks = append(marks, lipgloss.NewRange(from, from+ansi.StringWidth(plain[at[0]:at[1]]), lipgloss.NewStyle().Reverse(true)))
	}
	return lipgloss.StyleRanges(line, marks...)
}

// readerHeader draws the name of the session, and which messages the screen shows.
func (m *Model) readerHeader(width int) string {
	r := &m.reader
	where := ""
	if len(r.passages) > 0 {
		last := r.passages[r.passageAt(r.view.YOffset()+r.view.Height()-1)].Message
		if r.view.AtBottom() && r.next > r.total {
			last = r.total // which may be shown with a call before it
		}
		where = fmt.Sprintf("  message %d of %d", last, r.total)
	}
	switch {
	case r.looking:
		where = "  searching…"
	case r.text != "":
		where += "  " + screen.Fit(r.text, 20)
	}
	if screen.Columns(where) > width/2 {
		where = ""
	}
	return m.paint(bold, pad(r.name, width-screen.Columns(where))) + m.paint(dim, where)
}
