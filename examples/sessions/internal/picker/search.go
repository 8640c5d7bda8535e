package picker

import (
	"context"
	"path/filepath"
	"regexp"
	"strings"
	"unicode"

	"github.com/amplifier-go/sessionstorage/examples/viewer/excerpt"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/projects"
)

// Limits of what a search shows.
const (
	maxExcerpts = 5   // of one session
	aroundBytes = 120 // before a match, and after it
)

// search looks for a text, in upper or lower case, in the texts of users and assistants.
// It sends a [Found] event for each session as soon as the text is found there.
func (s store) search(ctx context.Context, c Search, tell func(Event)) {
	pattern, err := regexp.Compile("(?i)" + regexp.QuoteMeta(c.Text))
	if err != nil {
		tell(Found{Gen: c.Gen, Done: true, Err: err})
		return
	}
	q := projects.Query{Project: c.In, Keyword: keyword(c.Text)}
	q.Match = func(ctx context.Context, st *sessionstore.Store, id string) (bool, error) {
		found, err := excerpts(st.Messages(ctx, id), pattern)
		if len(found) > 0 {
			tell(Found{Gen: c.Gen, Key: Key{filepath.Base(filepath.Dir(st.Dir())), id}, Excerpts: found})
		}
		return false, err // nothing is to be collected
	}
	_, err = s.projects.Find(ctx, q)
	tell(Found{Gen: c.Gen, Done: true, Err: err})
}

// keyword returns the text if JSON writes it without escapes, so that most transcripts
// need no second look. Else it returns "".
func keyword(text string) string {
	for _, r := range text {
		if r > unicode.MaxASCII || r < ' ' || strings.ContainsRune(`"\/<>&`, r) {
			return ""
		}
	}
	return text
}

// excerpts returns the first match of the pattern in each message, at most maxExcerpts
// matches. With an error it returns the matches before it.
func excerpts(rows func(func(sessionstore.Message, error) bool), pattern *regexp.Regexp) (found []Excerpt, err error) {
	for m, err := range rows {
		if err != nil {
			return found, err
		}
		role := m.Role()
		if role != "user" && role != "assistant" {
			continue
		}
		text := m.Content()
		if at := pattern.FindStringIndex(text); at != nil {
			found = append(found, excerptOf(role, text, at[0], at[1]))
		}
		if len(found) == maxExcerpts {
			break
		}
	}
	return found, nil
}

func excerptOf(role, text string, from, to int) Excerpt {
	before, found, after := excerpt.Of(text, from, to, aroundBytes)
	return Excerpt{role, part(before), part(found), part(after)}
}

// part is clean for a piece of a text, which keeps the space at its ends.
func part(text string) string {
	text = clean("." + strings.ToValidUTF8(text, "") + ".")
	return text[1 : len(text)-1]
}
