package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

type searchCommand struct {
	Text string `arg:"" help:"Text to find, in upper or lower case."`
	everywhere
	IgnoreCase bool   `short:"i" help:"Take upper and lower case for the same, as search does anyway."`
	Context    int    `short:"C" default:"0" placeholder:"N" help:"Show so many messages before and after each that was found, too."`
	Regexp     bool   `short:"E" help:"The text is a regular expression (RE2)."`
	Tools      bool   `help:"Look into the calls of tools and their results too."`
	After      string `aliases:"since" placeholder:"DATE" help:"Only sessions created after this date, as 2026-08-01, 7d or yesterday; --since is the same."`
	Before     string `placeholder:"DATE" help:"Only sessions created before this date."`
	Limit      int    `short:"n" default:"20" placeholder:"N" help:"At most so many sessions; 0: all (default: 20)."`
	Each       int    `default:"3" placeholder:"N" help:"At most so many messages of a session; 0: all (default: 3)."`
}

// Help is shown below the usage.
func (searchCommand) Help() string {
	return `Looks through what users and assistants wrote, in all projects, sub-sessions too, those created last first. "find --keyword" looks at the raw lines instead. In a pipe every line has session, message, role and the text around what was found, separated by tabs; of the messages that -C adds, the beginning. The exit code is 1 when nothing was found.`
}

// hit is a message in which something was found.
type hit struct {
	message      int // from 1
	role         string
	before, text string
	after        string
	context      bool // nothing was found in it: it stands near one in which something was
}

// Run searches.
func (c *searchCommand) Run(a *app) error {
	if err := cmp.Or(notNegative("limit", c.Limit), notNegative("each", c.Each)); err != nil {
		return err
	}
	if c.Context < 0 {
		return usageError{fmt.Sprintf("--context: %d is negative; write how many messages to show before and after", c.Context)}
	}
	pattern, err := c.pattern()
	if err != nil {
		return usageError{err.Error()}
	}
	p, err := a.known(c.where)
	if err != nil {
		return err
	}
	q := sessionstore.Query{Limit: c.Limit}
	if q.Project, err = c.existing(a, p, false); err != nil {
		return err
	}
	if q.After, err = a.date("after (--since)", c.After); err != nil {
		return err
	}
	if q.Before, err = a.date("before", c.Before); err != nil {
		return err
	}
	if c.Regexp { // most transcripts need no second look
		q.Keyword = literal(c.Text)
	} else {
		if q.Keyword, err = sessionstore.StoredText(c.Text); err != nil {
			return err
		}
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

// in returns the messages of a session in which something is found, and those
// near them that are asked for, in their order.
func (c *searchCommand) in(ctx context.Context, st *sessionstore.Store, id string, pattern *regexp.Regexp) (found []hit, err error) {
	n, hits, after := 0, 0, 0
	var before []hit // the last messages that are not in found
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
		switch h, ok := first(pattern, n, role, texts); {
		case ok && (c.Each == 0 || hits < c.Each):
			found = append(append(found, before...), h)
			hits, after, before = hits+1, c.Context, nil
		case after > 0:
			found, after = append(found, nearby(n, role, m)), after-1
		case c.Each > 0 && hits >= c.Each:
			return found, nil
		case c.Context > 0:
			before = append(before, nearby(n, role, m))
			before = before[max(0, len(before)-c.Context):]
		}
	}
	return found, nil
}

// first returns the first place of texts where the pattern is found.
func first(pattern *regexp.Regexp, n int, role string, texts []string) (hit, bool) {
	for _, text := range texts {
		if at := pattern.FindStringIndex(text); at != nil && at[1] > at[0] {
			return hitAt(n, role, text, at), true
		}
	}
	return hit{}, false
}

// nearby is a message of the context.
func nearby(n int, role string, m sessionstore.Message) hit {
	text := m.Content()
	h := hitAt(n, role, text, []int{0, 0})
	h.context = true
	return h
}

func (c *searchCommand) show(a *app, found []sessionstore.Found, hits map[string][]hit) error {
	if a.typed {
		return a.writeJSON(matchesOf(found, hits), jsonIndent)
	}
	if a.json {
		out := list{}
		for _, f := range found {
			matches := list{}
			for _, h := range hits[f.Dir] {
				match := object{
					{"message", []byte(strconv.Itoa(h.message))},
					{"role", quoted(h.role)},
					{"text", quoted(h.before + h.text + h.after)},
				}
				if h.context {
					match = append(match, member{"context", []byte("true")})
				}
				matches = append(matches, match)
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
		a.Notef("Nothing found in what users and assistants wrote%s.", c.elsewhere())
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

// elsewhere tells where else one could look.
func (c *searchCommand) elsewhere() string {
	if c.Tools {
		return " or tools did"
	}
	return "; --tools looks at tools, too"
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
	before := screen.FitEnd(h.before, left-screen.Columns(after))
	a.Printf("  %s%s%s%s\n", a.Paint(screen.Dim, label), before, a.Paint(screen.Bold, text), after)
}
