package cli

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/amplifier-go/sessionstorage/sessionstore/projects"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/picker"
	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
	"github.com/amplifier-go/sessionstorage/examples/viewer/host"
	"github.com/amplifier-go/sessionstorage/hybrid"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice/accept"
)

type listCommand struct {
	local
	views
	Limit       int    `short:"n" default:"20" placeholder:"N" help:"Number of sessions to show; 0: all (default: 20)."`
	Since       string `placeholder:"DATE" help:"Only sessions that were saved since, as 2026-08-01, 7d or yesterday."`
	AllProjects bool   `help:"Show sessions from all projects."`
	All         bool   `short:"a" help:"Show sub-sessions too."`
	NoInternal  bool   `help:"Leave out sessions that are labelled internal."`
	Sort        string `enum:"time,size" default:"time" placeholder:"WHAT" help:"time; or size: what each session takes of the disk, the largest first, as \"stats --by size\" tells it of projects."`
	From        string `enum:",all,${tools}" default:"" placeholder:"TOOL" help:"Only sessions that were imported from that tool: ${a_tool}, or all of them."`
	Tree        string `short:"t" placeholder:"SESSION" help:"Show instead what this session was forked from, and what was forked from it or started by it."`
}

// views are the flags that say how much is shown, and in which form. The reference has them.
type views struct {
	Compact  bool   `xor:"view" help:"Show one line each." group:"Output"`
	Detailed bool   `xor:"view" help:"Show all there is." group:"Output"`
	Format   string `enum:"text,json" default:"text" placeholder:"FORM" help:"text or json; the same as --json." group:"Output"`
}

// asJSON reports whether --format asks for JSON.
func (v views) asJSON() bool { return v.Format == "json" }

// Help is shown below the usage.
func (listCommand) Help() string {
	return `Shows the sessions of the project in the working directory, the one saved last first. Sessions that cannot be read are told in a line on standard error, and the exit code is 1. The title is the name, or what was asked first; "conflict copy" marks a session that keeps what one of two devices wrote at once, "damaged" one that "sessions verify" tells more of, "hidden" one that "sessions hide" keeps from agents, "interrupted" one with a call of a tool that has no result, and "refused" one with a picture or a result that its provider refuses, as far as the index tells; "sessions rescue" mends both. Prompts counts what a person asked. In a pipe every line has the columns project, session, title, time, messages and prompts, separated by tabs.`
}

// Run lists.
func (c *listCommand) Run(a *app) error {
	if c.Tree != "" {
		return showTree(a, here{c.Tree, c.local})
	}
	if err := notNegative("limit", c.Limit); err != nil {
		return err
	}
	if c.Sort == "size" {
		if c.All || c.NoInternal || c.From != "" || c.Tree != "" {
			return usageError{"--sort size: it is of all sessions; leave out --all, --no-internal, --from and --tree"}
		}
		p, err := a.known(where(c.local))
		if err != nil {
			return err
		}
		slug, err := where(c.local).existing(a, p, !c.AllProjects)
		if err != nil {
			return err
		}
		return a.sizes(p, slug, true, c.Limit)
	}
	rows, err := c.rows(a)
	if err != nil {
		return err
	}
	if a.json {
		all := []sessionShown{}
		for _, r := range rows {
			all = append(all, a.sessionOf(r, a.dirOf(r)))
		}
		return a.writeJSON(all)
	}
	switch {
	case len(rows) > 0:
		c.table(a, rows)
		if !c.AllProjects {
			a.noteSynced(a.lastSynced(false, filepath.Dir(a.dirOf(rows[0]))))
		}
	case a.unread:
	case !c.AllProjects:
		return c.nothingHere(a)
	default:
		a.Notef("%s", "No sessions found."+importHint)
	}
	return nil
}

// dirOf returns the directory of a session in the projects that were opened last.
func (a *app) dirOf(s projects.Summary) string {
	return filepath.Join(a.opened.Dir(), s.Project, "sessions", s.ID)
}

