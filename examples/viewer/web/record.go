package web

import (
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/examples/viewer/decided"
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
	ofAgent := func() ([]decided.Row, error) { return decided.OfAgent(r.Context(), r.at.store, r.id) }
	for _, read := range []func() ([]decided.Row, error){ofAgent, r.checkpoint} {
		rows, err := read()
		damage, err := onlyDamage(err)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			damage = err.Error()
		}
		for _, d := range rows {
			if d.Kind == decided.Command {
				d.What, d.Text = "", d.What
			}
			out.Rows = append(out.Rows, decision{d.Kind, stampText(d.Time), d.What, d.Text})
		}
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

// checkpoint returns what was decided in the state of a phased workflow.
func (r *request) checkpoint() ([]decided.Row, error) {
	if !r.read().has(checkpointFile) {
		return nil, nil
	}
	session, err := checkpoint.New(nil).Open(filepath.Join(r.at.store.Dir(), r.id))
	if err != nil {
		return nil, err
	}
	return decided.OfWorkflow(session.State())
}

func stampText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
