package cli

import (
	"cmp"
	"errors"
	"path/filepath"
	"slices"
	"strings"

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
	of, to, err := a.faults(t)
	if errors.Is(err, sessionstore.ErrCorrupt) {
		_, _ = a.beyond(t) // it names the command
	}
	a.noteUnnamed(t)
	if err == nil && len(of.Faults) > 0 && of.Mended() && !c.DryRun {
		of.Original, err = a.mendHere(t, of, to)
	}
	return of, err
}

// modelsOf has what the names of a provider's models contain, by the flag of the provider.
var modelsOf = map[string]string{"anthropic": "claude", "openai": "gpt", "gemini": "gemini"}

// faults returns what is wrong with a session, and whom it is mended for.
func (a *app) faults(t target) (of foreign.Rescued, to []accept.Target, err error) {
	of = foreign.Rescued{ID: t.id, Path: t.dir()}
	add := func(kind string, line int, reason accept.Reason, mend string) {
		if f := (foreign.Fault{Kind: kind, Line: line, Reason: reason, Mend: mend}); !slices.Contains(of.Faults, f) {
			of.Faults = append(of.Faults, f)
		}
	}
	md, torn := t.store.Metadata(a.ctx, t.id)
	if errors.Is(torn, sessionstore.ErrCorrupt) {
		add("unreadable_metadata", 0, "", "")
	}
	s, err := t.store.Load(a.ctx, t.id)
	if err = unlessMetadata(err); err != nil {
		return of, nil, err
	}
	if bad := (*sessionstore.CorruptError)(nil); s.Recovered != nil && errors.As(s.Recovered.Reason, &bad) {
		add("unreadable", bad.Line, "", "salvaged")
	}
	d, err := slice.Diagnose(s.Messages)
	if err != nil {
		return of, nil, err
	}
	for range d.Orphaned {
		add("call_without_result", 0, "", "repaired")
	}
	for range d.Misplaced {
		add("misplaced_result", 0, "", "repaired")
	}
	for _, turn := range d.Incomplete {
		add("turn_without_answer", turn.AfterLine, "", "repaired")
	}
	rows, err := slice.Repair(s.Messages, d)
	if err != nil {
		return of, nil, err
	}
	model := strings.ToLower(md.Text("model"))
	to = takers(func(flag string) bool { return strings.Contains(model, modelsOf[flag]) })
	if len(to) == 0 {
		to = takers(func(string) bool { return true })
	}
	mended := rows
	for _, p := range to {
		fixed, failed := p.Fix(mended)
		mend := "mended"
		if mended = fixed.Messages; failed != nil {
			mended, mend = rows, ""
		}
		for _, r := range p.Check(rows) {
			if !r.Disputed {
				add("refused", r.Row+1, r.Reason, mend)
			}
		}
	}
	return of, to, nil
}

// mendHere mends a session in steps, of which undo is one, and returns the copy from before.
func (a *app) mendHere(t target, of foreign.Rescued, to []accept.Target) (kept string, err error) {
	if slices.ContainsFunc(of.Faults, func(f foreign.Fault) bool { return f.Kind == "unreadable" }) {
		salvaged, failed := t.store.Salvage(a.ctx, t.id)
		if kept, err = salvaged.Kept, failed; err == nil && salvaged.Rows == 0 {
			err = a.takeBackup(t)
		}
	}
	for _, to := range [][]accept.Target{nil, to, nil} { // an answer that a provider refuses may be dropped
		if err == nil {
			report, failed := slice.RepairSession(a.ctx, t.store, t.id, to...)
			kept, err = cmp.Or(kept, report.BackupPath), failed
		}
	}
	if kept != "" {
		s := t.noted()
		s.Kept = filepath.Base(kept)
		a.changed("rescue", "", s)
	}
	return kept, err
}
