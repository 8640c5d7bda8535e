package checkpoint

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
)

const longestSummary = 80 // characters of the research goals in a prompt

// Prompt returns the question whether to resume a session. A phase without a
// name in phaseNames is told by its number alone.
func Prompt(s State, phaseNames map[int]string) string {
	at := s.text("last_updated")
	if at == "" {
		at = s.text("created_at")
	}
	phase := strconv.Itoa(s.CurrentPhase())
	named := phase
	if name := phaseNames[s.CurrentPhase()]; name != "" {
		named += " (" + plain(name) + ")"
	}
	var done []string
	for _, p := range s.CompletedPhases() {
		done = append(done, strconv.Itoa(p))
	}
	return "Found incomplete session from " + at + "\n" +
		"Project: " + summary(s.ResearchGoals()) + "\n" +
		"Status: Phase " + named + "\n" +
		"Completed: Phases " + strings.Join(done, ", ") + "\n\n" +
		"Resume from Phase " + phase + "? [yes/no]"
}

// plain returns s in one line without control characters, which could change
// what a terminal shows.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return -1
	}, strings.Join(strings.Fields(s), " "))
}

// summary returns the beginning of s in one line.
func summary(s string) string {
	r := []rune(plain(s))
	if len(r) <= longestSummary {
		return string(r)
	}
	return strings.TrimRight(string(r[:longestSummary-1]), " ") + "…"
}

// Prompt returns the question whether to clean up. Sessions that are kept are
// not in it; without others it is empty.
func (p Plan) Prompt() string {
	var b strings.Builder
	for _, item := range p.Items {
		if item.Action != Keep {
			fmt.Fprintf(&b, "- %s (%s, %s old)\n", item.ID, item.Status, days(item.Age))
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return "Would you like to clean up old sessions?\nFound:\n" + b.String() +
		"\nDelete completed, archive interrupted? [yes/no]"
}

func days(age time.Duration) string {
	n := int(age / (24 * time.Hour))
	if n == 1 {
		return "1 day"
	}
	return strconv.Itoa(n) + " days"
}
