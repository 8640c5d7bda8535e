package cli

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
	"github.com/amplifier-go/sessionstorage/examples/viewer/decided"
	"github.com/amplifier-go/sessionstorage/sessionstore/checkpoint"
)

type decisionsCommand struct {
	anywhere
}

// Help is shown below the usage.
func (decisionsCommand) Help() string {
	return `Shows what a user decided and approved: the calls that wait for an approval or had one (of a call that ran, the id), the commands that are approved, and of a phased workflow the approvals, decisions, errors and runs of agents. SESSION may be the directory of a workflow's session-state.json, too. In a pipe every line has the columns kind, time, what and text, separated by tabs.`
}

// decision is a line of the answer.
type decision struct {
	Kind string  `json:"kind"`
	Time *string `json:"time"`
	What *string `json:"what"`
	Text *string `json:"text"`
}

// Run shows.
func (c *decisionsCommand) Run(a *app) error {
	rows, damage := c.all(a)
	if damage != nil && rows == nil {
		return damage
	}
	all := []decision{}
	for _, r := range rows {
		all = append(all, decision{r.Kind, moment(r.Time), known(r.What), known(r.Text)})
	}
	return errors.Join(a.answer(all, func() {
		if len(all) == 0 {
			a.Notef("Nothing was decided or approved.")
		}
		for _, d := range all {
			a.decision(d)
		}
	}), damage)
}

// decision writes a decision in a line, and on a terminal its text below it, so that the
// text of an approval is never cut.
func (a *app) decision(d decision) {
	cells := []string{screen.Plain(d.Kind), a.moment(text(d.Time)), screen.Plain(text(d.What)), screen.Plain(text(d.Text))}
	if !a.Terminal() {
		a.Print(strings.Join(cells, "\t") + "\n")
		return
	}
	cells[0], cells[1] = a.Paint(screen.Green, cells[0]), a.Paint(screen.Yellow, cells[1])
	head := slices.DeleteFunc(cells[:3], func(cell string) bool { return cell == "" })
	a.Printf("%s\n", strings.Join(head, "  "))
	if d.Text != nil {
		a.Printf("  %s\n", cells[3])
	}
}

// all returns the decisions of the session or workflow. With damage, it returns an error
// and all that can be read. It returns nil when there is no such session.
func (c *decisionsCommand) all(a *app) ([]decided.Row, error) {
	if dir, ok := workflowDir(c.Session); ok {
		return ofWorkflow(dir)
	}
	t, err := c.reach(a)
	if err != nil {
		return nil, err
	}
	all, damage := decided.OfAgent(a.ctx, t.store, t.id)
	if dir, ok := workflowDir(t.dir()); ok {
		more, err := ofWorkflow(dir)
		all, damage = append(all, more...), errors.Join(damage, err)
	}
	return append([]decided.Row{}, all...), damage
}

// workflowDir returns path as an absolute path, and reports whether it is the directory
// of a session-state.json.
func workflowDir(path string) (string, bool) {
	if path == "" {
		return "", false
	}
	dir, err := filepath.Abs(path)
	if err != nil {
		return "", false
	}
	_, err = os.Stat(filepath.Join(dir, "session-state.json"))
	return dir, err == nil
}

// ofWorkflow returns the status of a session-state.json, and what was decided in it.
func ofWorkflow(dir string) ([]decided.Row, error) {
	s, err := checkpoint.New(nil).Open(dir)
	if err != nil {
		return nil, err
	}
	state := s.State()
	all, err := decided.OfWorkflow(state)
	status := decided.Row{Kind: "status", Time: state.LastUpdated(), What: string(state.Status()), Text: "phase " + strconv.Itoa(state.CurrentPhase())}
	return slices.Insert(all, 0, status), err
}
