package cli

import (
	"context"
	"errors"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
	"github.com/amplifier-go/sessionstorage/internal/pytime"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

type searchCommand struct {
	Text string `arg:"" help:"Text to find, in upper or lower case."`
	where
	Regexp bool   `short:"E" help:"The text is a regular expression (RE2)."`
	Tools  bool   `help:"Look into the calls of tools and their results too."`
	After  string `placeholder:"DATE" help:"Only sessions created after this date, as 2026-08-01."`
	Before string `placeholder:"DATE" help:"Only sessions created before this date."`
	Limit  int    `short:"n" default:"20" placeholder:"N" help:"At most so many sessions; 0: all (default: 20)."`
	Each   int    `default:"3" placeholder:"N" help:"At most so many messages of a session; 0: all (default: 3)."`
}

// Help is shown below the usage.
func (searchCommand) Help() string {
	return `Looks through what users and assistants wrote, in all projects, sub-sessions too, those created last first. "find --keyword" looks at the raw lines instead. In a pipe every line has session, message, role and the text around what was found, separated by tabs. The exit code is 1 when nothing was found.`
}

// hit is a message in which something was found.
type hit struct {
	message      int // from 1
	role         string
	before, text string
	after        string
}

// Run searches.
func (c *searchCommand) Run(a *app) error {
	if c.Limit < 0 || c.Each < 0 {
		return usageError{"--limit and --each: must be non-negative"}
	}
	pattern, err := c.pattern()
	if err != nil {
		return usageError{err.Error()}
	}
	p, err := a.projects(c.where)
	if err != nil {
		return err
	}
	q := sessionstore.Query{Limit: c.Limit}
	if q.Project, err = c.slug(p.Dir(), false); err != nil {
		return err
	}
	if c.After != "" {
		if q.After, err = pytime.ParseFilter(c.After); err != nil {
			return err
		}
	}
	if c.Before != "" {
		if q.Before, err = pytime.ParseFilter(c.Before); err != nil {
			return err
		}
	}
	if c.Regexp { // most transcripts need no second look
		q.Keyword = literal(c.Text)
	} else {
		q.Keyword = strings.TrimSuffix(strings.TrimPrefix(string(quoted(c.Text)), `"`), `"`)
	}
	hits := map[string][]hit{}
	bar := a.Progress("searching", 0)
	q.Match = func(ctx context.Context, st *sessionstore.Store, id string) (bool, error) {
		defer bar.Step(1)
		found, err := c.in(ctx, st, id, pattern)
		if len(found) > 0 {
			hits[filepath.Join(st.Dir(), id)] = found
		}
		return len(found) > 0, err
	}
	found, err := p.Find(a.ctx, q)
	bar.Done()
	if err := a.ctx.Err(); err != nil {
		return err
	}
	a.warn(err)
	if err := c.show(a, found, hits); err != nil {
		return err
	}
	if len(found) == 0 {
		return exitCode(exitError)
	}
	return nil
}

func (c *searchCommand) pattern() (*regexp.Regexp, error) {
	if c.Text == "" {
		return nil, errors.New("the text to find is empty")
	}
	text := c.Text
	if !c.Regexp {
		text = regexp.QuoteMeta(text)
	}
	return regexp.Compile("(?i)" + text)
}

// in returns the messages of a session in which something is found.
func (c *searchCommand) in(ctx context.Context, st *sessionstore.Store, id string, pattern *regexp.Regexp) (found []hit, err error) {
	n := 0
	for m, err := range st.Messages(ctx, id) {
		if err != nil {
			return found, err
		}
		n++
		role := m.Role()
		texts := []string{}
		if role != "tool" || c.Tools {
			texts = append(texts, m.Content())
		}
		if c.Tools {
			for _, call := range m.ToolCalls() {
				texts = append(texts, call.Name+" "+string(call.Arguments))
			}
		}
		for _, text := range texts {
			if at := pattern.FindStringIndex(text); at != nil && at[1] > at[0] {
				found = append(found, excerpt(n, role, text, at))
				break
			}
		}
		if c.Each > 0 && len(found) >= c.Each {
			break
		}
	}
	return found, nil
}

// around is how many bytes of the text around it are shown of what was found.
const around = 60

func excerpt(n int, role, text string, at []int) hit {
	from, to := max(0, at[0]-around), min(len(text), at[1]+around)
	for from < at[0] && !utf8.RuneStart(text[from]) {
		from++
	}
	for to > at[1] && to < len(text) && !utf8.RuneStart(text[to]) {
		to--
	}
	h := hit{message: n, role: role, before: line(text[from:at[0]]), after: line(text[at[1]:to])}
	end := min(at[1], at[0]+4*around) // an expression may find the whole text
	h.text = line(strings.ToValidUTF8(text[at[0]:end], ""))
	if from > 0 {
		h.before = "…" + h.before
	}
	if to < len(text) {
		h.after += "…"
	}
	return h
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

func (c *searchCommand) show(a *app, found []sessionstore.Found, hits map[string][]hit) error {
	if a.json {
		out := list{}
		for _, f := range found {
			matches := list{}
			for _, h := range hits[f.Dir] {
				matches = append(matches, object{
					{"message", []byte(strconv.Itoa(h.message))},
					{"role", quoted(h.role)},
					{"text", quoted(h.before + h.text + h.after)},
				})
			}
			out = append(out, object{
				{"session_id", quoted(f.ID)},
				{"project", quoted(f.Project)},
				{"path", quoted(f.Dir)},
				{"created", quoted(f.CreatedText)},
				{"matches", matches.raw()},
			})
		}
		return a.writeJSON(out, jsonIndent)
	}
	if len(found) == 0 {
		a.Notef("Nothing found.")
		return nil
	}
	for i, f := range found {
		id := filepath.Base(f.Dir)
		if a.Terminal() {
			if i > 0 {
				a.Print("\n")
			}
			name := screen.Fit(screen.Plain(id), a.Width())
			a.Print(a.Paint(screen.Green, name))
			if left := a.Width() - screen.Columns(name) - 2; left >= 10 {
				a.Print("  " + a.Paint(screen.Magenta, screen.Fit(screen.Plain(f.Project), left)))
			}
			a.Print("\n")
		}
		for _, h := range hits[f.Dir] {
			a.hit(id, h)
		}
	}
	return nil
}

func (a *app) hit(id string, h hit) {
	if !a.Terminal() {
		a.Printf("%s\t%d\t%s\t%s\n", screen.Plain(id), h.message, screen.Plain(h.role), h.before+h.text+h.after)
		return
	}
	label := strconv.Itoa(h.message) + " " + screen.Plain(h.role) + ": "
	room := max(a.Width()-2-screen.Columns(label), 8)
	text := screen.Fit(h.text, room)
	left := room - screen.Columns(text)
	after := screen.Fit(h.after, max(left/2, left-screen.Columns(h.before)))
	left -= screen.Columns(after)
	before := h.before
	for screen.Columns(before) > left && before != "" {
		_, n := utf8.DecodeRuneInString(before)
		before = before[n:]
	}
	a.Printf("  %s%s%s%s\n", a.Paint(screen.Dim, label), before, a.Paint(screen.Bold, text), after)
}
