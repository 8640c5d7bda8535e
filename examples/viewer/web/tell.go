package web

import (
	"errors"
	"io/fs"

	"github.com/amplifier-go/sessionstorage/examples/viewer/eventview"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// tell sends the changes in the named files, or with all in all files. When the session
// is gone, it sends that and returns an error that Is [fs.ErrNotExist].
func (t *teller) tell(names map[string]bool, all bool) error {
	err := t.tellFiles(names, all)
	if (all || err != nil) && !t.at.store.Exists(t.id) {
		return errors.Join(t.out.send("gone", "", struct{}{}), fs.ErrNotExist)
	}
	return err
}

func (t *teller) tellFiles(names map[string]bool, all bool) error {
	if all || names["phase_outputs.jsonl"] {
		if err := t.tellPhases(); err != nil {
			return err
		}
	}
	if all || names["transcript.jsonl"] {
		if err := t.tellMessages(); err != nil {
			return err
		}
	}
	if all || names[conversationFile] {
		if err := t.out.send("conversation", t.pos.String(), struct{}{}); err != nil {
			return err
		}
	}
	if all || names[conversationFile] || names["metadata.json"] || names["transcript.jsonl"] {
		if err := t.out.send("session", t.pos.String(), struct{}{}); err != nil {
			return err
		}
	}
	now := t.read().logs() // no watcher sees the newer log
	for i := range t.logs {
		if all || now[i] != t.size[i] || i == 0 && names["events.jsonl"] {
			t.size[i] = now[i]
			if err := t.tellEvents(i); err != nil {
				return err
			}
		}
	}
	return nil
}

// tellPhases sends the records that changed, each as it is now.
func (t *teller) tellPhases() error {
	state, err := t.at.log.Phases(t.Context(), t.id, t.pos.Phases)
	if err != nil {
		return err
	}
	if state.Read < t.pos.Phases { // another log
		t.pos.Phases = state.Read
		return t.out.send("phases", t.pos.String(), phaseList{shownPhases(state.Records), state.Read})
	}
	for i, rec := range state.Records {
		if i == len(state.Records)-1 {
			t.pos.Phases = state.Read // a page that misses some of them gets all again
		}
		if err := t.out.send("phase-output", t.pos.String(), shownPhase{rec, outputHTML(rec.Output)}); err != nil {
			return err
		}
	}
	t.pos.Phases = state.Read
	return nil
}

// tellMessages sends the first new messages of the transcript.
func (t *teller) tellMessages() error {
	shot, err := t.read().snapshot(t.Context())
	if err != nil {
		return err
	}
	if shot.tag == t.pos.Tag {
		return nil
	}
	old := t.pos.Messages
	if err := t.at.place(t.Context(), &t.pos, t.id, shot); err != nil {
		return err
	}
	from, err := t.newFrom(shot, old)
	if err != nil {
		return err
	}
	rows, err := t.read().rows(t.Context(), shot, from, from+maxTold, brief)
	if err != nil {
		return err
	}
	return t.out.send("transcript", t.pos.String(), toldMessages{shot.tag, shot.total, shot.turns, from, rows})
}

// newFrom returns the index of the first message that is shown in another way than it
// was when the transcript ended at old.
func (t *teller) newFrom(shot *snapshot, old sessionstore.Cursor) (int, error) {
	for e, err := range t.at.store.Since(t.Context(), t.id, old) {
		if err != nil {
			break // the page shows the damage
		}
		n := max(e.N, e.From) - 1
		if e.From > 0 {
			n = min(n, shot.total)
		}
		return t.read().changedSince(t.Context(), shot, n)
	}
	return shot.total, nil
}

// tellEvents sends the heads of the first new events of a log.
func (t *teller) tellEvents(i int) error {
	told := toldEvents{Log: "events", Rows: []eventview.Row{}}
	if i == 1 {
		told.Log = newerDir
	}
	for h, err := range t.logs[i].Heads(t.Context(), t.pos.Events[i]) {
		switch {
		case err != nil:
			return err
		case h.Rewritten:
			told.Rewritten, told.Rows = true, told.Rows[:0]
		case len(told.Rows) < maxTold:
			told.Rows = append(told.Rows, eventview.RowOf(h))
		default:
			told.More = true
		}
		t.pos.Events[i] = h.Next
	}
	if !told.Rewritten && len(told.Rows) == 0 {
		return nil
	}
	return t.out.send("event", t.pos.String(), told)
}