// rows returns the sessions to show, the one modified last first.
func (c *listCommand) rows(a *app) ([]projects.Summary, error) {
	since, err := a.date("since", c.Since)
	if err != nil {
		return nil, err
	}
	all, err := c.summaries(a)
	if err != nil {
		return nil, err
	}
	bar := a.Progress("reading", c.Limit)
	defer bar.Done()
	var rows []projects.Summary
	var failed []error
	for s, err := range all {
		if err != nil && s.Project == "" {
			return nil, err
		}
		if s.Changed.Before(since) && s.ID != "" { // and so are all that follow, but for those that failed
			continue
		}
		if err != nil {
			failed = append(failed, err)
			continue
		}
		if c.From != "" && !a.isFrom(s, c.From) {
			continue
		}
		rows = append(rows, s)
		bar.Step(1)
		if c.From != "" && len(rows) == c.Limit {
			break
		}
	}
	bar.Done()
	a.warn(errors.Join(failed...))
	a.noteIndex(rows)
	return rows, nil
}

// noteIndex notes what stands in the place of the index of a listed project.
func (a *app) noteIndex(rows []projects.Summary) {
	seen := map[string]bool{}
	for _, r := range rows {
		at := filepath.Join(filepath.Dir(a.dirOf(r)), ".sessionstore", "index")
		if fi, err := os.Stat(at); !seen[at] && err == nil && !fi.IsDir() {
			a.Notef("%s %s is not a directory, so each list reads all sessions: move it away", a.PaintError(screen.Yellow, "note:"), screen.Plain(at))
		}
		seen[at] = true
	}
}

// summaries returns the sessions to list, of one project or of all.
func (c *listCommand) summaries(a *app) (iter.Seq2[projects.Summary, error], error) {
	opts := &sessionstore.ListOptions{All: c.All, NoInternal: c.NoInternal, Limit: c.Limit}
	if c.From != "" { // then c.rows counts
		opts.Limit = 0
	}
	if c.AllProjects {
		p, err := a.known(where(c.local))
		if err != nil {
			return nil, err
		}
		return picker.Summaries(a.ctx, p, "", opts), nil
	}
	st, p, err := c.openStore(a)
	if err != nil || st == nil {
		return func(func(projects.Summary, error) bool) {}, err
	}
	return picker.Summaries(a.ctx, p, filepath.Base(filepath.Dir(st.Dir())), opts), nil
}

// markedTitle is the title of a session, marked where it keeps what one of two devices wrote at
// once, where a call has no result, and where a file of it is damaged.
func markedTitle(s sessionstore.Summary) string {
	title := s.Title
	if s.ConflictOf != "" {
		title = "conflict copy: " + title
	}
	if s.Unanswered > 0 {
		title = "interrupted: " + title
	}
	if wouldBeRefused(s) {
		title = "refused: " + title
	}
	if s.Damaged {
		title = "damaged: " + title
	}
	return title
}

// hides reports whether "sessions hide" hid the session in a directory. It reads the rules of a
// project once.
func (a *app) hides(path string) bool {
	dir, id := filepath.Split(path)
	hidden, known := a.hidden[dir]
	if !known {
		hidden = hybrid.Hidden(dir)
		if a.hidden == nil {
			a.hidden = map[string][]string{}
		}
		a.hidden[dir] = hidden
	}
	return slices.Contains(hidden, id)
}

// wouldBeRefused reports, by the facts in the index, whether a provider of the model refuses a
// session, or any provider where the model is not known. Calls without a result count apart.
func wouldBeRefused(s sessionstore.Summary) bool {
	return s.Refused+s.Pictures > 0 && slices.ContainsFunc(takersOf(s.Model), func(to accept.Target) bool {
		r := accept.PicturesOf(to.Provider, to.Host, to.Window)
		side := r.Side.Certain
		if r.Many > 0 && s.Pictures > r.Many {
			side = r.ManySide.Certain
		}
		return s.Refused > 0 && (r.InResults || s.Pictures == 0) || // a damaged picture may be in a result
			side > 0 && s.Side > side || r.Number.Certain > 0 && s.Pictures > r.Number.Certain
	})
}

// messages returns the number of messages that can be read, "?" where there is no transcript
// to read.
func (a *app) messages(s projects.Summary) string {
	if _, err := os.Stat(filepath.Join(a.dirOf(s), transcriptName)); s.Messages == 0 && (s.Damaged || err != nil) {
		return "?"
	}
	return strconv.Itoa(s.Messages)
}

// isFrom reports whether a session was imported from a tool, or from any.
func (a *app) isFrom(s projects.Summary, tool string) bool {
	st, err := a.opened.Store(s.Project)
	if err != nil {
		return false
	}
	md, _ := st.Metadata(a.ctx, s.ID)
	of := host.Origin(md)
	return of == tool || of != "" && tool == "all"
}

