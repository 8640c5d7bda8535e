package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice"
	"github.com/amplifier-go/sessionstorage/slice/accept"
	"github.com/amplifier-go/sessionstorage/slice/conversation"
)

type diagnoseCommand struct {
	forScripts `kong:"-"`
	anywhere
}

// Help is shown below the usage.
func (diagnoseCommand) Help() string {
	return `Tells whether every call of a tool has its result, and every turn its answer. The exit code is 0 when the session is healthy and 1 when it is broken; then "sessions repair" completes it and "sessions rewind" cuts it. On a terminal it also shows what providers would refuse, whatever the exit code, as "sessions resume --show --json" does elsewhere; "sessions repair --for" mends that.`
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
	err = a.answer(d, func() {
		a.showDiagnosis(t, d)
		a.showRefused(t, judge(rows))
	})
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

// unlessMetadata returns err without the errors about damaged metadata, which do not
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

// hasTranscript returns an error when a session has no transcript. A backup does not
// count: a command that mends a session must not bring it back unasked.
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

// problemTable shows the problems of sessions.
func (a *app) problemTable(problems []problem) {
	if len(problems) == 0 {
		return
	}
	rows := make([][]string, len(problems))
	for i, p := range problems {
		where := p.File
		if p.Line > 0 {
			where = fmt.Sprintf("%s:%d", p.File, p.Line)
		}
		rows[i] = []string{p.Project, p.Session, p.State, where, p.Text}
	}
	a.Table([]screen.Column{
		a.projectColumn(1),
		a.idColumn(),
		{Title: "State", Tint: func(state string) screen.Tint {
			if state == "damaged" {
				return screen.Red
			}
			return screen.Yellow
		}},
		{Title: "Where", Min: 12, Drop: 3},
		{Title: "What", Min: 16, Drop: 2},
	}, rows)
}

// verdict writes the totals to standard error, so that a pipe gets the problems alone.
func (a *app) verdict(all, bad int, took time.Duration) {
	speed := took.Round(time.Millisecond)
	if bad == 0 {
		a.Notef("%s %s, all sound (%s)", a.PaintError(screen.Green, "✓"), count(all, "session"), speed)
		return
	}
	a.Notef("\n%s %s, %s with problems (%s)", a.PaintError(screen.Red, "✗"), count(all, "session"), number(bad), speed)
}

// providers are the providers that a conversation may be resumed with, and their flags
// of "repair --for".
var providers = []struct {
	name, flag string
	p          accept.Provider
}{
	{"Anthropic", "anthropic", accept.Anthropic},
	{"OpenAI chat", "openai", accept.OpenAIChat},
	{"OpenAI responses", "openai", accept.OpenAIResponses},
	{"Gemini", "gemini", accept.Gemini},
}

// judgement says why providers refuse a conversation, as far as that is judged.
type judgement struct {
	refused [][]string // by provider: why it would not take the conversation
	open    []string   // the points that are not judged
}

func judge(rows []sessionstore.Message) judgement {
	j := judgement{open: []string{}}
	for _, p := range providers {
		reasons := []string{}
		for _, r := range (accept.Target{Provider: p.p}).Check(rows) {
			if r.Disputed {
				j.open = append(j.open, p.name+": "+r.String()+" (sources disagree)")
				continue
			}
			reasons = append(reasons, r.String())
		}
		j.refused = append(j.refused, reasons)
	}
	prompt, err := sessionstore.Text("user", "?", time.Time{})
	if err == nil && len(accept.Check(providers[0].p, append(slices.Clip(rows), prompt))) > len(j.refused[0]) {
		j.open = append(j.open, "a further prompt: the last one has no answer")
	}
	unjudged := func(f conversation.File) bool { return f.Size == 0 || !strings.HasPrefix(f.Media, "image/") }
	if slices.ContainsFunc(rows, func(m sessionstore.Message) bool { return slices.ContainsFunc(conversation.Files(m), unjudged) }) {
		j.open = append(j.open, "images that are elsewhere, and other files")
	}
	return j
}

// refusals are the reasons of each provider, as JSON.
func (j judgement) refusals() object {
	all := object{}
	for i, p := range providers {
		all = append(all, member{strings.ReplaceAll(strings.ToLower(p.name), " ", "_"), j.refused[i]})
	}
	return all
}

// showRefused shows what providers refuse, once for those that refuse the same.
func (a *app) showRefused(t target, j judgement) {
	const most = 5
	for i, reasons := range j.refused {
		same := func(other []string) bool { return slices.Equal(other, reasons) }
		if len(reasons) == 0 || slices.ContainsFunc(j.refused[:i], same) {
			continue
		}
		var names, flags []string
		for k, p := range providers {
			if same(j.refused[k]) {
				names, flags = append(names, p.name), append(flags, p.flag)
			}
		}
		a.Printf("\n%s %s:\n", a.Paint(screen.Yellow, "Refused by"), strings.Join(names, ", "))
		for _, reason := range reasons[:min(most, len(reasons))] {
			a.Printf("  %s\n", screen.Plain(reason))
		}
		if more := len(reasons) - most; more > 0 {
			a.Printf("  and %s; sessions resume --show --json shows all\n", count(more, "more"))
		}
		for _, flag := range slices.Compact(flags) {
			a.Printf("%s mends it\n", a.Paint(screen.Cyan, "sessions repair "+screen.Plain(t.id)+" --for "+flag))
		}
	}
}
