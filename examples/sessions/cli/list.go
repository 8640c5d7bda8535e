package cli

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

type listCommand struct {
	local
	views
	Limit       int    `short:"n" default:"20" placeholder:"N" help:"Number of sessions to show; 0: all (default: 20)."`
	AllProjects bool   `help:"Show sessions from all projects."`
	All         bool   `short:"a" help:"Show sub-sessions too."`
	Tree        string `short:"t" placeholder:"SESSION" help:"Show where a session comes from instead, as the command tree does."`
}

// views are the flags that say how much is shown, and in which form.
type views struct {
	Compact  bool   `xor:"view" help:"Show one line each." group:"Output"`
	Detailed bool   `xor:"view" help:"Show all there is." group:"Output"`
	Format   string `enum:"text,json" default:"text" placeholder:"FORM" help:"text or json; the same as --json." group:"Output"`
}

// Help is shown below the usage.
func (listCommand) Help() string {
	return `Shows the sessions of the project in the working directory, the one saved last first. Msgs counts the lines of the transcript. In a pipe every line has the columns project, session, name, time and messages, separated by tabs.`
}

// Run lists.
func (c *listCommand) Run(a *app) error {
	a.json = a.json || c.Format == "json"
	if c.Tree != "" {
		return (&treeCommand{here{c.Tree, c.local}}).Run(a)
	}
	rows, err := c.rows(a)
	if err != nil {
		return err
	}
	if a.json {
		return a.listJSON(rows)
	}
	if len(rows) == 0 {
		a.Notef("No sessions found.")
		return nil
	}
	c.table(a, rows)
	return nil
}

// listed is a session of a list.
type listed struct {
	project, id, path string
	modified          time.Time

	md       sessionstore.Metadata
	messages int // -1: not known
}

// rows returns the sessions to show, the one modified last first.
func (c *listCommand) rows(a *app) ([]listed, error) {
	opts := &sessionstore.ListOptions{All: c.All, Limit: c.Limit}
	var stores []*sessionstore.Store
	if c.AllProjects {
		p, err := a.projects(where(c.local))
		if err != nil {
			return nil, err
		}
		slugs, err := p.Slugs(a.ctx)
		if err != nil {
			return nil, err
		}
		for _, slug := range slugs {
			st, err := p.Store(slug)
			if err != nil {
				return nil, err
			}
			stores = append(stores, st)
		}
	} else {
		st, _, err := c.openStore(a)
		if err != nil {
			return nil, err
		}
		if st != nil {
			stores = append(stores, st)
		}
	}
	type place struct {
		listed
		store *sessionstore.Store
	}
	var all []place
	for _, st := range stores {
		infos, err := st.List(a.ctx, opts)
		if err != nil {
			return nil, err
		}
		for _, info := range infos {
			path := filepath.Join(st.Dir(), info.ID)
			project := filepath.Base(filepath.Dir(st.Dir()))
			all = append(all, place{listed{project: project, id: info.ID, path: path, modified: info.Modified}, st})
		}
	}
	slices.SortStableFunc(all, func(x, y place) int { return cmp.Compare(y.modified.UnixNano(), x.modified.UnixNano()) })
	if c.Limit > 0 {
		all = all[:min(c.Limit, len(all))]
	}
	bar := a.Progress("reading", len(all))
	defer bar.Done()
	rows := make([]listed, len(all))
	for i, p := range all {
		if err := a.ctx.Err(); err != nil {
			return nil, err
		}
		rows[i] = p.listed
		rows[i].md, _ = p.store.Metadata(a.ctx, p.id) // one that cannot be read is listed too
		rows[i].messages = countLines(filepath.Join(p.path, transcriptName))
		bar.Step(1)
	}
	return rows, nil
}

// countLines counts the lines of a file, -1 for one that cannot be read.
func countLines(path string) int {
	f, err := os.Open(path)
	if err != nil {
		return -1
	}
	defer f.Close()
	buf := make([]byte, 64<<10)
	lines, last := 0, byte('\n')
	for {
		n, err := f.Read(buf)
		if n > 0 {
			lines += bytes.Count(buf[:n], []byte{'\n'})
			last = buf[n-1]
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return -1
		}
	}
	if last != '\n' {
		lines++
	}
	return lines
}

func (r listed) lines() string {
	if r.messages < 0 {
		return "?"
	}
	return strconv.Itoa(r.messages)
}

func (c *listCommand) table(a *app, rows []listed) {
	var ids []string
	for _, r := range rows {
		ids = append(ids, r.id)
	}
	columns := []screen.Column{
		{Title: "Project", Min: 10, Drop: 4, Tint: screen.In(screen.Magenta)},
		{Title: "Session", Min: enough(ids), Whole: true, Tint: screen.In(screen.Green)},
		{Title: "Name", Min: 12, Tint: screen.In(screen.Cyan)},
		{Title: "Modified", Drop: 2, Tint: screen.In(screen.Yellow)},
		{Title: "Msgs", Right: true, Drop: 3},
	}
	var cells [][]string
	for _, r := range rows {
		when := r.modified.UTC().Format("2006-01-02 15:04")
		if !a.Terminal() {
			when = r.modified.UTC().Format(time.RFC3339)
		}
		row := []string{r.project, r.id, r.md.Text("name"), when, r.lines()}
		if c.Detailed {
			bundle, _ := r.md.Bundle()
			row = append(row, bundle, r.md.Text("model"), r.md.Text("description"))
		}
		cells = append(cells, row)
	}
	if c.Detailed {
		columns = append(columns,
			screen.Column{Title: "Bundle", Min: 8, Drop: 5},
			screen.Column{Title: "Model", Min: 8, Drop: 6},
			screen.Column{Title: "Description", Min: 20, Drop: 7})
	}
	if c.Compact {
		columns = columns[1:3]
		for i, row := range cells {
			cells[i] = row[1:3]
		}
	} else if a.Terminal() && !c.AllProjects {
		const title = "Sessions of "
		a.Printf("%s%s\n\n", title, a.Paint(screen.Magenta, screen.Fit(screen.Plain(rows[0].project), a.Width()-len(title))))
		columns = columns[1:]
		for i := range cells {
			cells[i] = cells[i][1:]
		}
	}
	a.Table(columns, cells)
}

// listJSON writes what the Python tools write, whole ids in place of cut ones,
// and further members.
func (a *app) listJSON(rows []listed) error {
	all := list{}
	for _, r := range rows {
		name := r.md.Text("name")
		if name == "" {
			name = r.id
		}
		summary := object{
			{"session_id", quoted(r.id)},
			{"modified", quoted(r.modified.UTC().Format("2006-01-02 15:04"))},
			{"messages", quoted(r.lines())},
		}
		all = append(all, object{
			{"name", quoted(name)},
			{"enabled", []byte("true")},
			{"behaviors", append(append([]byte{'['}, quoted(r.id)...), ']')},
			{"config_summary", summary.raw()},
			{"project", quoted(r.project)},
			{"path", quoted(r.path)},
			{"created", memberOf(r.md, "created")},
			{"bundle", memberOf(r.md, "bundle")},
			{"model", memberOf(r.md, "model")},
		})
	}
	return a.writeJSON(all, jsonIndent)
}
