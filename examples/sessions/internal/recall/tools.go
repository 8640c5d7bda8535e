package recall

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/text/unicode/norm"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/picker"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign"
	"github.com/amplifier-go/sessionstorage/slice/conversation"
)

type searchArgs struct {
	Words string `json:"words" jsonschema:"words that one text has, in upper or lower case"`
	Who   string `json:"who,omitempty" jsonschema:"who said it: user or assistant, both if not given; tool looks into the calls of tools and their results"`
	about
}

// eachSession is how many texts of a session are found at most.
const eachSession = 3

// search finds texts that have all words. It judges the redacted texts: else a
// secret could be guessed a character at a time.
func search(ctx context.Context, c *call, args searchArgs) error {
	words := strings.Fields(norm.NFC.String(args.Words))
	if len(words) == 0 {
		return errors.New("words: say what to look for")
	}
	longest := slices.MaxFunc(words, func(a, b string) int { return len(a) - len(b) })
	for h, err := range c.Projects.Search(ctx, sessionstore.Sought{Text: longest, Tools: args.Who == "tool"}, c.query) {
		if err != nil { // also of a session that must not be shown
			continue
		}
		s := c.at(ctx, h.Found)
		if s == nil || s.found == eachSession {
			continue
		}
		r, ok := firstIn(c.said(ctx, s, h.Message, h.Turn, func(all []row) bool {
			_, ok := firstIn(all, args.Who, words)
			return ok
		}), args.Who, words)
		if !ok {
			continue
		}
		if s.found++; !c.tell(r) {
			break
		}
	}
	return nil
}

// firstIn returns the first of rows that someone said and that has all words, as an excerpt.
func firstIn(rows []row, who string, words []string) (r row, ok bool) {
	for _, r := range rows {
		tool := r.Who == "call" || r.Who == "result"
		if who == "tool" != tool || who != "" && !tool && who != r.Who {
			continue
		}
		if r.Who == "call" {
			r.Text = unescaped(r.Text)
		}
		if r.Text = excerpt(norm.NFC.String(r.Text), words); r.Text != "" {
			return r, true
		}
	}
	return r, false
}

var placeholder = regexp.MustCompile(`\[redacted:[^\]]*\]`)

// bare returns a text without the words of the placeholders for secrets: nothing is found in them.
func bare(text string) string {
	return placeholder.ReplaceAllStringFunc(text, func(p string) string { return strings.Repeat("\x00", len(p)) })
}

// excerpt returns the text around the first of words, "" where it lacks one.
func excerpt(text string, words []string) string {
	const around = 300
	first, bare := len(text), bare(text)
	for _, w := range words {
		at := regexp.MustCompile("(?i)" + regexp.QuoteMeta(w)).FindStringIndex(bare)
		if at == nil {
			return ""
		}
		first = min(first, at[0])
	}
	return strings.TrimSpace(strings.ToValidUTF8(text[max(0, first-around):min(len(text), first+around)], ""))
}

// list lists the titles of sessions.
func list(ctx context.Context, c *call, _ about) error {
	for sum, err := range picker.Summaries(ctx, c.Projects, c.query.Project, &sessionstore.ListOptions{NoInternal: true}) {
		if err != nil || !sum.Changed.After(c.query.After) || !c.query.Before.IsZero() && !sum.Changed.Before(c.query.Before) {
			continue
		}
		s := c.open(ctx, sum.Project, sum.ID)
		if s == nil {
			continue
		}
		r := c.title(ctx, s)
		s.close()
		if r.Time = sum.Changed.UTC().Format(time.RFC3339); !c.tell(r) {
			break
		}
	}
	return nil
}

type readArgs struct {
	Session string `json:"session" jsonschema:"the id that another tool told"`
	Turn    int    `json:"turn,omitempty" jsonschema:"from this turn on, from 1; the last one if not given"`
	page
}

// read shows a session from a turn on.
func read(ctx context.Context, c *call, args readArgs) error {
	s, err := c.named(ctx, args.Session)
	if err != nil {
		return err
	}
	defer s.close()
	if turns := s.Turns(); c.start == 0 {
		if args.Turn <= 0 || args.Turn > turns {
			args.Turn = turns
		}
		c.start, _ = s.Start(ctx, args.Turn) // of a session without turns from the beginning
	}
	c.start = max(1, c.start)
	if !c.tell(c.title(ctx, s)) {
		return nil
	}
	s.row = row{}
	for n := c.start; n <= s.Len(); n++ {
		turn, _ := s.TurnAt(ctx, n)
		for _, r := range c.said(ctx, s, n, turn, nil) {
			if !c.tell(r) {
				return nil
			}
		}
	}
	return nil
}

type hiddenArgs struct {
	Session string `json:"session" jsonschema:"the id that another tool told"`
	page
}

// hidden shows the messages before the last compaction of a session.
func hidden(ctx context.Context, c *call, args hiddenArgs) error {
	s, err := c.named(ctx, args.Session)
	if err != nil {
		return err
	}
	defer s.close()
	n, err := foreign.Hidden(ctx, s.st, args.Session)
	if err != nil || n == 0 || !c.tell(c.title(ctx, s)) {
		return nil
	}
	rows := func(yield func(sessionstore.Message, error) bool) {
		number := 0
		for m, err := range s.st.Messages(ctx, args.Session) {
			if number++; err == nil {
				m, err = c.redacted(m, number)
			}
			if !yield(m, err) {
				return
			}
		}
	}
	for said, err := range conversation.Hidden(rows, n) {
		if err != nil || !c.tell(row{Turn: said.Turn, Who: said.Kind, Text: said.Text}) {
			break
		}
	}
	return nil
}

var escapes = regexp.MustCompile(`(\\u[[:xdigit:]]{4})+|\\.`)

// unescaped returns the characters that the escapes of JSON in a text stand for.
func unescaped(text string) string {
	return norm.NFC.String(escapes.ReplaceAllStringFunc(text, func(e string) (s string) {
		_ = json.Unmarshal([]byte(`"`+e+`"`), &s) // "" where it is none
		return s
	}))
}

type filesArgs struct {
	Path string `json:"path" jsonschema:"of the file: absolute, or relative to the working directory"`
	about
}

// files shows the calls of tools that name a file.
func files(ctx context.Context, c *call, args filesArgs) error {
	name := regexp.MustCompile(`(^|[^\pL\pN_-])` + regexp.QuoteMeta(norm.NFC.String(filepath.Base(args.Path))) + `/?($|[^\pL\pN_/-])`)
	for f, err := range c.Projects.Files(ctx, args.Path, c.query) {
		if err != nil { // also of a session that must not be shown
			continue
		}
		s := c.at(ctx, f.Found)
		if s == nil || s.found == f.Message { // which is in the answer for another call
			continue
		}
		s.found = f.Message
		for _, r := range c.said(ctx, s, f.Message, f.Turn, nil) {
			if r.Guess = f.Guess; r.Who == "call" && name.MatchString(unescaped(bare(r.Text))) && !c.tell(r) {
				return nil
			}
		}
	}
	return nil
}
