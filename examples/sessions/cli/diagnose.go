package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice"
)

// forScripts marks the commands of amplifier-session: they write JSON wherever
// standard output is no terminal.
type forScripts struct{}

func (forScripts) scripted() {}

type diagnoseCommand struct {
	forScripts `kong:"-"`
	anywhere
}

// Help is shown below the usage.
func (diagnoseCommand) Help() string {
	return `Tells whether every call of a tool has its result, and every turn its answer. The exit code is 0 when the session is healthy and 1 when it is broken; then "sessions repair" completes it and "sessions rewind" cuts it. A terminal and --json=v1 are also told what providers would refuse, whatever the exit code; "sessions repair --for" mends that.

In a pipe the answer is JSON.`
}

// Run diagnoses.
func (c *diagnoseCommand) Run(a *app) error {
	t, err := c.find(a)
	if err != nil {
		return err
	}
	rows, d, err := diagnose(a, t)
	if err != nil {
		return err
	}
	switch {
	case a.typed:
		err = a.writeJSON(typedDiagnosis{d, judge(rows).typed()}, jsonIndent)
	case a.json:
		err = a.writeJSON(d, jsonIndent)
	default:
		a.showDiagnosis(t, d)
		a.showRefused(t, judge(rows))
	}
	if err == nil && !d.Healthy() {
		err = exitCode(exitError)
	}
	return err
}

// diagnose reads a transcript as strictly as amplifier-session.
func diagnose(a *app, t target) (rows []sessionstore.Message, d slice.Diagnosis, err error) {
	if err := t.hasTranscript(); err != nil {
		return nil, d, err
	}
	s, err := t.store.Load(a.ctx, t.id)
	if err := unlessMetadata(err); err != nil {
		return nil, d, err
	}
	if r := s.Recovered; r != nil && errors.Is(r.Reason, sessionstore.ErrCorrupt) {
		return nil, d, r.Reason
	}
	for i, m := range s.Messages {
		if m.Role() == "" && !bytes.HasPrefix(bytes.TrimSpace(m.AppendTo(nil)), []byte("{")) {
			return nil, d, fmt.Errorf("read %s: message %d is not a JSON object", filepath.Join(t.dir(), transcriptName), i+1)
		}
	}
	d, err = slice.Diagnose(s.Messages)
	return s.Messages, d, err
}

// unlessMetadata returns what is wrong besides damaged metadata, which do not
// matter to a diagnosis.
func unlessMetadata(err error) error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var rest []error
		for _, err := range joined.Unwrap() {
			rest = append(rest, unlessMetadata(err))
		}
		return errors.Join(rest...)
	}
	if own, ok := err.(*sessionstore.Error); ok && unlessMetadata(own.Err) == nil {
		return nil
	}
	if corrupt, ok := err.(*sessionstore.CorruptError); ok && strings.HasPrefix(filepath.Base(corrupt.Path), "metadata.json") {
		return nil
	}
	return err
}

const transcriptName = "transcript.jsonl"

// hasTranscript tells that a session has no transcript. A backup is none:
// what mends a session must not be the one to bring it back unasked.
func (t target) hasTranscript() error {
	if _, err := os.Stat(filepath.Join(t.dir(), transcriptName)); errors.Is(err, fs.ErrNotExist) {
		return referenceError("No " + transcriptName + " in " + t.dir())
	}
	return nil
}

func (a *app) showDiagnosis(t target, d slice.Diagnosis) {
	if d.Healthy() {
		a.Printf("%s %s\n", screen.Plain(t.id), a.Paint(screen.Green, "healthy"))
		return
	}
	a.Printf("%s %s\n", screen.Plain(t.id), a.Paint(screen.Red, "broken"))
	if n := len(d.Orphaned); n > 0 {
		a.Printf("  %s without a result: %s\n", count(n, "call"), shortList(d.Orphaned))
	}
	if n := len(d.Misplaced); n > 0 {
		a.Printf("  %s out of its place: %s\n", count(n, "result"), shortList(d.Misplaced))
	}
	for _, turn := range d.Incomplete {
		a.Printf("  the turn that ends at message %d has no answer\n", turn.AfterLine)
	}
	a.Printf("\n%s completes it; %s cuts it before the trouble.\n",
		a.Paint(screen.Cyan, "sessions repair "+screen.Plain(t.id)), a.Paint(screen.Cyan, "sessions rewind"))
}

// shortList shows the first of some ids.
func shortList(ids []string) string {
	const shown = 5
	var text []string
	for _, id := range ids[:min(shown, len(ids))] {
		if id == "" {
			id = "(without id)"
		}
		text = append(text, screen.Fit(screen.Plain(id), 40))
	}
	if more := len(ids) - shown; more > 0 {
		text = append(text, "and "+count(more, "more"))
	}
	return strings.Join(text, ", ")
}
