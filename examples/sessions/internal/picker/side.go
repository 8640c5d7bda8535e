package picker

import (
	"strconv"
	"strings"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/markdown"
)

// previewLines draws the chosen session: exactly height lines, none wider than
// width.
func (m *Model) previewLines(width, height int) []string {
	s, ok := m.list.chosen()
	if !ok || height < 1 {
		return fill(nil, height)
	}
	head, text := m.previewText(s, width, height)
	room := height - len(head)
	if over := len(text) - room; over > 0 {
		from := over - min(m.preview.scroll, over)
		text = text[from : from+room]
	}
	return fill(append(head, text...), height)
}

// previewText returns what stands above a preview of a size, and all that can
// be scrolled below it.
func (m *Model) previewText(s *Session, width, height int) (head, text []string) {
	head = m.facts(s, width)
	head = head[:min(len(head), height, max(2, height/3))]
	if hits := m.found.hits[s.Key]; len(hits) > 0 {
		return head, m.excerpts(hits, width)
	}
	return head, m.said(width)
}

// maxScroll is how far the preview of a size can be scrolled up.
func (m *Model) maxScroll(width, height int) int {
	s, ok := m.list.chosen()
	if !ok || height < 1 {
		return 0
	}
	head, text := m.previewText(s, width, height)
	return max(0, len(text)-height+len(head))
}

// modelColumns is how much room the name of a model takes at most.
const modelColumns = 32

// facts draws what a session is.
func (m *Model) facts(s *Session, width int) []string {
	turns := strconv.Itoa(s.Turns) + " turns"
	if s.Turns == 1 {
		turns = "1 turn"
	}
	facts := []string{turns}
	for _, text := range []string{fit(s.Model, modelColumns), clean(s.ID)} {
		if text != "" {
			facts = append(facts, text)
		}
	}
	if s.Damaged {
		facts = append([]string{"damaged"}, facts...)
	}
	lines := []string{m.style.paint(bold, fit(s.name(), width))}
	for _, line := range wrap(strings.Join(facts, " · "), width) {
		lines = append(lines, m.style.paint(dim, line))
	}
	return append(lines, "")
}

// said draws the last turns.
func (m *Model) said(width int) (lines []string) {
	p := &m.preview
	switch {
	case p.err != "":
		return m.paragraph(red, p.err, width)
	case !p.loaded:
		return nil
	case len(p.said) == 0:
		return []string{fit("Nothing was said yet.", width)}
	}
	if p.drawn == nil || p.width != width {
		p.drawn, p.width = m.speeches(p.said, width), width
	}
	return p.drawn
}

// renderedBytes are the bytes of the last messages that are rendered. Those before
// them are shown as they stand, so that a key is answered at once.
const renderedBytes = 40_000

// speeches draws messages.
func (m *Model) speeches(all []Said, width int) (lines []string) {
	first, left := len(all), renderedBytes
	for first > 0 && left >= len(all[first-1].Text) {
		first--
		left -= len(all[first].Text)
	}
	for i, said := range all {
		if i > 0 && said.Role != "tool" {
			lines = append(lines, "")
		}
		lines = append(lines, m.speech(said, i >= first, width)...)
	}
	return lines
}

// speech draws a message; what a model wrote is rendered, if it may be.
func (m *Model) speech(said Said, render bool, width int) (lines []string) {
	switch said.Role {
	case "user":
		lines = append(lines, m.style.paint(green, fit("You", width)))
	case "tool":
		return []string{m.style.paint(dim, fit("  → "+said.Text, width))}
	default:
		lines = append(lines, m.style.paint(cyan, fit(said.Role, width)))
	}
	if render && !m.plain && said.Role == "assistant" {
		return append(lines, m.rendered(said.Text, width)...)
	}
	return append(lines, wrap(said.Text, width)...)
}

// rendered draws Markdown.
func (m *Model) rendered(text string, width int) []string {
	return strings.Split(markdown.Render(text, markdown.Options{Width: width, Colour: m.style.color}), "\n")
}

// excerpts draws what a search found.
func (m *Model) excerpts(hits []Excerpt, width int) (lines []string) {
	for _, h := range hits {
		t := cyan
		if h.Role == "user" {
			t = green
		}
		lines = append(lines, m.style.paint(t, fit(h.Role, width)))
		lines = append(lines, wrap(h.Before+"»"+h.Text+"«"+h.After, width)...)
		lines = append(lines, "")
	}
	return lines
}
