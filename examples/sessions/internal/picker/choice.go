package picker

import (
	"fmt"
	"strconv"
)

// turnLines draws the turns of which one is chosen for a fork.
func (m *Model) turnLines(width, height int) []string {
	t := &m.turns
	lines := []string{m.style.paint(bold, fit("Fork "+strconv.Quote(m.target.name())+" after which turn?", width))}
	if !t.loaded {
		return fill(append(lines, "Reading…"), height)
	}
	from, to := shownPart(len(t.turns), t.cursor, max(1, height-1))
	digits := len(strconv.Itoa(len(t.turns)))
	for i := from; i < to; i++ {
		text := fmt.Sprintf("%*d  %s", digits, i+1, t.turns[i])
		if i == t.cursor {
			lines = append(lines, m.style.paint(reverse, pad("▸ "+text, width)))
			continue
		}
		lines = append(lines, fit("  "+text, width))
	}
	return fill(lines, height)
}
