package recall

import (
	"context"
	"errors"
	"iter"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/text/unicode/norm"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/picker"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign"
	"github.com/amplifier-go/sessionstorage/sessionstore/projects"
	"github.com/amplifier-go/sessionstorage/slice/conversation"
)

type searchArgs struct {
	Words string `json:"words" jsonschema:"words that one text has, in upper or lower case"`
	Who   string `json:"who,omitempty" jsonschema:"who said it: user or assistant, both if not given; tool looks into the calls of tools and their results"`
	about
	page
}

// eachSession is how many texts of a session are found at most.
const eachSession = 3

// search yields texts that have all words. It judges what is told, and not what was said: else a
// secret could be guessed a character at a time.
func search(ctx context.Context, a *asked, args searchArgs) iter.Seq2[row, error] {
	return func(yield func(row, error) bool) {
		words := strings.Fields(norm.NFC.String(args.Words))
		after, before, err := args.times()
		if len(words) == 0 {
			err = errors.New("words: say what to look for")
		}
		if err != nil {
			yield(row{}, err)
			return
		}
		longest := slices.MaxFunc(words, func(a, b string) int { return len(a) - len(b) })
		sought := sessionstore.Sought{Text: longest, Tools: args.Who == "tool"}
		hits := a.Projects.Search(ctx, sought, projects.Query{Project: a.only(), After: after, Before: before, Tool: args.Tool})
		each(ctx, a, args.about, hits, func(h projects.Hit) projects.Found { return h.Found }, func(s *session, h projects.Hit) bool {
			for _, r := range a.said(ctx, s, h.Message, h.Turn) {
				tool := r.Who == "call" || r.Who == "result"
				if s.found == eachSession || args.Who == "tool" != tool || args.Who != "" && !tool && args.Who != r.Who {
					continue
				}
				if r.Text = excerpt(norm.NFC.String(r.Text), words); r.Text == "" {
					continue
				}
				if s.found++; !yield(r, nil) {
					return false
				}
			}
			return true
		})
	}
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

type listArgs struct {
	about
	page
}

// list yields the titles of sessions.
func list(ctx context.Context, a *asked, args listArgs) iter.Seq2[row, error] {
	return func(yield func(row, error) bool) {
		after, before, err := args.times()
		if err != nil {
			yield(row{}, err)
			return
		}
		for sum, err := range picker.Summaries(ctx, a.Projects, a.only(), &sessionstore.ListOptions{NoInternal: true}) {
			if err != nil || !sum.Changed.After(after) || !before.IsZero() && !sum.Changed.Before(before) {
				continue
			}
			s := a.open(ctx, sum.Project, sum.ID, args.about)
			if s == nil {
				continue
			}
			r := a.title(ctx, s)
			r.Time = sum.Changed.UTC().Format(time.RFC3339)
			s.close()
			if !yield(r, nil) {
				return
			}
		}
	}
}

type readArgs struct {
	Session string `json:"session" jsonschema:"the id that another tool told"`
	Turn    int    `json:"turn,omitempty" jsonschema:"from this turn on, from 1; the last one if not given"`
	page
}

// read yields a session from a turn on.
func read(ctx context.Context, a *asked, args readArgs) iter.Seq2[row, error] {
	return func(yield func(row, error) bool) {
		s, err := a.named(ctx, args.Session)
		if err != nil {
			yield(row{}, err)
			return
		}
		defer s.close()
		if turns := s.Turns(); a.page.start == 0 {
			if args.Turn <= 0 || args.Turn > turns {
				args.Turn = turns
			}
			a.page.start, _ = s.Start(ctx, args.Turn) // of a session without turns from the beginning
		}
		a.page.start = max(1, a.page.start)
		if !yield(a.title(ctx, s), nil) {
			return
		}
		s.row = row{}
		for n := a.page.start; n <= s.Len(); n++ {
			turn, err := s.TurnAt(ctx, n)
			if err != nil {
				return
			}
			for _, r := range a.said(ctx, s, n, turn) {
				if !yield(r, nil) {
					return
				}
			}
		}
	}
}

type hiddenArgs struct {
	Session string `json:"session" jsonschema:"the id that another tool told"`
	page
}

// hidden yields what stood before the last compaction of a session.
func hidden(ctx context.Context, a *asked, args hiddenArgs) iter.Seq2[row, error] {
	return func(yield func(row, error) bool) {
		s, err := a.named(ctx, args.Session)
		if err != nil {
			yield(row{}, err)
			return
		}
		defer s.close()
		n, err := foreign.Hidden(ctx, s.st, args.Session)
		if err != nil || n == 0 || !yield(a.title(ctx, s), nil) {
			return
		}
		rows := func(yield func(sessionstore.Message, error) bool) {
			for m, err := range s.st.Messages(ctx, args.Session) {
				if !yield(a.redacted(m, err)) {
					return
				}
			}
		}
		for said, err := range conversation.Hidden(rows, n) {
			if err != nil || !yield(row{Turn: said.Turn, Who: said.Kind, Text: said.Text}, nil) {
				return
			}
		}
	}
}

type filesArgs struct {
	Path string `json:"path" jsonschema:"of the file: absolute, or relative to the working directory"`
	about
	page
}

// files yields the calls of tools that name a file.
func files(ctx context.Context, a *asked, args filesArgs) iter.Seq2[row, error] {
	return func(yield func(row, error) bool) {
		after, before, err := args.times()
		if err != nil {
			yield(row{}, err)
			return
		}
		name := regexp.MustCompile(`(^|[^\pL\pN_-])` + regexp.QuoteMeta(filepath.Base(args.Path)) + `($|[^\pL\pN_/-])`)
		last := 0
		calls := a.Projects.Files(ctx, args.Path, projects.Query{Project: a.only(), After: after, Before: before, Tool: args.Tool})
		each(ctx, a, args.about, calls, func(c projects.FileCall) projects.Found { return c.Found }, func(s *session, c projects.FileCall) bool {
			if s.found++; s.found > 1 && c.Message == last {
				return true
			}
			last = c.Message
			for _, r := range a.said(ctx, s, c.Message, c.Turn) {
				if r.Guess = c.Guess; r.Who == "call" && name.MatchString(bare(r.Text)) && !yield(r, nil) {
					return false
				}
			}
			return true
		})
	}
}
