package web

import (
	"errors"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/examples/viewer/eventview"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/agentstate"
	"github.com/amplifier-go/sessionstorage/sessionstore/checkpoint"
	"github.com/amplifier-go/sessionstorage/sessionstore/workflow"
)

// The files beside a transcript that hold a conversation, and decisions.
const conversationFile = "session_conversation.jsonl"

var decisionFiles = []string{checkpointFile, "pending_approvals.json", "state.json"}

const checkpointFile = "session-state.json"

// has reports whether the session has one of those files.
func (r *readings) has(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		fi, err := os.Lstat(filepath.Join(r.store.Dir(), r.id, name))
		return err == nil && fi.Mode().IsRegular()
	})
}

const (
	maxSaid    = 200      // messages of a conversation in one answer, the last ones
	maxDecided = 500      // decisions in one answer
	maxRecord  = 16 << 10 // bytes of one of them
)

// said is a message of the conversation about a workflow.
type said struct {
	workflow.SessionMessage
	HTML string `json:"html,omitempty"`
}

// conversation answers with the last messages of the conversation about a
// session's workflow.
func (s *Server) conversation(w http.ResponseWriter, r *request) error {
	all, err := r.at.log.Conversation(r.Context(), r.id, nil)
	damage, err := onlyDamage(err)
	if err != nil {
		return err
	}
	out := struct {
		Total  int    `json:"total"`
		Rows   []said `json:"rows"`
		Damage string `json:"damage,omitempty"`
	}{len(all), []said{}, damage}
	for _, m := range all[max(0, len(all)-maxSaid):] {
		m.Content = eventview.Shorten(m.Content, maxRecord)
		v := said{SessionMessage: m}
		if m.Role == "assistant" {
			v.HTML = renderMarkdown(m.Content)
		}
		out.Rows = append(out.Rows, v)
	}
	return answer(w, out)
}

// onlyDamage returns the text of an error about damage, and any other error unchanged.
func onlyDamage(err error) (text string, other error) {
	if errors.Is(err, sessionstore.ErrCorrupt) || errors.Is(err, agentstate.ErrDamaged) || errors.Is(err, agentstate.ErrVersion) {
		return err.Error(), nil
	}
	return "", err
}

// decision is something that a user decided or approved, or that happened to a
// run of an agent.
type decision struct {
	Kind string `json:"kind"`
	Time string `json:"time,omitempty"`
	What string `json:"what"`
	Text string `json:"text"`
}

// decisions answers with the decisions and approvals of a session.
func (s *Server) decisions(w http.ResponseWriter, r *request) error {
	out := struct {
		Rows   []decision `json:"rows"`
		More   bool       `json:"more,omitempty"`
		Damage string     `json:"damage,omitempty"`
	}{Rows: []decision{}}
	for _, read := range []func() ([]decision, error){r.approvals, r.checkpoint} {
		rows, err := read()
		damage, err := onlyDamage(err)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			damage = err.Error()
		}
		out.Rows = append(out.Rows, rows...)
		out.Damage = strings.TrimSpace(out.Damage + " " + damage)
	}
	if out.More = len(out.Rows) > maxDecided; out.More {
		out.Rows = out.Rows[:maxDecided]
	}
	for i := range out.Rows {
		out.Rows[i].Text = eventview.Shorten(out.Rows[i].Text, maxRecord)
	}
	return answer(w, out)
}

// approvals returns the calls with a verdict and the approved commands of an agent's
// state.
func (r *request) approvals() (all []decision, err error) {
	st, err := agentstate.Open(r.at.store, r.id, nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	kept, err := st.Approvals(r.Context())
	for _, k := range kept {
		all = append(all, decision{Kind: string(k.Verdict), What: k.ID, Text: string(k.Call)})
	}
	commands, failed := st.ApprovedCommands(r.Context())
	for _, command := range commands {
		all = append(all, decision{Kind: "approved command", Text: command})
	}
	return all, errors.Join(err, failed)
}

// checkpoint returns the approvals, decisions, errors and runs of agents in the state of
// a phased workflow.
func (r *request) checkpoint() (all []decision, err error) {
	if !r.read().has(checkpointFile) {
		return nil, nil
	}
	session, err := checkpoint.New(nil).Open(filepath.Join(r.at.store.Dir(), r.id))
	if err != nil {
		return nil, err
	}
	state := session.State()
	phase := func(n int) string { return "phase " + strconv.Itoa(n) }
	approvals := state.Approvals()
	for _, n := range slices.Sorted(maps.Keys(approvals)) {
		a := approvals[n]
		d := decision{"approved", stampText(a.Time), phase(n), ""}
		if !a.Approved {
			d.Kind = "refused"
		}
		if a.Feedback != nil {
			d.Text = *a.Feedback
		}
		all = append(all, d)
		for _, change := range a.ChangesRequested {
			all = append(all, decision{"change requested", d.Time, d.What, change})
		}
	}
	for _, d := range state.Decisions() {
		value, err := sessionstore.FormatJSON(d.Value, 0)
		if err != nil {
			return all, err
		}
		all = append(all, decision{"decision", stampText(d.Time), "", string(value)})
	}
	for _, e := range state.Errors() {
		all = append(all, decision{"error", stampText(e.Time), phase(e.Phase) + ", " + e.Agent, e.Type + ": " + e.Message})
	}
	for _, run := range state.AgentRuns() {
		all = append(all, decision{"run: " + run.Status, stampText(run.Time), phase(run.Phase) + ", " + run.Agent, strconv.FormatFloat(run.DurationSeconds, 'f', -1, 64) + " s"})
	}
	return all, nil
}

func stampText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
