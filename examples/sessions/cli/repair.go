package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice"
	"github.com/amplifier-go/sessionstorage/slice/accept"
	"github.com/amplifier-go/sessionstorage/slice/accept/scale"
)

type repairCommand struct {
	forScripts `kong:"-"`
	anywhere
	For     string `enum:",anthropic,openai,gemini" default:"" placeholder:"PROVIDER" help:"Mend it instead until this provider takes it: anthropic, openai or gemini."`
	Name    string `placeholder:"NAME" help:"First write its metadata anew, with this name, where that cannot be read."`
	Salvage bool   `help:"Bring back instead the messages that a damaged transcript holds whole, but its backup lacks."`
}

// Help is shown below the usage.
func (repairCommand) Help() string {
	return `Gives every call of a tool a result, and every turn an answer, that say what happened. Nothing is written to a healthy session. What was there is kept beside the transcript, and "sessions undo SESSION" brings it back; damaged metadata that --name writes anew stay beside the file, and undo leaves them.

--for mends what a provider would refuse, as far as that is judged: no text and no call of a tool is taken out, and a picture is made smaller where that is enough. "sessions diagnose" tells what that is.

A transcript with lines that cannot be read is not touched: its backup stands in for it. --salvage adds the messages to it that the damaged file holds whole beyond the backup, also when a program has saved the session since; where there are none, the backup becomes the transcript. The damaged file stays. What does not continue the conversation is offered as a fork.

Metadata that cannot be read is replaced by its backup; without one, --name writes it anew.`
}

// Run repairs.
func (c *repairCommand) Run(a *app) error {
	if c.For != "" && c.Salvage {
		return usageError{"--for and --salvage: choose one"}
	}
	t, err := c.find(a)
	if err == nil && c.Name != "" {
		err = c.named(a, t)
	}
	if err == nil && c.Salvage {
		return a.salvage(t)
	}
	if err == nil {
		err = t.hasTranscript()
	}
	if err != nil {
		return err
	}
	to, state := takers(func(flag string) bool { return flag == c.For }), "healthy"
	if c.For != "" {
		state = "accepted by " + c.For
	}
	report, err := slice.RepairSession(a.ctx, t.store, t.id, to...)
	if errors.Is(err, sessionstore.ErrCorrupt) {
		if done, failed := a.beyond(t); done || failed != nil {
			return failed
		}
	}
	if err == nil && report.Status != slice.Repaired {
		err = a.takeBackup(t)
	}
	if err != nil {
		return err
	}
	idle := fmt.Sprintf("%s is %s:", screen.Plain(t.id), a.Paint(screen.Green, state))
	if a.noteUnnamed(t) {
		idle = fmt.Sprintf("The transcript of %s is %s:", screen.Plain(t.id), a.Paint(screen.Green, state))
	}
	err = a.rewrote("repair", t, report.BackupPath, report, idle, fmt.Sprintf("Repaired %s\n  %s before, %s now", screen.Plain(t.id), count(report.Counts.Original, "message"), number(report.Counts.Repaired)))
	if !a.json && report.Status == slice.Repaired && !report.Verification.Healthy() {
		a.Printf("  %s completes it\n", a.Paint(screen.Cyan, "sessions repair "+screen.Plain(t.id)))
	}
	return err
}

// noteUnnamed notes the command for metadata that cannot be read, and reports whether they are so.
func (a *app) noteUnnamed(t target) bool {
	_, torn := t.store.Metadata(a.ctx, t.id)
	if !errors.Is(torn, sessionstore.ErrCorrupt) {
		return false
	}
	a.Notef("%s its metadata cannot be read, and no backup stands in for it: \"sessions repair %s --name=NAME\" writes it anew", a.PaintError(screen.Yellow, "note:"), screen.Plain(t.id))
	return true
}

