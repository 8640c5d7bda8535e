package cli

import (
	"errors"
	"os"
	"strings"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign"
	"github.com/amplifier-go/sessionstorage/slice/accept"
)

type rescueCommand struct {
	Session string `arg:"" optional:"" help:"A session, or with --from the tool's id of one, the beginning of that, or a file."`
	From    string `placeholder:"TOOL" enum:",claude,codex" default:"" help:"The tool whose session it is: claude or codex."`
	All     bool   `help:"Look at all sessions of the tool."`
	DryRun  bool   `help:"Write nothing, and tell what would be done."`
	where
}

// Help is shown below the usage.
func (rescueCommand) Help() string {
	return `Tells all that keeps a session from going on, and mends it: lines that cannot be read, as repair --salvage does and also without a backup, calls without a result and turns without an answer, as repair does, and what the provider of its model refuses, or each provider where the model is not known. "sessions undo SESSION" brings back what it was, all at once.

With --from it is a session of Claude Code or Codex that the tool cannot read, or whose provider refuses each request: a torn line, bytes of zero, a lost line, a call without its result, an empty message, a picture. Where all of it can be mended, it makes a new session with the smallest mend, which the tool lists and resumes. The session itself stays as it is, and a copy of its file is kept in the project of its directory here, which no sync sends anywhere. Again, it makes nothing new.

    sessions rescue 8f14
    sessions rescue --from claude --all --dry-run
    sessions rescue --from codex 01a2137d

The exit code is 0 where each session is sound or mended, 1 where one is not.`
}

// rescuedOne is a session that has faults, or cannot be read, as JSON.
type rescuedOne struct {
	ID       string         `json:"id"`
	Path     string         `json:"path"`
	Faults   []rescuedFault `json:"faults"`
	Mended   bool           `json:"mended"`
	NewID    string         `json:"new_id"`
	NewPath  string         `json:"new_path"`
	Original string         `json:"original"`
	Damaged  string         `json:"damaged"`
	Error    string         `json:"error,omitempty"`
}

type rescuedFault struct {
	Kind   string        `json:"kind"`
	Line   int           `json:"line"`
	Reason accept.Reason `json:"reason"`
	Mend   string        `json:"mend"`
}

// Run rescues.
func (c *rescueCommand) Run(a *app) error {
	if (c.Session == "") != c.All || c.All && c.From == "" {
		return usageError{"name a session, or with --from a file or --all"}
	}
	p, err := a.projects(c.where)
	if err != nil {
		return err
	}
	tool := foreign.Tool(c.From)
	opts := &foreign.RescueOptions{ID: c.Session, DryRun: c.DryRun}
	if _, err := os.Lstat(c.Session); err == nil || strings.ContainsRune(c.Session, os.PathSeparator) {
		opts.ID, opts.File = "", c.Session
	}
	sound, lost, broken := 0, 0, []rescuedOne{}
	all := foreign.Rescue(a.ctx, p, tool, opts)
	if c.From == "" {
		all = func(yield func(foreign.Rescued, error) bool) { yield(c.here(a)) }
	}
	for done, err := range all {
		if err != nil && (done.ID == "" || a.ctx.Err() != nil) {
			return err
		}
		if err == nil && len(done.Faults) == 0 {
			sound++
			continue
		}
		one := rescuedOne{done.ID, done.Path, []rescuedFault{}, err == nil && done.Mended(), done.NewID, done.NewPath, done.Original, done.Damaged, ""}
		for _, f := range done.Faults {
			one.Faults = append(one.Faults, rescuedFault(f))
		}
		if err != nil {
			one.Error = screen.Lines(explain(err))
		}
		if !one.Mended {
			lost++
		}
		if broken = append(broken, one); !a.json {
			c.print(a, done, err)
		}
	}
	if a.json {
		err = a.writeJSON(struct {
			DryRun bool         `json:"dry_run"`
			Sound  int          `json:"sound"`
			Broken []rescuedOne `json:"broken"`
		}{c.DryRun, sound, broken})
	} else if sound > 0 {
		a.Printf("%s Sound: %s\n", a.Paint(screen.Green, "✓"), count(sound, "session"))
	}
	if lost > 0 {
		err = errors.Join(err, exitCode(exitError))
	}
	return err
}

// print tells what is wrong with a session, and what was done.
func (c *rescueCommand) print(a *app, done foreign.Rescued, err error) {
	a.Printf("%s %s\n", a.Paint(screen.Bold, screen.Plain(done.ID)), screen.Plain(done.Path))
	const most = 10
	for i, f := range done.Faults {
		if i == most {
			a.Printf("  and %s more; --json has all\n", number(len(done.Faults)-most))
			break
		}
		a.Printf("  %s\n", strings.ReplaceAll(f.String(), "_", " "))
	}
	switch again := map[string]string{"claude": "claude --resume ", "codex": "codex resume "}[c.From] + done.NewID; {
	case err != nil:
		a.Printf("  %s not mended: %s\n", a.Paint(screen.Red, "✗"), screen.Lines(explain(err)))
	case !done.Mended():
		a.Printf("  %s not mended: nothing was written\n", a.Paint(screen.Red, "✗"))
	case c.DryRun:
		a.Printf("  it can be mended\n")
	case c.From == "":
		a.Printf("  %s mended; %s brings back what it was\n", a.Paint(screen.Green, "✓"), a.Paint(screen.Cyan, "sessions undo "+screen.Plain(done.ID)))
		if done.Damaged != "" {
			a.Printf("  what could not be read stays in %s\n", screen.Plain(done.Damaged))
		}
	default:
		a.Printf("  %s %s goes on with the new session; the original stays as it is, and its copy is %s\n", a.Paint(screen.Green, "✓"), a.Paint(screen.Cyan, again), screen.Plain(done.Original))
		if done.Damaged != "" {
			a.Printf("  what is in no line of it: %s\n", screen.Plain(done.Damaged))
		}
	}
}
