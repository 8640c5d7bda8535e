package inspect

import (
	"context"
	"errors"
	"fmt"

	"github.com/amplifier-go/sessionstorage/internal/test/powercut/history"
	"github.com/amplifier-go/sessionstorage/internal/test/powercut/reader"
)

// A Finding is one reader's view of one subject.
type Finding struct {
	Subject history.Subject
	Reader  string // go, python or plain
	State   history.State
	Verdict history.Verdict
}

// String describes the fault, in one line.
func (f Finding) String() string {
	return fmt.Sprintf("%s %s %s/%s, read by %s: last acknowledged %s: %s, lost %d of %d; %d rows, number %d, from %q, error %q",
		f.Subject.Mode, f.Subject.View, f.Subject.Dir, f.Subject.ID, f.Reader, f.Verdict.Kind, f.Verdict.What,
		f.Verdict.Lost, f.Verdict.Acked, len(f.State.Rows), f.State.Number, f.State.From, f.State.Err)
}

// Look reads the subjects of all below root with each reader and judges them as
// after a cut. It leaves out those for which a device must sync first.
func Look(ctx context.Context, root string, all []*history.History, cut int, p *Python) (found []Finding, err error) {
	r := reader.New(root)
	defer func() { err = errors.Join(err, r.Close()) }()
	var sessions []*history.History
	var places []place
	for _, h := range all {
		if !h.Begun(cut) || h.Subject.Synced() {
			continue
		}
		state, name := r.State(ctx, h.Subject), "go"
		switch h.Subject.View {
		case history.Session:
			sessions = append(sessions, h)
			places = append(places, place{r.Path(h.Subject), h.Subject.ID})
		case history.Events, history.Config, history.Whole:
			name = "plain"
		}
		found = append(found, Finding{h.Subject, name, state, h.Judge(cut, state)})
	}
	states, err := p.load(places)
	if err != nil {
		return nil, fmt.Errorf("read with python: %w", err)
	}
	for i, h := range sessions {
		found = append(found, Finding{h.Subject, "python", states[i], h.Judge(cut, states[i])})
	}
	return found, nil
}
