package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/amplifier-go/sessionstorage/sessionstore/projects"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign"
)

// historyResult is the result of an import of the history of another tool.
type historyResult struct {
	DryRun    bool            `json:"dry_run"`
	Histories int             `json:"histories"`
	Empty     int             `json:"empty"`
	Failed    int             `json:"failed"`
	Lines     int             `json:"lines"`
	Sessions  []historyOne    `json:"sessions"`
	Branches  int             `json:"branches_without_prompt"`
	Left      map[string]int  `json:"lines_without_message"`
	Blocks    map[string]int  `json:"parts_without_place"`
	Unknown   map[string]int  `json:"unknown"`
	Damaged   []historyDamage `json:"damaged"`
	Unplaced  []historyDamage `json:"prompts_in_no_session"`
	Shorter   []string        `json:"shorter_files"` // of sessions that a longer file has
	TakenUp   []string        `json:"taken_up"`      // sessions that are in the trash, because another one has all of them
	Apart     []string        `json:"stand_alone"`   // sessions of parts of a thread, which stay what they are

	unread  map[string]int // what is unknown in histories without a conversation
	unnoted error
	actions map[foreign.Action]int
	kinds   map[foreign.Kind]int
}

type historyOne struct {
	ID       string         `json:"session_id"`
	From     string         `json:"from"`
	Project  string         `json:"project"`
	Kind     foreign.Kind   `json:"kind"`
	Action   foreign.Action `json:"action"`
	Messages int            `json:"messages"`
	Home     int            `json:"turns_that_came_home,omitempty"` // of a session that was exported, and went on in the tool
}

type historyDamage struct {
	Path string `json:"path"`
	Line int    `json:"line"`
	Why  string `json:"why"`
}

func newHistoryResult(dry bool) *historyResult {
	return &historyResult{
		DryRun: dry, Sessions: []historyOne{}, Damaged: []historyDamage{}, Unplaced: []historyDamage{}, Shorter: []string{}, TakenUp: []string{}, Apart: []string{}, Left: map[string]int{}, Blocks: map[string]int{}, Unknown: map[string]int{},
		unread: map[string]int{}, actions: map[foreign.Action]int{}, kinds: map[foreign.Kind]int{},
	}
}

// history imports the history of another tool.
func (c *importCommand) history(a *app) error {
	if c.From != "" || c.As != "" || c.New || c.Name != "" {
		return usageError{"--from takes no archive, and no --as, --new or --name"}
	}
	since, err := a.date("since", c.Since)
	if err != nil {
		return err
	}
	p, err := a.projects(where(c.local))
	if err != nil {
		return err
	}
	slug, err := where(c.local).slug(a, p, false)
	if err != nil {
		return err
	}
	var all []foreign.History
	var failed error
	for _, tool := range c.tools() {
		some, err := foreign.Find(a.ctx, tool, &foreign.FindOptions{Since: since, Notes: foundNotes(a.env)})
		all, failed = append(all, some...), errors.Join(failed, err)
	}
	if slug != "" {
		all = slices.DeleteFunc(all, func(h foreign.History) bool { return h.Project() != slug })
	}
	if len(all) == 0 && failed == nil {
		failed = c.nothingFound()
		if slug != "" {
			return failed
		}
		a.Notef("%s", failed)
		failed = nil
	}
	res := newHistoryResult(c.DryRun)
	progress := a.Progress("histories", len(all))
	opts := &foreign.Options{DryRun: c.DryRun}
	err = res.importAll(a.ctx, a, p, all, opts, func(foreign.History, error) bool {
		progress.Step(1)
		return true
	})
	progress.Done()
	a.noteFailed(res.unnoted)
	failed = errors.Join(failed, err)
	if a.json {
		return errors.Join(a.writeJSON(res), failed)
	}
	res.print(a, len(all), failed)
	limit := maxShort
	if c.Verbose {
		res.printAll(a)
		limit = maxTold
	}
	note(a, res.Damaged, limit)
	note(a, res.Unplaced, limit)
	noteShorter(a, res.Shorter, limit)
	return failed
}

// tools returns the tools of --from.
func (c *importCommand) tools() []foreign.Tool {
	if c.Tool == "all" {
		return foreign.Tools()
	}
	return []foreign.Tool{foreign.Tool(c.Tool)}
}

// nothingFound returns the error of an import without a history; it names the directories.
func (c *importCommand) nothingFound() error {
	which, names, homes, variables := "", []string{}, []string{}, []string{}
	for _, tool := range c.tools() {
		home, err := foreign.Home(tool)
		if err != nil {
			return err
		}
		names, homes, variables = append(names, tool.Title()), append(homes, screen.Plain(home)), append(variables, tool.Variable())
	}
	if c.Project != "" {
		which += " of project " + screen.Plain(c.Project)
	}
	if c.Since != "" {
		which += " that was changed since " + screen.Plain(c.Since)
	}
	return fmt.Errorf("no conversation of %s%s in %s; another directory is named by %s", listed(names, "or"), which, listed(homes, "and"), listed(variables, "or"))
}

