package conformance

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/store/decimal"
	"github.com/amplifier-go/sessionstorage/internal/store/sessioncost"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// costRunner runs the cases about what sessions cost.
func costRunner() runner {
	return byKind(map[string]runner{
		"decimal": of(decimalCase.run), "ordinary": of(ordinaryCase.run), "fork": of(forkCostCase.run), "path": of(pathCase.run),
	})
}

// decimalCase reads a cost.
type decimalCase struct {
	Value    string `json:"value_json"`
	Expected *string
}

func (c decimalCase) run(*testing.T) verdict {
	var ours *string
	if n, ok := decimal.FromJSON([]byte(c.Value)); ok {
		text := n.String()
		ours = &text
	}
	return equal(c.Expected, ours)
}

// registered is what was added to the costs of a session.
type registered struct {
	Channel, Name string
	USD           string `json:"cost_usd"`
}

// ordinaryCase restores the cost of a session that is no fork.
type ordinaryCase struct {
	SessionID  string `json:"session_id"`
	EventsFile string `json:"events_file"`
	Events     *content
	Total      *string
	Restored   *string
	Registered []registered
	Error      *failure
}

type costOutcome struct {
	Total, Restored *string
	Registered      []registered
	Problems        []string
	Incomplete      bool
	Registrations   int
	Failed          bool
}

func (c ordinaryCase) run(t *testing.T) verdict {
	p := newProjects(t)
	if c.Events != nil {
		p.put(t, files{filepath.Join("projects/slug/sessions/root", c.EventsFile): c.Events.String()})
	}
	reference := costOutcome{Total: c.Total, Restored: c.Restored, Registered: c.Registered, Failed: c.Error != nil}
	// The log is in the directory of root, whatever session it is read for.
	log, err := sessioncost.Open(t.Context(), p.locate(t, "root", "").Ordinary, c.SessionID)
	require.NoError(t, err)
	ours := costOutcome{}
	if log == nil {
		log = &sessioncost.Events{}
	}
	total, known, err := log.Ordinary()
	ours.Failed = err != nil
	if known {
		text := total.String()
		ours.Total = &text
	}
	if known && !total.IsZero() {
		ours.Restored, ours.Registered = ours.Total, []registered{{"session.cost", "history:" + c.SessionID, *ours.Total}}
	}
	if ours.Registered == nil && !ours.Failed {
		ours.Registered = []registered{}
	}
	return equal(reference, ours)
}

// forkCostCase restores the cost of a fork.
type forkCostCase struct {
	SessionID     string `json:"session_id"`
	Files         files
	Base          *string `json:"env_base_path"`
	Coordinator   string
	Total         *string
	Diagnostics   []string
	Incomplete    bool
	Registered    []registered
	Registrations int `json:"registrations_after_second_call"`
	Error         *failure
}

func (c forkCostCase) run(t *testing.T) verdict {
	p := newProjects(t)
	p.put(t, c.Files)
	reference := costOutcome{
		Total: c.Total, Problems: c.Diagnostics, Incomplete: c.Incomplete, Registered: c.Registered, Registrations: c.Registrations, Failed: c.Error != nil,
	}
	require.NoError(t, os.MkdirAll(filepath.Join(p.sessions(), c.SessionID), 0o700))
	ours := costOutcome{}
	boundary, log := p.readFork(t, c)
	total, problems, err := log.Fork(boundary, c.SessionID)
	if ours.Failed = err != nil; err == nil {
		text := total.String()
		host := &coordinator{kind: c.Coordinator}
		ours.Total, ours.Problems, ours.Registered = &text, append([]string{}, problems...), []registered{}
		add := registered{"session.cost", "history:" + c.SessionID, text}
		if !total.IsZero() && !host.add(add) {
			ours.Problems = append(ours.Problems, "registration_failed:"+c.SessionID)
		}
		ours.Registered = append(ours.Registered, host.added...)
		if !total.IsZero() {
			host.add(add)
		}
		ours.Registrations, ours.Incomplete = len(host.added), len(ours.Problems) > 0
	}
	return equal(reference, ours)
}

// coordinator is a host that costs are added to.
type coordinator struct {
	kind  string
	added []registered
}

// add adds costs, and reports whether it worked. A host that has a state takes
// them once.
func (h *coordinator) add(r registered) bool {
	switch {
	case h.kind == "register_raises":
		return false
	case h.kind == "no_session_state" || len(h.added) == 0:
		h.added = append(h.added, r)
	}
	return true
}

// readFork reads what there is of the fork.
func (p projectTree) readFork(t *testing.T, c forkCostCase) (sessioncost.Boundary, *sessioncost.Events) {
	t.Helper()
	md, err := p.open(t).Metadata(t.Context(), c.SessionID)
	raw, _ := md.Lookup(sessioncost.Member)
	boundary := sessioncost.Verify(raw)
	if err != nil {
		require.ErrorIs(t, err, sessionstore.ErrCorrupt)
		boundary.Problems = append(boundary.Problems, "unreadable_fork_metadata")
	}
	base := ""
	if c.Base != nil {
		base = *c.Base
	}
	log, err := sessioncost.Open(t.Context(), p.locate(t, c.SessionID, base).Capture, c.SessionID)
	require.NoError(t, err)
	return boundary, log
}

// pathCase finds the logs of a session.
type pathCase struct {
	SessionID    string   `json:"session_id"`
	FilesPresent []string `json:"files_present"`
	Base         *string  `json:"env_base_path"`
	Home         string
	CI, Ordinary string
}

func (c pathCase) run(t *testing.T) verdict {
	p := newProjects(t)
	for _, name := range c.FilesPresent {
		p.put(t, files{name: ""})
	}
	base := ""
	if c.Base != nil {
		base = *c.Base
	}
	dir := filepath.Join(p.sessions(), c.SessionID)
	got := sessioncost.Locate(dir, p.at(base), p.at(c.Home), sessioncost.IsFile)
	return equal(sessioncost.Files{Capture: p.at(c.CI), Ordinary: p.at(c.Ordinary)}, got)
}

// projectTree is a directory in which a project's sessions lie as the vectors have
// them.
type projectTree struct{ dir string }

func newProjects(t *testing.T) projectTree {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	p := projectTree{dir}
	require.NoError(t, os.MkdirAll(p.sessions(), 0o700))
	return p
}

func (p projectTree) sessions() string { return filepath.Join(p.dir, "projects", "slug", "sessions") }

// at puts the directory into a text of the vectors.
func (p projectTree) at(text string) string { return strings.ReplaceAll(text, "{DIR}", p.dir) }

func (p projectTree) put(t *testing.T, f files) {
	t.Helper()
	for name, text := range f {
		path := filepath.Join(p.dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(p.at(text)), 0o600))
	}
}

func (p projectTree) open(t *testing.T) *sessionstore.Store {
	t.Helper()
	return place{dir: p.sessions(), workspace: p.dir}.open(t)
}

func (p projectTree) locate(t *testing.T, id, base string) sessioncost.Files {
	t.Helper()
	return sessioncost.Locate(filepath.Join(p.sessions(), id), p.at(base), "", sessioncost.IsFile)
}
