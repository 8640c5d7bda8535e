package cli

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/agentstate"
	"github.com/amplifier-go/sessionstorage/sessionstore/checkpoint"
)

type decisionsCommand struct {
	anywhere
}

// Help is shown below the usage.
func (decisionsCommand) Help() string {
	return `Shows what a user decided and approved: the calls that wait for an approval or had one, the commands that are approved, and of a phased workflow the approvals, decisions, errors and runs of agents. SESSION may be the directory of a workflow's session-state.json, too. In a pipe every line has the columns kind, time, what and text, separated by tabs.`
}

// decided is a line of the answer.
type decided struct {
	Kind string  `json:"kind"`
	Time *string `json:"time"`
	What *string `json:"what"`
	Text *string `json:"text"`
}

func decide(kind string, at time.Time, what, text string) decided {
	return decided{kind, moment(at), known(what), known(text)}
}

// Run shows.
func (c *decisionsCommand) Run(a *app) error {
	all, damage := c.all(a)
	if damage != nil && all == nil {
		return damage
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
func (a *app) decision(d decided) {
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
func (c *decisionsCommand) all(a *app) ([]decided, error) {
	if dir, ok := workflowDir(c.Session); ok {
		return ofWorkflow(dir)
	}
	t, err := c.reach(a)
	if err != nil {
		return nil, err
	}
	all, damage := a.ofAgent(t)
	if dir, ok := workflowDir(t.dir()); ok {
		more, err := ofWorkflow(dir)
		all, damage = append(all, more...), errors.Join(damage, err)
	}
	return append([]decided{}, all...), damage
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

// ofAgent returns the calls with a verdict and the approved commands of an agent's state.
func (a *app) ofAgent(t target) (all []decided, err error) {
	st, err := agentstate.Open(t.store, t.id, nil)
	if err != nil {
		return nil, err
	}
	a.later(st.Close)
	kept, err := st.Approvals(a.ctx)
	for _, k := range kept {
		all = append(all, decide(string(k.Verdict), time.Time{}, k.ID, string(k.Call)))
	}
	commands, failed := st.ApprovedCommands(a.ctx)
	for _, text := range commands {
		all = append(all, decide("approved command", time.Time{}, text, ""))
	}
	return all, errors.Join(unlessMissing(err), unlessMissing(failed))
}

// unlessMissing returns err, but nil when a file or session does not exist.
func unlessMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, sessionstore.ErrNotFound) {
		return nil
	}
	return err
}

// ofWorkflow returns the status, approvals, decisions, errors and runs of agents of a
// session-state.json.
func ofWorkflow(dir string) ([]decided, error) {
	s, err := checkpoint.New(nil).Open(dir)
	if err != nil {
		return nil, err
	}
	state := s.State()
	all := []decided{decide("status", state.LastUpdated(), string(state.Status()), "phase "+strconv.Itoa(state.CurrentPhase()))}
	approvals := state.Approvals()
	for _, phase := range slices.Sorted(maps.Keys(approvals)) {
		ap := approvals[phase]
		kind := "approved"
		if !ap.Approved {
			kind = "refused"
		}
		all = append(all, decide(kind, ap.Time, "phase "+strconv.Itoa(phase), text(ap.Feedback)))
		for _, change := range ap.ChangesRequested {
			all = append(all, decide("change requested", ap.Time, "phase "+strconv.Itoa(phase), change))
		}
	}
	for _, d := range state.Decisions() {
		value, err := sessionstore.FormatJSON(d.Value, 0)
		if err != nil {
			return all, err
		}
		all = append(all, decide("decision", d.Time, "", string(value)))
	}
	for _, e := range state.Errors() {
		all = append(all, decide("error", e.Time, "phase "+strconv.Itoa(e.Phase)+", "+e.Agent, e.Type+": "+e.Message))
	}
	for _, r := range state.AgentRuns() {
		all = append(all, decide("run: "+r.Status, r.Time, "phase "+strconv.Itoa(r.Phase)+", "+r.Agent, strconv.FormatFloat(r.DurationSeconds, 'f', -1, 64)+" s"))
	}
	return all, nil
}
