package cli

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"path/filepath"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"

	"github.com/amplifier-go/sessionstorage/sessionstore/projects"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
	"github.com/amplifier-go/sessionstorage/examples/viewer/excerpt"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

type searchCommand struct {
	Text string `arg:"" optional:"" help:"Text to find, in upper or lower case."`
	everywhere
	File       string `type:"path" placeholder:"PATH" help:"Find instead the calls of tools that name this file, which need not exist; \"?\" marks a path in a command line."`
	From       string `enum:",claude,codex,opencode,pi,native" default:"" placeholder:"TOOL" help:"Only sessions that were imported from that tool: claude, codex, opencode, pi; or native: that were not."`
	Said       string `enum:",user,assistant,tool" default:"" placeholder:"WHO" help:"Only what the user, the assistant or a tool said."`
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
	return `Looks through what users and assistants wrote, in all projects, sub-sessions too, those created last first. "find --keyword" looks at the raw lines instead. In a pipe every line has session, message, role and the text around what was found, separated by tabs; of the messages that -C adds, the beginning. --file compares whole paths; a relative one in a call is one of the directory of its session. The exit code is 1 when nothing was found.`
}

// hit is a message in which something was found.
type hit struct {
	Message int    `json:"message"`         // from 1
	Turn    int    `json:"turn,omitempty"`  // from 1
	Guess   bool   `json:"guess,omitempty"` // a command line has the path, which may be another file
	Role    string `json:"role"`
	Before  string `json:"before"`
	Text    string `json:"text"` // "" where nothing was found in it
	After   string `json:"after"`
	Context bool   `json:"context"` // nothing was found in it: it is near a message in which something was
}

// matches is a session in which something was found.
type matches struct {
	ID      string  `json:"session_id"`
	Project string  `json:"project"`
	Path    string  `json:"path"`
	Created *string `json:"created"`
	Matches []hit   `json:"matches"`
}

// Run searches.
func (c *searchCommand) Run(a *app) error {
	if err := cmp.Or(notNegative("limit", c.Limit), notNegative("each", c.Each), notNegative("context", c.Context)); err != nil {
		return err
	}
	sought, err := c.sought()
	if err != nil {
		return usageError{err.Error()}
	}
	p, err := a.known(c.where)
	if err != nil {
		return err
	}
	q := projects.Query{Limit: c.Limit, Tool: c.From}
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
	}
	bar := a.Progress("searching", 0)
	q.Match = func(context.Context, *sessionstore.Store, string) (bool, error) {
		bar.Step(1)
		return true, nil
	}
	hits := p.Search(a.ctx, sought, q)
	if c.File != "" {
		hits = p.Files(a.ctx, c.File, q)
	}
	found, err := collect(hits, c.Each)
	bar.Done()
	if err := a.ctx.Err(); err != nil {
		return err
	}
	a.warn(err)
	if c.Context > 0 {
		a.warn(c.addNearby(a.ctx, p, found))
	}
	if err := a.answer(found, func() { c.show(a, found) }); err != nil {
		return err
	}
	if len(found) == 0 {
		return exitCode(exitError)
	}
	return nil
}

func (c *searchCommand) sought() (sessionstore.Sought, error) {
	sought := sessionstore.Sought{Text: c.Text, Tools: c.Tools, Role: c.Said, Each: c.Each}
	if c.File != "" {
		if c.Text != "" || c.Regexp || c.Said != "" || c.Tools {
			return sought, errors.New("--file: it finds calls of tools; leave out the text, --regexp, --said and --tools")
		}
		return sought, nil
	}
	if c.Text == "" {
		return sought, errors.New("the text to find is empty")
	}
	var err error
	if c.Regexp {
		sought.Regexp, err = regexp.Compile("(?i)" + c.Text)
	}
	return sought, err
}

// collect returns the sessions in which something was found, at most each hits of one.
func collect(all iter.Seq2[projects.Hit, error], each int) (found []matches, failed error) {
	found = []matches{}
	for h, err := range all {
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		if n := len(found); n == 0 || found[n-1].Path != h.Dir {
			found = append(found, matches{ID: h.ID, Project: h.Project, Path: h.Dir, Created: moment(h.Created)})
		}
		if last := &found[len(found)-1]; each == 0 || len(last.Matches) < each {
			last.Matches = append(last.Matches, hit{Message: h.Message, Turn: h.Turn, Guess: h.Guess, Role: h.Role, Before: line(h.Before), Text: line(h.Text), After: line(h.After)})
		}
	}
	return found, failed
}

// addNearby adds to the hits the messages near them that are asked for.
func (c *searchCommand) addNearby(ctx context.Context, p *projects.Projects, found []matches) (failed error) {
	for i, f := range found {
		st, err := p.Store(f.Project)
		if err == nil {
			found[i].Matches, err = c.nearby(ctx, st, filepath.Base(f.Path), f.Matches)
		}
		failed = errors.Join(failed, err)
	}
	return failed
}

