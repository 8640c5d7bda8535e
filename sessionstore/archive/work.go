package archive

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/workflow"
)

// work is the workflow of a session: its phases, and what was said about it. The
// nil *work has neither.
type work struct {
	Said []workflow.SessionMessage

	log    *workflow.Log
	id     string  // of the session
	ids    []int64 // of the records of the phases, in order
	redact Redactor
	err    error // that ended phases
}

// openWork reads the conversation of a workflow, and which phases there are. A
// damaged line is left out, and the error Is [sessionstore.ErrCorrupt] then.
func openWork(ctx context.Context, st *sessionstore.Store, id string, r Redactor) (*work, error) {
	w := &work{log: workflow.New(st), id: id, redact: r}
	phases, err := w.log.Phases(ctx, id, 0)
	if err != nil {
		return nil, err
	}
	for _, record := range phases.Records {
		w.ids = append(w.ids, record.ID)
	}
	said, damage := w.log.Conversation(ctx, id, nil)
	if damage != nil && !errors.Is(damage, sessionstore.ErrCorrupt) {
		return nil, damage
	}
	for i := range said {
		if err := redactRecord(&said[i], r); err != nil {
			return nil, fmt.Errorf("redact message %d of the workflow: %w", i+1, err)
		}
	}
	w.Said = said
	return w, errors.Join(phases.Damage, damage)
}

// HasPhases reports whether there is a phase.
func (w *work) HasPhases() bool { return w != nil && len(w.ids) > 0 }

// HasSaid reports whether something was said.
func (w *work) HasSaid() bool { return w != nil && len(w.Said) > 0 }

// phases yields the phases in order, one in memory at a time. When they end
// early, w.err tells why.
func (w *work) phases(ctx context.Context) iter.Seq[workflow.PhaseRecord] {
	return func(yield func(workflow.PhaseRecord) bool) {
		for i, id := range w.ids {
			record, err := w.log.Phase(ctx, w.id, id)
			if errors.Is(err, sessionstore.ErrNotFound) { // it was removed meanwhile
				continue
			}
			if err == nil {
				err = redactRecord(&record, w.redact)
			}
			if err != nil {
				w.err = fmt.Errorf("phase %d: %w", i+1, err)
				return
			}
			if !yield(record) {
				return
			}
		}
	}
}

// redactRecord applies r, unless it is nil, to the line that a record stands in.
func redactRecord(record any, r Redactor) error {
	if r == nil {
		return nil
	}
	line, err := json.Marshal(record)
	if err != nil {
		return err
	}
	if line, err = redactLine(line, r); err != nil {
		return err
	}
	if err := json.Unmarshal(line, record); err != nil {
		return fmt.Errorf("%w: %w", ErrRedacted, err)
	}
	return nil
}

// phaseTitle names a phase for people.
func phaseTitle(p workflow.PhaseRecord) string {
	if p.PhaseName == "" {
		return "Phase " + p.PhaseID
	}
	return p.PhaseName
}

// part is a text of a phase, and what it is.
type part struct {
	Name, Text string
	Prompt     bool // it went to the model
}

// phaseParts returns the texts of a phase that are there.
func phaseParts(p workflow.PhaseRecord) (parts []part) {
	for _, one := range []struct {
		name   string
		text   *string
		prompt bool
	}{{"System prompt", p.SystemPrompt, true}, {"User input", p.UserInput, true}, {"Output", p.Output, false}} {
		if one.text != nil && *one.text != "" {
			parts = append(parts, part{one.name, *one.text, one.prompt})
		}
	}
	return parts
}