// importAll imports histories one after the other, and calls the function with the
// result of each. The history that changed last comes last: lists are in the order in
// which sessions were saved here, so it will be the first there. A history that fails
// does not stop the others. Each is noted for undo once it is done. importAll ends when ctx
// ends or the function returns false.
func (r *historyResult) importAll(ctx context.Context, a *app, p *projects.Projects, all []foreign.History, opts *foreign.Options, told func(foreign.History, error) bool) (failed error) {
	began := a.now()
	changed := func(x, y foreign.History) int { return x.Modified.Compare(y.Modified) }
	for _, h := range slices.SortedStableFunc(slices.Values(all), changed) {
		report, err := foreign.Import(ctx, p, h, opts)
		r.add(h, report)
		if opts == nil || !opts.DryRun {
			r.unnoted = cmp.Or(r.unnoted, keepNote(a.env, changeNote{began, "import", string(h.Tool), imported(p, h, report)}))
		}
		if ctx.Err() != nil && err != nil {
			return err
		}
		r.Histories++
		switch {
		case errors.Is(err, foreign.ErrEmpty):
			r.Empty++
			addTo(r.unread, report.Unknown)
		case err != nil:
			r.Failed++
			failed = errors.Join(failed, err)
		}
		if !told(h, err) {
			break
		}
	}
	return failed
}

// importShortly imports histories for the picker, and returns the short form of the report.
func (a *app) importShortly(ctx context.Context, p *projects.Projects, all []foreign.History, done func(foreign.History, error) bool) (string, error) {
	res := newHistoryResult(false)
	err := res.importAll(ctx, a, p, all, nil, done)
	err = errors.Join(err, res.unnoted)
	what, made := res.short()
	text := what + " (" + made + ")."
	if res.Empty > 0 {
		text += " " + count(res.Empty, "history") + " without a conversation."
	}
	return text, err
}

func (r *historyResult) add(h foreign.History, report *foreign.Report) {
	r.Lines += report.Lines
	r.Branches += report.Branches
	for _, s := range report.Sessions {
		r.Sessions = append(r.Sessions, historyOne{s.ID, h.ID, report.Project, s.Kind, s.Action, s.Messages, report.Home[s.ID]})
		r.actions[s.Action]++
		r.kinds[s.Kind]++
	}
	for _, d := range report.Damaged {
		r.Damaged = append(r.Damaged, damageOf(h, d))
	}
	r.Shorter, r.TakenUp = append(r.Shorter, report.Shorter...), append(r.TakenUp, report.TakenUp...)
	r.Apart = append(r.Apart, report.StandAlone...)
	for _, u := range report.Unplaced {
		r.Unplaced = append(r.Unplaced, damageOf(h, u))
	}
	addTo(r.Left, report.Left)
	addTo(r.Blocks, report.Blocks)
	addTo(r.Unknown, report.Unknown)
}

func addTo(all, more map[string]int) {
	for name, n := range more {
		all[name] += n
	}
}

// damageOf returns the problem of a line in the file of a history, or in another file
// of it that the error names.
func damageOf(h foreign.History, d foreign.LineError) historyDamage {
	if in, ok := errors.AsType[*fs.PathError](d.Err); ok {
		return historyDamage{in.Path, d.Line, in.Err.Error()}
	}
	return historyDamage{h.Path, d.Line, d.Err.Error()}
}

// Reasons why lines are left out. Lines that repeat the conversation are not kept.
const (
	repeats = "in a file that repeats the conversation"
	damaged = "damaged"
	unknown = "unknown kind"
)

// maxTold limits the lines of one kind in the report for people with -v, and maxShort
// those without it; --json has all.
const (
	maxTold  = 50
	maxShort = 3
)

// done returns the numbers of created, updated and unchanged sessions, in words.
func (r *historyResult) done() string {
	return fmt.Sprintf("%s created, %s updated, %s unchanged",
		number(r.actions[foreign.Created]), number(r.actions[foreign.Updated]), number(r.actions[foreign.Unchanged]))
}

// short returns a short report: the histories and the actions, and the sessions by kind.
func (r *historyResult) short() (what, made string) {
	verb := "Imported"
	if r.DryRun {
		verb = "Would import"
	}
	return fmt.Sprintf("%s %s: %s", verb, count(r.Histories, "history"), r.done()), fmt.Sprintf("%s, %s, %s", count(r.kinds[foreign.Conversation]+r.kinds[foreign.Diverged], "conversation"),
		count(r.kinds[foreign.Branch], "fork"), count(r.kinds[foreign.Agent], "sub-session"))
}

