package picker

import (
	"fmt"
	"strings"
)

// Offer is how many conversations of other tools are not here.
type Offer struct{ Claude, Codex int }

func (o Offer) any() bool { return o.Claude+o.Codex > 0 }

// String returns the offer in words.
func (o Offer) String() string {
	var parts []string
	for _, tool := range []struct {
		n    int
		name string
	}{{o.Claude, "Claude Code"}, {o.Codex, "Codex"}} {
		switch {
		case tool.n == 0:
		case len(parts) > 0:
			parts = append(parts, fmt.Sprintf("%d of %s", tool.n, tool.name))
		case tool.n == 1:
			parts = append(parts, "1 conversation of "+tool.name)
		default:
			parts = append(parts, fmt.Sprintf("%d conversations of %s", tool.n, tool.name))
		}
	}
	return strings.Join(parts, " and ")
}

// sentence is what the list tells of the offer.
func (o Offer) sentence() string {
	if o.Claude+o.Codex == 1 {
		return o.String() + " is not here: i imports it"
	}
	return o.String() + " are not here: i imports them"
}

// askImport asks whether what is offered is to be imported.
func (m *Model) askImport() {
	if m.offer.any() && !m.hosting {
		m.begin(question{"Import " + m.offer.String() + "?", Import{}})
	}
}

// importKey is for keys during an import. The first one that stops it lets the
// history under way come whole.
func (m *Model) importKey(k Pressed) []Command {
	switch {
	case k.Name == "ctrl+c" && m.stopping:
		return []Command{Quit{}}
	case k.Name == "esc", k.Name == "ctrl+c":
		m.stopping = true
		return []Command{StopImport{}}
	}
	return nil
}

func (m *Model) progressText() string {
	text := "Importing…"
	if m.progress.Total > 0 {
		text = fmt.Sprintf("Importing… %d of %d", m.progress.Done, m.progress.Total)
	}
	if m.stopping {
		return text + "  It ends with this one. ctrl+c quits at once."
	}
	return text + "  esc stops"
}

// firstOf returns the first of errors that were joined, and how many follow.
func firstOf(err error) string {
	first, others, more := strings.Cut(err.Error(), "\n")
	if more {
		first += fmt.Sprintf(" (and %d more, which sessions import --from tells)", strings.Count(others, "\n")+1)
	}
	return clean(first)
}

// offered is for the events that tell of histories of other tools.
func (m *Model) offered(e Event) []Command {
	switch e := e.(type) {
	case Offered:
		m.offer = e.Offer
	case Progressed:
		m.progress = e
	case Imported:
		m.mode, m.offer = browsing, Offer{}
		m.tell(e.Report)
		if e.Err != nil {
			m.fail(strings.TrimSpace(e.Report + " Not all could be imported: " + firstOf(e.Err)))
		}
		return append(m.reread(Key{}), Seek{})
	}
	return nil
}
