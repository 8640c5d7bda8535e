package cli

import (
	"errors"
	"path/filepath"
	"strings"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign"
	"github.com/amplifier-go/sessionstorage/slice"
	"github.com/amplifier-go/sessionstorage/slice/accept"
)

// here looks at a session of a store, and mends it where it is.
func (c *rescueCommand) here(a *app) (of foreign.Rescued, err error) {
	t, err := (anywhere{c.Session, c.where}).find(a)
	if err == nil {
		err = t.hasTranscript()
	}
	if err != nil {
		return of, err
	}
	of = foreign.Rescued{ID: t.id, Path: t.dir()}
	md, torn := t.store.Metadata(a.ctx, t.id)
	if errors.Is(torn, sessionstore.ErrCorrupt) {
		of.Faults = append(of.Faults, foreign.Fault{Kind: "unreadable_metadata"})
	}
	report, err := slice.RescueSession(a.ctx, t.store, t.id, &slice.RescueOptions{For: takersOf(md.Text("model")), DryRun: c.DryRun || len(of.Faults) > 0})
	for _, f := range report.Faults {
		of.Faults = append(of.Faults, foreign.Fault(f))
	}
	a.noteUnnamed(t)
	for i, path := range report.Damaged {
		if of.Damaged = report.Damaged[0]; i > 0 {
			a.Notef("what could not be read of the backup stays in %s", screen.Plain(path))
		}
	}
	if of.Original = report.BackupPath; of.Original != "" {
		s := t.noted()
		s.Kept = filepath.Base(of.Original)
		a.changed("rescue", "", s)
	}
	if err == nil && !c.DryRun && of.Mended() {
		err = a.takeBackup(t) // of the metadata
	}
	return of, err
}

// modelsOf has what the names of a provider's models contain, by the flag of the provider.
var modelsOf = map[string]string{"anthropic": "claude", "openai": "gpt", "gemini": "gemini"}

// takersOf returns the providers of a model, or all of them where the model is not known.
func takersOf(model string) (to []accept.Target) {
	model = strings.ToLower(model)
	to = takers(func(flag string) bool { return strings.Contains(model, modelsOf[flag]) })
	if len(to) == 0 {
		to = takers(func(string) bool { return true })
	}
	return to
}