// tellHome writes a line for each session that turns came home into, at most maxTold lines.
func (r *historyResult) tellHome(a *app) {
	n := 0
	for _, s := range r.Sessions {
		if s.Home == 0 {
			continue
		}
		if n++; n <= maxTold {
			a.Printf("  %s came home into session %s\n", count(s.Home, "turn"), s.ID)
		}
	}
	if n > maxTold {
		a.Printf("  and %s like that\n", count(n-maxTold, "more session"))
	}
}

// print writes the report for people: the sessions, and how much was left out and where
// it is kept.
func (r *historyResult) print(a *app, all int, failed error) {
	what, made := r.short()
	if a.ctx.Err() != nil {
		what = fmt.Sprintf("Stopped after %s of %s: %s", number(r.Histories), count(all, "history"), r.done())
	}
	if r.Empty > 0 {
		made += "; " + count(r.Empty, "history") + " without a conversation"
	}
	a.Printf("%s %s (%s)\n", a.mark(failed), what, made)
	told(a, "no conversation beside what is unknown, as of a newer version", r.unread)
	if n := r.kinds[foreign.Diverged]; n > 0 {
		a.Printf("  %s went on apart from the session here, which stays: what the other tool has is in a session beside it\n", count(n, "conversation"))
	}
	r.tellHome(a)
	if n := len(r.TakenUp); n > 0 {
		a.Printf("  %s of a part that stood alone: in the trash, for the session of its thread has all of it now\n", count(n, "session"))
	}
	if n := len(r.Apart); n > 0 {
		a.Printf("  %s of parts of threads left alone, for a rule keeps them on this machine, or they were changed here: %s\n", count(n, "session"), strings.Join(r.Apart[:min(n, maxShort)], ", "))
	}
	if left := r.left(); len(left) > 0 {
		what := "kept"
		if r.Left[repeats] > 0 {
			what = "all but files that repeat a conversation is kept"
		}
		a.Printf("  Left out: %s; %s in original.jsonl.zst, in the import folder of each session (-v tells more)\n", strings.Join(left, ", "), what)
	}
}

// left returns how much was left out of all sessions, for people.
func (r *historyResult) left() (all []string) {
	beside, parts := 0, 0
	for why, n := range r.Left {
		switch why {
		case damaged, unknown, "blank", "on another branch", "of a sub-agent": // the last two are in other sessions
		default:
			beside += n
		}
	}
	for _, n := range r.Blocks {
		parts += n
	}
	add := func(n int, what, of string) {
		if n > 0 {
			all = append(all, count(n, what)+of)
		}
	}
	add(len(r.Unplaced), "prompt", "")
	add(r.Left[damaged], "damaged line", "")
	add(r.Left[unknown], "line", " of unknown kinds")
	add(beside, "line", " beside the conversation")
	add(parts, "part", " of messages")
	return all
}

// printAll writes how much was left out, by reason.
func (r *historyResult) printAll(a *app) {
	if r.Branches > 0 {
		a.Printf("  other branches, which hold no prompt of their own and made no fork: %s\n", number(r.Branches))
	}
	told(a, "lines that are no message", r.Left)
	told(a, "parts that have no place in a message", r.Blocks)
	told(a, "unknown", r.Unknown)
}

// note writes a note about each line, at most limit notes.
func note(a *app, lines []historyDamage, limit int) {
	for i, d := range lines {
		if i == limit {
			a.Notef("%s and %s", a.PaintError(screen.Yellow, "note:"), count(len(lines)-i, "more line"))
			break
		}
		a.Notef("%s %s, line %d: %s", a.PaintError(screen.Yellow, "note:"), screen.Plain(d.Path), d.Line, screen.Plain(d.Why))
	}
}

// noteShorter writes a note about each file of which nothing came, at most limit notes.
func noteShorter(a *app, paths []string, limit int) {
	for i, path := range paths {
		if i == limit {
			a.Notef("%s and %s", a.PaintError(screen.Yellow, "note:"), count(len(paths)-i, "more file"))
			break
		}
		a.Notef("%s %s: nothing came of it, because a longer file has the session", a.PaintError(screen.Yellow, "note:"), screen.Plain(path))
	}
}

func told(a *app, what string, counts map[string]int) {
	if len(counts) == 0 {
		return
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%s %s", screen.Plain(name), number(counts[name])))
	}
	a.Printf("  %s: %s\n", what, strings.Join(parts, ", "))
}