// takers returns the providers with certain flags. Pictures are made smaller for them, where that
// is enough.
func takers(is func(flag string) bool) (all []accept.Target) {
	for _, p := range providers {
		if is(p.flag) {
			all = append(all, accept.Target{Provider: p.p, Scale: scale.Picture})
		}
	}
	return all
}

// named writes metadata anew that cannot be read. Its name comes from the user: a name that is
// lost may be one that a rule keeps on this machine.
func (c *repairCommand) named(a *app, t target) error {
	if _, torn := t.store.Metadata(a.ctx, t.id); !errors.Is(torn, sessionstore.ErrCorrupt) {
		return cmp.Or(torn, fmt.Errorf("the metadata of %s can be read: --name is for metadata that cannot", screen.Plain(t.id)))
	}
	_, err := t.store.UpdateMetadata(a.ctx, t.id, func(md *sessionstore.Metadata) error { return md.Set("name", c.Name) })
	if err == nil {
		a.Notef("%s the metadata of %s is written anew, and the damaged file stays beside it", a.PaintError(screen.Green, "✓"), screen.Plain(t.id))
	}
	return err
}

// takeBackup makes the backup the transcript, or the metadata, where it stands in for it, as the next write of
// the session would: another program was killed while it appended, or the file is damaged.
func (a *app) takeBackup(t target) error {
	s, err := t.store.Load(a.ctx, t.id)
	if err != nil || s.Recovered == nil { // the caller has told it, or there is nothing to do
		return nil
	}
	if bad := (*sessionstore.CorruptError)(nil); errors.As(s.Recovered.Reason, &bad) && filepath.Base(bad.Path) == "metadata.json" {
		if _, err = t.store.UpdateMetadata(a.ctx, t.id, func(*sessionstore.Metadata) error { return nil }); err == nil {
			a.Notef("%s the backup is the metadata of %s again", a.PaintError(screen.Green, "✓"), screen.Plain(t.id))
		}
		return err
	}
	if _, err = t.store.Replace(a.ctx, t.id, s.Revision, s.Messages); err == nil {
		a.Notef("%s the backup, %s, is the transcript of %s again", a.PaintError(screen.Green, "✓"), count(len(s.Messages), "message"), screen.Plain(t.id))
	}
	return err
}

// rewrote notes for undo that a command changed the transcript of a session, and writes its
// report: for people the line done, or the line idle when nothing was written. Without idle, it was
// written where there was nothing to keep.
func (a *app) rewrote(kind string, t target, kept string, report any, idle, done string) error {
	if kept == "" && a.json {
		return a.writeLine(report)
	}
	if kept == "" && idle == "" {
		a.Printf("%s %s\n", a.Paint(screen.Green, "✓"), done)
		return nil
	}
	if kept == "" {
		a.Printf("%s nothing was written.\n", idle)
		return nil
	}
	s := t.noted()
	s.Kept = filepath.Base(kept)
	a.changed(kind, "", s)
	return a.tellKept(t, s.Kept, report, done, "sessions undo %s", "takes it back")
}

// tellKept writes the report of a change, for people with the name of the copy and the command
// that goes the other way.
func (a *app) tellKept(t target, kept string, report any, done, command, does string) error {
	if a.json {
		return a.writeJSON(report)
	}
	a.Printf("%s %s\n", a.Paint(screen.Green, "✓"), done)
	a.Printf("  kept as %s\n", screen.Plain(kept))
	a.Printf("  %s %s\n", a.Paint(screen.Cyan, fmt.Sprintf(command, screen.Plain(t.id))), does)
	return nil
}

type rewindCommand struct {
	forScripts `kong:"-"`
	anywhere
	ToTurn *int `placeholder:"N" help:"Keep the turns up to this one, also where nothing is broken."`
}

// Help is shown below the usage.
func (rewindCommand) Help() string {
	return `Cuts the transcript before the last question that precedes what is broken, and the events after that time. Nothing is written to a healthy session, unless --to-turn says after which turn to cut. What was there is kept, and "sessions undo SESSION" brings it back.`
}

