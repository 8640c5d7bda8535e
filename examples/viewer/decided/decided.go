// Package decided lists what a user decided and approved in a session, and what happened in
// the runs of its agents.
package decided

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/agentstate"
	"github.com/amplifier-go/sessionstorage/sessionstore/checkpoint"
)

// Row is a decision, an approval, an error or a run of an agent.
type Row struct {
	Kind string
	Time time.Time // zero: not known
	What string    // what it is about; "" where the text says all
	Text string
}

// Command is the kind of a command that is approved for good, which is its What.
const Command = "approved command"

// OfAgent returns the calls with a verdict, and the approved commands, in the state of the
// agent of a session. With damage it returns all that can be read.
func OfAgent(ctx context.Context, store *sessionstore.Store, id string) (all []Row, err error) {
	st, err := agentstate.Open(store, id, nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	kept, err := st.Approvals(ctx)
	for _, k := range kept {
		all = append(all, Row{Kind: string(k.Verdict), What: k.ID, Text: string(k.Call)})
	}
	commands, failed := st.ApprovedCommands(ctx)
	for _, command := range commands {
		all = append(all, Row{Kind: Command, What: command})
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

// OfWorkflow returns the approvals, decisions, errors and runs of agents in the state of a
// phased workflow. After an error it returns those before it.
func OfWorkflow(state checkpoint.State) (all []Row, err error) {
	phase := func(n int) string { return "phase " + strconv.Itoa(n) }
	approvals := state.Approvals()
	for _, n := range slices.Sorted(maps.Keys(approvals)) {
		a := approvals[n]
		row := Row{"approved", a.Time, phase(n), ""}
		if !a.Approved {
			row.Kind = "refused"
		}
		if a.Feedback != nil {
			row.Text = *a.Feedback
		}
		all = append(all, row)
		for _, change := range a.ChangesRequested {
			all = append(all, Row{"change requested", a.Time, phase(n), change})
		}
	}
	for _, d := range state.Decisions() {
		value, err := sessionstore.FormatJSON(d.Value, 0)
		if err != nil {
			return all, err
		}
		all = append(all, Row{"decision", d.Time, "", string(value)})
	}
	for _, e := range state.Errors() {
		all = append(all, Row{"error", e.Time, phase(e.Phase) + ", " + e.Agent, e.Type + ": " + e.Message})
	}
	for _, r := range state.AgentRuns() {
		all = append(all, Row{"run: " + r.Status, r.Time, phase(r.Phase) + ", " + r.Agent, strconv.FormatFloat(r.DurationSeconds, 'f', -1, 64) + " s"})
	}
	return all, nil
}
