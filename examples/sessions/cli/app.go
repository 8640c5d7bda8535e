package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"time"

	"github.com/amplifier-go/sessionstorage/sessionstore/projects"

	"github.com/alecthomas/kong"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// app is what a command runs in.
type app struct {
	*screen.Screen
	ctx    context.Context
	stdin  io.Reader
	stdout io.Writer
	env    func(string) string
	now    func() time.Time
	parser *kong.Kong
	json   bool   // standard output is JSON
	name   string // of the command, as "trash list"
	plain  bool   // Markdown is not rendered
	paged  bool   // long answers go through a pager
	alone  bool   // no other program writes, so no lock of the system is needed
	place  place  // the remote that the command is about
	away   error  // why it could not be opened, where it was not asked
	cache  int64  // as of sessionstore.Options
	unread bool   // a session or project could not be read; a note of it was written

	reference bool        // the command is one of amplifier-session
	answered  atomic.Bool // JSON was written
	left      atomic.Bool // the command was left behind

	opened  *projects.Projects  // the directory of projects that was opened last
	hidden  map[string][]string // the hidden sessions, by the sessions directory, as they were first asked for
	closers []func() error
}

// writtenAtOnce is the number of bytes that Write writes between two looks at the context.
const writtenAtOnce = 64 << 10

// Write writes b to standard output, until the context ends. The first writtenAtOnce bytes
// are always written, so that a short answer or an error comes out whole.
func (a *app) Write(b []byte) (n int, err error) {
	for part := range slices.Chunk(b, writtenAtOnce) {
		if (n > 0 || a.left.Load()) && a.ctx.Err() != nil {
			return n, a.ctx.Err()
		}
		written, err := a.Screen.Write(part)
		if n += written; err != nil {
			return n, err
		}
	}
	return n, nil
}

// later adds f to the functions that close calls when the command is over.
func (a *app) later(f func() error) { a.closers = append(a.closers, f) }

func (a *app) close() error {
	var errs []error
	for i := len(a.closers) - 1; i >= 0; i-- {
		errs = append(errs, a.closers[i]())
	}
	return errors.Join(errs...)
}

// where are the flags that say in which projects a command looks.
type where struct {
	SessionsRoot string `placeholder:"DIR" help:"Directory of projects (default: ~/.amplifier/projects)." group:"Where"`
	Project      string `placeholder:"NAME" help:"Look in this project alone: its name, as lists show it too, or the path of its directory." group:"Where"`
}

// storeOptions are the options of all stores.
func (a *app) storeOptions() *sessionstore.Options {
	return &sessionstore.Options{SingleWriter: a.alone, CacheBytes: a.cache}
}

// projects opens the directory of projects.
func (a *app) projects(w where) (*projects.Projects, error) {
	p, err := projects.Open(w.SessionsRoot, a.storeOptions())
	if err == nil {
		a.opened = p
		a.later(p.Close)
	}
	return p, err
}

// known opens the directory of projects, which must exist if w names it.
func (a *app) known(w where) (*projects.Projects, error) {
	if w.SessionsRoot != "" && !isDir(w.SessionsRoot) {
		return nil, fmt.Errorf("no directory %s for --sessions-root; without it, ~/.amplifier/projects is meant", screen.Plain(w.SessionsRoot))
	}
	return a.projects(w)
}

func isDir(path string) bool {
	fi, err := os.Stat(path)
	return err == nil && fi.IsDir()
}