// Run rewinds.
func (c *rewindCommand) Run(a *app) error {
	if c.ToTurn != nil && *c.ToTurn < 1 {
		return usageError{"--to-turn: turns are counted from 1"}
	}
	t, err := c.find(a)
	if err == nil {
		err = t.hasTranscript()
	}
	if err != nil {
		return err
	}
	var report slice.RewindReport
	if c.ToTurn != nil {
		report, err = slice.RewindSessionTo(a.ctx, t.store, t.id, *c.ToTurn, slice.Complete)
	} else {
		report, err = slice.RewindSession(a.ctx, t.store, t.id)
	}
	if err != nil {
		return err
	}
	return a.rewrote("rewind", t, report.BackupPath, report, screen.Plain(t.id)+":", fmt.Sprintf("Rewound %s\n  %s before, %s now", screen.Plain(t.id), count(report.Original, "message"), number(report.Rewound)))
}

// salvage brings back messages that a damaged transcript holds whole.
func (a *app) salvage(t target) error {
	report, err := t.store.Salvage(a.ctx, t.id)
	if err == nil && report.Rows == 0 {
		err = a.takeBackup(t)
	}
	if err != nil {
		return err
	}
	idle := screen.Plain(t.id) + ": there is nothing to bring back,"
	done := fmt.Sprintf("Salvaged %s: %s came back\n  the damaged file stays as %s", screen.Plain(t.id), count(report.Rows, "message"), screen.Plain(filepath.Base(report.From)))
	if err := a.rewrote("salvage", t, report.Kept, salvagedJSON(report), idle, done); err != nil || a.json {
		return err
	}
	for _, f := range report.Forks {
		a.Printf("  %s holds %s that the transcript lacks, but does not continue it\n", screen.Plain(f.File), count(f.Lacking, "message"))
		a.Printf("  %s makes a session of it\n", a.Paint(screen.Cyan, "sessions fork --damaged "+screen.Plain(f.File)+" "+screen.Plain(t.id)))
	}
	return nil
}

func salvagedJSON(report sessionstore.SalvageReport) object {
	status := "nothing-to-salvage"
	if report.Rows > 0 {
		status = "salvaged"
	}
	o := object{{"status", status}, {"salvaged_entries", report.Rows}}
	if report.Rows > 0 {
		o = append(o, member{"damaged_path", report.From}, member{"backup_path", report.Kept})
	}
	forks := list{}
	for _, f := range report.Forks {
		forks = append(forks, object{{"file", f.File}, {"entries", f.Rows}, {"lacking_entries", f.Lacking}})
	}
	return append(o, member{"forks", forks})
}

// beyond notes how many messages a salvage would bring back. On a terminal it asks
// instead, and salvages them after a yes. It reports whether it did.
func (a *app) beyond(t target) (done bool, err error) {
	s, err := t.store.Load(a.ctx, t.id)                             // the caller has the error
	if errors.As(err, new(*sessionstore.CorruptError)) && !a.json { // the older tool says no more
		a.Notef("%s no backup stands in for it: \"sessions rescue %s\" makes a transcript of what is whole", a.PaintError(screen.Yellow, "note:"), screen.Plain(t.id))
	}
	if s == nil || s.Recovered == nil || s.Recovered.Beyond == 0 {
		return false, nil
	}
	stand := " stand"
	if s.Recovered.Beyond == 1 {
		stand = " stands"
	}
	found := count(s.Recovered.Beyond, "message") + stand + " whole in the damaged transcript, beyond what its backup holds"
	if a.json || !a.Answers() {
		a.Notef("%s %s: \"sessions repair --salvage %s\" brings back what is whole", a.PaintError(screen.Yellow, "note:"), found, screen.Plain(t.id))
		return false, nil
	}
	yes, err := a.Confirm(a.ctx, found+". Bring back what is whole?")
	if errors.Is(err, io.EOF) || err == nil && !yes {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, a.salvage(t)
}
