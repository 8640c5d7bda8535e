package conformance

import (
	"encoding/json"
	"testing"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// messageCase is one message, saved as the only one of a session.
type messageCase struct {
	Input   string `json:"input_json"`
	Skipped bool
	Line    *content
	Error   *failure
}

// saved is what became of a message: its line, or why there is none.
type saved struct {
	Line    string
	Skipped bool
	Failed  string
}

func (c messageCase) run(t *testing.T) verdict {
	reference := saved{Skipped: c.Skipped, Failed: c.Error.outcome()}
	if c.Line != nil {
		reference.Line = c.Line.String()
	}
	p := newPlace(t)
	failed := save(t, p.open(t), "s", "["+c.Input+"]", "{}")
	return judge(reference, savedIn(p.get(t, "s"), failed), func(f *fired) saved {
		m := newModel(f, "s", nil)
		failed := m.save("["+c.Input+"]", "{}")
		f.forget(refusedFirst)
		return savedIn(m.files, failed)
	})
}

func savedIn(f files, failed string) saved {
	if failed != succeeded {
		return saved{Failed: failed}
	}
	content := f[transcriptFile]
	if content == "" {
		return saved{Skipped: true}
	}
	return saved{Line: content[:len(content)-1]}
}

// save saves as a program does: what cannot be stored is refused when it is
// made. It returns what became of it.
func save(t *testing.T, st *sessionstore.Store, id, messages, metadata string) (failed string) {
	t.Helper()
	list, err := newMessages(messages)
	if err != nil {
		return outcome(err)
	}
	md, err := sessionstore.NewMetadata(json.RawMessage(metadata))
	if err != nil {
		return outcome(err)
	}
	return outcome(st.Save(t.Context(), id, list, md))
}

// saveCase is a row of saves of one session.
type saveCase struct {
	ID    string `json:"session_id"`
	Steps []struct {
		Messages string `json:"messages_json"`
		Metadata string `json:"metadata_json"`
	}
	Errors   []*failure `json:"step_errors"`
	Expected files      `json:"expected_files"`
}

// written is what became of calls, and what stands on disk after them.
type written struct {
	Failed []string
	Files  []files
}

func (c saveCase) run(t *testing.T) verdict {
	reference := written{Files: []files{c.Expected}}
	for _, f := range c.Errors {
		reference.Failed = append(reference.Failed, f.outcome())
	}
	p := newPlace(t)
	st := p.open(t)
	var ours written
	for _, s := range c.Steps {
		ours.Failed = append(ours.Failed, save(t, st, c.ID, s.Messages, s.Metadata))
	}
	ours.Files = []files{p.get(t, c.ID)}
	return judge(reference, ours, func(f *fired) (w written) {
		m := newModel(f, c.ID, nil)
		for _, s := range c.Steps {
			w.Failed = append(w.Failed, m.save(s.Messages, s.Metadata))
		}
		w.Files = []files{m.files}
		return w
	})
}
