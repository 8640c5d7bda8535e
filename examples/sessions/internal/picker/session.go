package picker

import (
	"strings"
	"time"
)

// Key names a session.
type Key struct{ Project, ID string }

// Session is what the list shows of a session. Its texts are clean.
type Session struct {
	Key
	Title, Prompt string
	Dir           string // its working directory as it is, not clean; "": not known
	Model         string
	Changed       time.Time
	Turns         int
	Fork, Damaged bool
	Conflict      bool // it keeps what one of two devices wrote at once

	fields [4]string // what the filter looks at, in lower case
}

// How much a match counts more in a title, a path and the name of a model than
// in a prompt.
var fieldBonus = [4]int{300, 200, 100, 0}

// prepare makes the session ready for the filter.
func (s *Session) prepare() {
	for i, text := range [...]string{s.Title, s.Dir, s.Model, s.Prompt} {
		s.fields[i] = strings.ToLower(text)
	}
}

// matches tells how well the session fits a filter, whose words are in lower
// case: each must match one of the fields. It is 0 when one does not.
func (s *Session) matches(words []string) int {
	sum := 1
	for _, word := range words {
		best := 0
		for i, text := range s.fields {
			if n := score(word, text); n > 0 {
				best = max(best, n+fieldBonus[i])
			}
		}
		if best == 0 {
			return 0
		}
		sum += best
	}
	return sum
}

// name is the title, or the id where there is none.
func (s *Session) name() string {
	if s.Title == "" {
		return clean(s.ID)
	}
	return s.Title
}
