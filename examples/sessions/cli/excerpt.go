package cli

import (
	"strings"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
	"github.com/amplifier-go/sessionstorage/examples/viewer/excerpt"
)

// around is how many bytes of the text around it are shown of what was found.
const around = 60

func hitAt(n int, role, text string, at []int) hit {
	before, found, after := excerpt.Of(text, at[0], at[1], around)
	return hit{message: n, role: role, before: line(before), text: line(found), after: line(after)}
}

// line returns text in one line, with runs of space as one.
func line(text string) string {
	joined := strings.Join(strings.Fields(screen.Plain(text)), " ")
	if text != "" && strings.HasPrefix(screen.Plain(text), " ") {
		joined = " " + joined
	}
	if len(joined) > 1 && strings.HasSuffix(screen.Plain(text), " ") {
		joined += " "
	}
	return joined
}
