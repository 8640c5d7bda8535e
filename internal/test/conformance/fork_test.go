package conformance

import (
	"encoding/json"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice"
)

// Rules about forks.
const (
	forkNew        rule = "fork-new"
	forkRecovers   rule = "fork-recovers"
	forkRedacts    rule = "fork-redacts"
	forkTimes      rule = "fork-times"
	forkWorkingDir rule = "fork-working-dir"
)

func forkRules() []rule {
	return []rule{forkNew, forkRecovers, forkRedacts, forkTimes, forkWorkingDir}
}

// forkCase is a fork of a stored session, and its preview.
type forkCase struct {
	Name     string `json:"parent_dir_name"`
	Parent   files  `json:"parent_files"`
	Turn     *int
	Mode     string
	Events   bool   `json:"include_events"`
	NewID    string `json:"new_session_id"`
	Existing files  `json:"preexisting_child_files"`
	Result   *struct {
		Turn     int `json:"forked_from_turn"`
		Messages int `json:"message_count"`
		Events   int `json:"events_count"`
	}
	Error        *failure
	Child        files    `json:"child_files"`
	Preview      *string  `json:"preview_json"`
	PreviewError *failure `json:"preview_error"`
}

type forkOutcome struct {
	Failed                 string
	Turn, Messages, Events int
	Damaged                bool
	Child                  files
	Preview, PreviewFailed string
}

// existsAlready is what a fork says that would overwrite a session.
const existsAlready = "exists"

// forking is what the exception says about a fork.
func (f *failure) forking() string {
	if f != nil && f.Type == "FileNotFoundError" {
		return f.Message
	}
	return f.slicing()
}

func (c forkCase) run(t *testing.T) verdict {
	reference := forkOutcome{Failed: c.Error.forking(), Child: c.Child, PreviewFailed: c.PreviewError.forking()}
	if r := c.Result; r != nil {
		reference.Turn, reference.Messages, reference.Events = r.Turn, r.Messages, r.Events
	}
	if c.Preview != nil {
		reference.Preview = *c.Preview
	}
	return judge(reference, c.ours(t), func(f *fired) forkOutcome { return c.predict(t, f) })
}

func (c forkCase) ours(t *testing.T) (o forkOutcome) {
	t.Helper()
	p := newPlace(t)
	p.put(t, c.Name, c.Parent)
	if c.Existing != nil {
		p.put(t, c.NewID, c.Existing)
	}
	st, before := p.open(t), p.get(t, c.Name)
	failed := func(err error) string {
		switch {
		case errors.Is(err, fs.ErrExist):
			return existsAlready
		case errors.Is(err, sessionstore.ErrUnstorable):
			return refused
		case errors.Is(err, sessionstore.ErrCorrupt):
			return unreadable
		}
		return strings.ReplaceAll(err.Error(), p.dir, "{DIR}")
	}
	if c.previewed() {
		preview, err := slice.PreviewFork(t.Context(), st, c.Name, c.Turn)
		if err != nil {
			o.PreviewFailed = failed(err)
		} else {
			raw, err := json.Marshal(preview)
			require.NoError(t, err)
			o.Preview = ascii(t, raw)
		}
	}
	opts := &slice.ForkOptions{Turn: c.Turn, NewID: c.NewID, Events: c.Events, Older: true, Orphans: orphanMode(c.Mode)}
	done, err := slice.Fork(t.Context(), st, c.Name, opts)
	if err != nil {
		o.Failed = failed(err)
	}
	o.Turn, o.Messages, o.Events = done.Turn, done.Messages, done.Events
	o.Damaged = done.Damage != nil || done.Recovered != nil
	o.Child = p.get(t, c.NewID)
	require.Equal(t, before, p.get(t, c.Name), "the parent changed")
	return o
}

func (c forkCase) previewed() bool {
	return c.Turn != nil && (c.Preview != nil || c.PreviewError != nil)
}

func orphanMode(name string) slice.Orphans {
	if mode := slices.Index([]string{"complete", "remove", "error"}, name); mode >= 0 {
		return slice.Orphans(mode)
	}
	return 9
}