// commands are the arguments of the program. The text below each name is the
// first that a newcomer reads.
type commands struct {
	JSON    bool             `help:"Write JSON to standard output, errors too." group:"Output"`
	Plain   bool             `help:"Show text as it stands, and do not render Markdown." group:"Output"`
	NoPager bool             `help:"Do not show long answers through PAGER." group:"Output"`
	Alone   bool             `name:"single-writer" help:"Write where the file system has no locks: no other program writes these sessions meanwhile." group:"Where"`
	Version kong.VersionFlag `help:"Print the version." group:"Output"`
	Colour  string           `name:"color" enum:"auto,always,never" default:"auto" placeholder:"WHEN" help:"Use colour: auto, always or never. NO_COLOR turns it off too." group:"Output"`

	Pick   pickCommand   `cmd:"" default:"1" hidden:"" group:"Look" help:"Choose a session on the terminal and resume it; without a command, this one runs."`
	List   listCommand   `cmd:"" group:"Look" help:"List recent sessions of this project, or of all."`
	Show   showCommand   `cmd:"" group:"Look" help:"Show what a session is, and its transcript with -T."`
	Info   infoCommand   `cmd:"" group:"Look" help:"Show a session's metadata and whether it can be continued."`
	Find   findCommand   `cmd:"" group:"Look" help:"Find sessions by date, words or health, in all projects."`
	Resume resumeCommand `cmd:"" group:"Look" help:"Go on with a session; --show shows what would be resumed."`

	Diagnose diagnoseCommand `cmd:"" group:"Mend" help:"Tell what keeps a session from being continued."`
	Repair   repairCommand   `cmd:"" group:"Mend" help:"Complete what is missing in a broken transcript. undo takes it back."`
	Rewind   rewindCommand   `cmd:"" group:"Mend" help:"Cut a transcript before what is broken, or after a turn. undo takes it back."`

	Fork    forkCommand    `cmd:"" group:"Copy and remove" help:"Make a new session of the first turns of another."`
	Delete  deleteCommand  `cmd:"" group:"Copy and remove" help:"Move a session to the trash."`
	Cleanup cleanupCommand `cmd:"" group:"Copy and remove" help:"Move old sessions to the trash."`

	shelf

	Help       helpCommand       `cmd:"" group:"Help" help:"Show what a command does, and the flags that all have."`
	Completion completionCommand `cmd:"" group:"Help" help:"Print a script that completes what you type."`
	Complete   completeCommand   `cmd:"" hidden:"" passthrough:""`
}

type helpCommand struct {
	Command []string `arg:"" optional:"" help:"A command, as fork, or trash empty; or flags."`
}

// Help is shown below the usage.
func (helpCommand) Help() string {
	return `Shows the help of a command, or of all; "sessions help flags" shows the flags that all commands have.`
}

// Run helps.
func (c *helpCommand) Run(a *app) error {
	if err := a.document(); err != nil {
		return err
	}
	if slices.Equal(c.Command, []string{"flags"}) {
		var rows [][2]string
		for _, f := range commonFlags(readLine(a.parser.Model.Node, []string{"list", ""}).node) {
			rows = append(rows, [2]string{"--" + f.Name, f.Help})
		}
		a.fields(rows)
		return nil
	}
	chosen, code, err := parse(a.parser, append(c.Command, "--help"))
	if err != nil {
		return exitCode(a.tellUsage(chosen, formerly(c.Command, err)))
	}
	return exitCode(code)
}

// ofAll are the flags that all commands have, or nearly all.
var ofAll = []string{"help", "json", "plain", "no-pager", "color", "single-writer", "version", "sessions-root", "project"}

func commonFlags(n *kong.Node) (all []*kong.Flag) {
	for _, flags := range n.AllFlags(true) {
		for _, f := range flags {
			if slices.Contains(ofAll, f.Name) {
				all = append(all, f)
			}
		}
	}
	return all
}

// printHelp writes the help. That of a command leaves out the common flags, and says where
// they are.
func printHelp(o kong.HelpOptions, ctx *kong.Context) error {
	if ctx.Selected() == nil {
		return kong.DefaultHelpPrinter(o, ctx)
	}
	for _, f := range commonFlags(ctx.Selected()) {
		f.Hidden = true
	}
	err := kong.DefaultHelpPrinter(o, ctx)
	_, failed := fmt.Fprintln(ctx.Stdout, "\nCommon flags: sessions help flags")
	return cmp.Or(err, failed)
}

// version returns the version of the tool, of Go, and the platform.
func version() string {
	number := "(not a release)"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		number = info.Main.Version
	}
	return fmt.Sprintf("sessions %s, %s, %s/%s", number, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
