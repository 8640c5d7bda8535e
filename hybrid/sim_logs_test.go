package hybrid

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore/workflow"
)

// event appends to the session's events, as the programs do that write them.
func (w *world) event(d *gadget, id string) {
	if id != "" {
		w.appendRow(d, id, "events.jsonl", `{"event": "tool:pre", "note": "%s"}`)
	}
}

func (w *world) stateHistory(d *gadget, id string) {
	if id != "" {
		w.appendRow(d, id, "state_history.jsonl", `{"version": 1, "note": "%s"}`)
	}
}

func (w *world) appendRow(d *gadget, id, name, format string) {
	mark := w.reader.mark()
	path := filepath.Join(d.dir, id, name)
	_, missing := os.Stat(path)
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	require.NoError(w.t, err)
	_, err = fmt.Fprintf(f, format+"\n", mark)
	require.NoError(w.t, errors.Join(err, f.Close()))
	d.life.setTime(path)
	if missing != nil {
		d.life.setTime(filepath.Dir(path))
	}
	w.ackMark(d, id, name, mark, nil)
}

// phase saves the output of a phase, a new one or one that is there.
func (w *world) phase(d *gadget, id string) {
	if !w.free(d, id) {
		return
	}
	mark := w.reader.mark()
	_, err := d.SavePhaseOutput(w.ctx(), id, workflow.PhaseOutput{
		PhaseID: fmt.Sprint("phase-", w.rand.IntN(3)), PhaseName: "a phase", Status: "completed", Output: &mark,
	})
	w.ackMark(d, id, "phase_outputs.jsonl", mark, err)
}

func (w *world) talk(d *gadget, id string) {
	if !w.free(d, id) {
		return
	}
	mark := w.reader.mark()
	_, err := d.AddMessage(w.ctx(), id, nil, "user", mark)
	w.ackMark(d, id, "session_conversation.jsonl", mark, err)
}

// ackMark takes note of a mark that a write acknowledged.
func (w *world) ackMark(d *gadget, id, kind, mark string, err error) {
	w.t.Helper()
	w.expected(d, err)
	if err == nil {
		w.note(d, id, kind, mark)
	}
	if *simVerbose {
		w.t.Log(time.Since(simStart), d.name, id, kind, mark, err)
	}
}