// nearby returns the hits of a session with the messages near them. With an error it
// returns the hits.
func (c *searchCommand) nearby(ctx context.Context, st *sessionstore.Store, id string, hits []hit) (all []hit, err error) {
	v, err := st.View(ctx, id)
	if v == nil {
		return hits, err
	}
	defer func() { err = errors.Join(err, v.Close()) }()
	next := 1 // number of the first message that is not in all
	for i, h := range hits {
		first, end := max(next, h.Message-c.Context), h.Message+c.Context+1
		if i+1 < len(hits) {
			end = min(end, hits[i+1].Message)
		}
		rows, err := v.Range(ctx, first, end-first)
		if err != nil {
			return hits, err
		}
		for j, m := range rows {
			if n := first + j; n == h.Message {
				all = append(all, h)
			} else {
				all = append(all, near(n, m))
			}
		}
		next = end
	}
	return all, err
}

// around is the number of bytes that are shown of a message of the context.
const around = 60

// near is a message of the context.
func near(n int, m sessionstore.Message) hit {
	_, _, begin := excerpt.Of(m.Content(), 0, 0, around)
	return hit{Message: n, Role: m.Role(), After: line(begin), Context: true}
}

// show writes the hits for people, and for programs a line each.
func (c *searchCommand) show(a *app, found []matches) {
	if len(found) == 0 && c.File != "" {
		a.Notef("No call of a tool names %s.", screen.Plain(c.File))
		return
	}
	if len(found) == 0 {
		a.Notef("Nothing found in what users and assistants wrote%s.", c.elsewhere())
		return
	}
	var ids, in []string
	for _, f := range found {
		ids, in = append(ids, filepath.Base(f.Path)), append(in, f.Project)
	}
	short, place := a.shortIDs(ids), func(string) string { return "" }
	if a.Terminal() {
		place = a.places(in)
	}
	for i, f := range found {
		if a.Terminal() {
			if i > 0 {
				a.Print("\n")
			}
			s, _ := a.summaryIn(f.Path) // a session without a summary is shown too
			a.foundHead(short(ids[i]), markedTitle(s), place(f.Project))
		}
		for _, h := range f.Matches {
			a.hit(ids[i], h)
		}
	}
}

// foundHead writes the line above the hits of a session.
func (a *app) foundHead(id, title, place string) {
	line := screen.Fit(screen.Plain(id), a.Width())
	a.Print(a.Paint(screen.Green, line))
	left := a.Width() - screen.Columns(line) - 2
	place = screen.Fit(screen.Plain(place), max(left/3, shortID))
	if room := left - screen.Columns(place) - 2; room >= shortID && title != "" {
		title = screen.Fit(screen.Plain(title), room)
		a.Print("  " + a.Paint(screen.Cyan, title))
		left -= screen.Columns(title) + 2
	}
	if screen.Columns(place) <= left {
		a.Print("  " + a.Paint(screen.Magenta, place))
	}
	a.Print("\n")
}

// elsewhere returns a hint about where else to look.
func (c *searchCommand) elsewhere() string {
	if c.Tools {
		return " or tools did"
	}
	return "; --tools looks at tools, too"
}

func (a *app) hit(id string, h hit) {
	if h.Guess {
		h.Before = "? "
	}
	if !a.Terminal() {
		a.Printf("%s\t%d\t%s\t%s\n", screen.Plain(id), h.Message, screen.Plain(h.Role), h.Before+h.Text+h.After)
		return
	}
	label := strconv.Itoa(h.Message) + " " + screen.Plain(h.Role) + ": "
	room := max(a.Width()-2-screen.Columns(label), 8)
	text := screen.Fit(h.Text, room)
	left := room - screen.Columns(text)
	after := screen.Fit(h.After, max(left/2, left-screen.Columns(h.Before)))
	before := screen.FitEnd(h.Before, left-screen.Columns(after))
	a.Printf("  %s%s%s%s\n", a.Paint(screen.Dim, label), before, a.Paint(screen.Bold, text), after)
}

// literal returns the longest text without which a regular expression cannot
// match, in any case, or "" when it needs none. It holds nothing that JSON
// escapes.
func literal(expression string) string {
	re, err := syntax.Parse(expression, syntax.Perl|syntax.FoldCase)
	if err != nil {
		return ""
	}
	return needed(re)
}

func needed(re *syntax.Regexp) (longest string) {
	switch {
	case re.Op == syntax.OpLiteral:
		plain := func(r rune) bool { return r < ' ' || r > '~' || r == '"' || r == '\\' }
		for _, part := range strings.FieldsFunc(string(re.Rune), plain) {
			longest = longer(longest, strings.ToLower(part))
		}
	case re.Op == syntax.OpConcat, re.Op == syntax.OpCapture, re.Op == syntax.OpPlus, re.Op == syntax.OpRepeat && re.Min > 0:
		for _, sub := range re.Sub {
			longest = longer(longest, needed(sub))
		}
	}
	return longest
}

func longer(a, b string) string {
	if len(b) > len(a) {
		return b
	}
	return a
}