// description returns the description of a session whose metadata can be read.
func (a *app) description(s projects.Summary) string {
	st, err := a.opened.Store(s.Project)
	if err != nil {
		return ""
	}
	md, _ := st.Metadata(a.ctx, s.ID)
	return md.Text("description")
}

func (c *listCommand) table(a *app, rows []projects.Summary) {
	project := a.projectColumn(4)
	project.Once = false
	columns := []screen.Column{
		project,
		a.idColumn(),
		{Title: "Title", Min: 26, Tint: screen.In(screen.Cyan)},
		{Title: "Modified", Drop: 2, Tint: screen.In(screen.Yellow)},
		{Title: "Msgs", Right: true, Drop: 5},
		{Title: "Prompts", Right: true, Drop: 3},
	}
	var cells [][]string
	for _, r := range rows {
		title := markedTitle(r.Summary)
		if a.hides(a.dirOf(r)) {
			title = "hidden: " + title
		}
		row := []string{r.Project, r.ID, title, a.when(r.Changed), a.messages(r), strconv.Itoa(r.Prompts)}
		if c.Detailed {
			row = append(row, r.Bundle, r.Model, a.description(r))
		}
		cells = append(cells, row)
	}
	if c.Detailed {
		columns = append(columns,
			screen.Column{Title: "Bundle", Min: 8, Drop: 6},
			screen.Column{Title: "Model", Min: 8, Drop: 7},
			screen.Column{Title: "Description", Min: 20, Drop: 8})
	}
	if c.Compact {
		columns = columns[1:3]
		for i, row := range cells {
			cells[i] = row[1:3]
		}
	} else if a.Terminal() && !c.AllProjects {
		const title = "Sessions of "
		dir := cmp.Or(a.workDir(rows[0].Project), rows[0].Project)
		a.Printf("%s%s\n\n", title, a.Paint(screen.Magenta, screen.FitEnd(screen.Plain(dir), a.Width()-len(title))))
		columns = columns[1:]
		for i := range cells {
			cells[i] = cells[i][1:]
		}
	}
	a.Table(columns, cells)
}

// count returns a number of things in words, as "3 calls".
func count(n int, thing string) string {
	switch stem, ends := strings.CutSuffix(thing, "y"); {
	case n == 1 || thing == "more":
	case ends && (strings.HasSuffix(stem, "r") || strings.HasSuffix(stem, "p")):
		thing = stem + "ies"
	default:
		thing += "s"
	}
	return number(n) + " " + thing
}

// notNegative refuses a number of things that a flag gives.
func notNegative(flag string, n int) error {
	if n < 0 {
		return usageError{fmt.Sprintf("--%s: %d is negative; write how many to show", flag, n)}
	}
	return nil
}

// english writes numbers with commas.
var english = message.NewPrinter(language.English)

// number returns n with commas.
func number(n int) string { return english.Sprint(n) }

// size returns a number of bytes in words.
func size(bytes int64) string {
	if bytes < 1000 {
		return fmt.Sprintf("%d B", bytes)
	}
	value, unit := float64(bytes), 0
	for value >= 999.5 && unit < len(units) {
		value, unit = value/1000, unit+1
	}
	if value < 9.95 {
		return fmt.Sprintf("%.1f %s", value, units[unit-1])
	}
	return fmt.Sprintf("%.0f %s", value, units[unit-1])
}

var units = [...]string{"kB", "MB", "GB", "TB", "PB"}

// clock writes a time as a layout has it: on a terminal in this machine's time zone, in
// a pipe in UTC. It writes nothing for the zero time.
func (a *app) clock(t time.Time, layout string) string {
	switch {
	case t.IsZero():
		return ""
	case a.Terminal():
		return t.Local().Format(layout)
	}
	return t.UTC().Format(layout)
}

// minute is the layout of times for people.
const minute = "2006-01-02 15:04"

// when writes a time for the eye or for a program.
func (a *app) when(t time.Time) string {
	if a.Terminal() {
		return a.clock(t, minute)
	}
	return a.clock(t, time.RFC3339)
}

// moment returns the time of a record: on a terminal in the form for people, and in a
// pipe, or when it is not a date, unchanged.
func (a *app) moment(text string) string {
	if at, err := projects.ParseDate(text); err == nil && a.Terminal() {
		return a.when(at)
	}
	return text
}
