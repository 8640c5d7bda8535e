package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
)

// Process is what the tool runs in. Env is os.Getenv when nil.
type Process struct {
	Args           []string // without the program's name
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Env            func(name string) string
}

// The exit codes.
const (
	exitOK    = 0
	exitError = 1 // an error, or a session is broken
	exitUsage = 2 // wrong arguments, as of the reference

	exitInterrupted = 130 // as of a program that Ctrl-C ends
)

const about = `Looks at, mends, copies and removes stored agent sessions, in the files of Amplifier, Microsoft's agents for the terminal: https://github.com/microsoft/amplifier.

    sessions                         choose one of this directory's sessions and resume it
    sessions resume --last           resume the one saved last
    sessions list                    the sessions of this directory's project
    sessions show 7a81 -T            one of them, with its conversation
    sessions search "connection"     where was that said?
    sessions diagnose 7a81           why can it not be continued?
    sessions repair 7a81             complete it; sessions undo 7a81 takes that back, redo makes it again
    sessions fork 7a81 --at-turn 3   go on from an earlier turn
    sessions delete 7a81             to the trash; sessions undo 7a81 brings it back

SESSION is an id, the beginning of one, the short form that lists show, or the path of a session's directory. On a terminal there are tables; in a pipe ` +
	`lists are lines of tab-separated cells without titles, and diagnose, repair, rewind, info and find answer as amplifier-session does. ` +
	`--json gives every answer as JSON, errors too, as {"error": TEXT}. Times on a terminal, and dates and times in flags, are those of this machine's ` +
	`time zone, in pipes and JSON those of UTC. The exit code is 0 when all is well, 1 for an ` +
	`error or a broken session, 2 for wrong arguments (as of the Python tools), 130 when it was interrupted.`

// exitCode is an error whose message has been written already.
type exitCode int

func (c exitCode) Error() string { return fmt.Sprintf("exit code %d", int(c)) }

// usageError is an error in the arguments that kong does not see.
type usageError struct{ text string }

func (e usageError) Error() string { return e.text }

// Run runs the tool and returns its exit code. ctx ends it early.
func Run(ctx context.Context, p Process) (code int) {
	if p.Env == nil {
		p.Env = os.Getenv
	}
	var c commands
	parser, err := newParser(&c, p)
	if err != nil {
		fmt.Fprintln(p.Stderr, "sessions:", err)
		return exitError
	}
	chosen, code, err := parse(parser, p.Args)
	if len(p.Args) == 0 && (terminalFile(p.Stdin) == nil || terminalFile(p.Stdout) == nil) { // as of the Python tools
		chosen, err = nil, usageError{"name a command; without one, a session is chosen on a terminal\nUsage: sessions <command> [flags]"}
	}
	a := &app{
		ctx: ctx, stdin: p.Stdin, stdout: p.Stdout, env: p.Env, now: time.Now, parser: parser, json: c.JSON,
		plain: c.Plain, paged: !c.NoPager, alone: c.Alone,
		Screen: p.screen(ctx, &c),
	}
	if chosen != nil && chosen.Selected() != nil {
		a.name = commandName(chosen.Selected())
		command := chosen.Selected().Target.Addr().Interface()
		_, a.reference = command.(interface{ scripted() })
		if form, ok := command.(interface{ asJSON() bool }); ok {
			a.json = a.json || form.asJSON()
		}
	}
	if err != nil {
		words := beforeDashes(p.Args) // the flags may not have been read
		a.json = slices.ContainsFunc(words, func(w string) bool { return w == "--json" || strings.HasPrefix(w, "--json=") })
		return a.tellUsage(chosen, formerly(words, err))
	}
	if code >= exitOK {
		return code
	}
	a.json = a.json || a.reference && !a.Terminal()
	left, err := a.run(chosen)
	if left {
		defer a.Leave()
		return a.tell(chosen, err)
	}
	if err == nil && a.unread {
		err = exitCode(exitError)
	}
	if failed := a.Failed(); failed != nil && (err == nil || errors.Is(err, failed)) {
		err = fmt.Errorf("write the answer: %w", failed)
	}
	return a.tell(chosen, join(err, a.close()))
}

// screen returns the streams of the process as a screen, in the colour that was asked for.
func (p Process) screen(ctx context.Context, c *commands) *screen.Screen {
	return screen.New(screen.Options{Ctx: ctx, In: p.Stdin, Out: p.Stdout, Err: p.Stderr, Env: p.Env, Colour: c.Colour})
}

// join is errors.Join that leaves a single error as it is.
func join(err, other error) error {
	switch {
	case err == nil:
		return other
	case other == nil:
		return err
	}
	return errors.Join(err, other)
}

func newParser(c *commands, p Process) (*kong.Kong, error) {
	parser, err := kong.New(c,
		kong.Name("sessions"), kong.Description(about),
		kong.Writers(p.Stdout, p.Stderr), kong.Exit(func(code int) { panic(exitCode(code)) }),
		kong.Help(printHelp), kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100, NoExpandSubcommands: true}),
		kong.Vars{"version": version()}, toolVars(),
		kong.ExplicitGroups(nil), kong.WithHyphenPrefixedParameters(true), kong.UsageOnError(),
		kong.ValueFormatter(func(v *kong.Value) string { return v.Help }), // which names the variables itself
	)
	if err == nil {
		parser.Model.HelpFlag.Help = "Show this help."
	}
	return parser, err
}

// parse reads the arguments. Flags without a command belong to pick, the command that
// runs without a name. The code is negative unless the arguments ask for help; then the
// help has been written.
func parse(parser *kong.Kong, args []string) (chosen *kong.Context, code int, err error) {
	defer func() {
		if r := recover(); r != nil { // kong leaves by its exit function after it has given help
			asked, ok := r.(exitCode)
			if !ok {
				panic(r)
			}
			code = int(asked)
		}
	}()
	chosen, err = parser.Parse(args)
	if failed := (*kong.ParseError)(nil); errors.As(err, &failed) {
		chosen = failed.Context
	}
	if n := len(args); n > 0 && len(beforeDashes(args)) == n && chosen != nil && chosen.Selected() != nil {
		if f := (typed{node: chosen.Selected()}).flag(args[n-1]); f != nil && !f.IsBool() {
			return chosen, -1, usageError{args[n-1] + " takes a value"}
		}
	}
	if err != nil {
		if picks, wrong := parser.Parse(append([]string{"pick"}, args...)); wrong == nil {
			return picks, -1, nil
		}
	}
	return chosen, -1, err
}

// beforeDashes returns the arguments up to "--", after which there are no flags.
func beforeDashes(args []string) []string {
	if end := slices.Index(args, "--"); end >= 0 {
		return args[:end]
	}
	return args
}

// commandName returns the words that call a command.
func commandName(n *kong.Node) string {
	name := n.Name
	for p := n.Parent; p != nil && p.Type == kong.CommandNode; p = p.Parent {
		name = p.Name + " " + name
	}
	return name
}

// tellUsage writes an error in the arguments and the command that shows their help, and
// returns the exit code.
func (a *app) tellUsage(chosen *kong.Context, err error) int {
	command := "sessions"
	if chosen != nil && chosen.Selected() != nil {
		command += " " + commandName(chosen.Selected())
	}
	text, hint := usageText(err), "\nTry: "+command+" --help"
	if name := formerName(""); errors.As(err, &name) {
		hint = ""
		if chosen == nil || chosen.Selected() == nil || !strings.HasPrefix(string(name), "-") {
			command = "sessions " + string(name)
		}
	}
	if command == "sessions find" && strings.HasPrefix(text, "unexpected argument ") {
		text += `; "sessions search TEXT" looks for a text, and --keyword lists the sessions that hold it`
	}
	if !a.reference { // which writes nothing there
		a.answerError(text, nil)
	}
	a.Notef("%s: %s", command, screen.Lines(text+hint))
	return exitUsage
}

// otherLetters is what kong offers for an unknown flag of one letter: all others.
var otherLetters = regexp.MustCompile(`^(unknown flag -[^-]), did you mean .*$`)

// usageText returns the text of an error in the arguments. It offers only what
// can be written: not the empty value of a flag that was left out, and for a
// letter no other letter.
func usageText(err error) string {
	text := strings.Replace(err.Error(), ` must be one of "",`, " must be one of ", 1)
	return otherLetters.ReplaceAllString(text, "$1")
}

// tell writes the error of a command, if there is one, and returns the exit code.
func (a *app) tell(chosen *kong.Context, err error) int {
	code, usage := exitCode(0), usageError{}
	switch {
	case err == nil:
		return exitOK
	case a.ctx.Err() != nil && errors.Is(err, context.Canceled):
		a.tellError(err)
		return exitInterrupted
	case errors.As(err, &code):
		return int(code)
	case errors.As(err, &usage):
		return a.tellUsage(chosen, err)
	}
	a.tellError(err)
	return exitError
}

// tellError shows an error, and writes it as the answer where that is JSON.
func (a *app) tellError(err error) {
	text := explain(err)
	if advice := a.place.advice(err); advice != "" {
		text += ". " + advice
	}
	switch {
	case a.reference && a.json:
		a.answerError(text, nil)
		a.Notef("%s", screen.Lines(text))
	case a.json:
		a.answerError(text, a.candidates(err))
		a.Notef("%s", screen.Lines(text))
	default:
		a.Notef("%s %s", a.PaintError(screen.Red, "sessions:"), screen.Lines(text))
		a.noteCandidates(a.candidates(err))
	}
}

// document returns an error if JSON is asked for: the answer is a text with a form of its own.
func (a *app) document() error {
	if a.json {
		return usageError{"--json: the answer of this command has a form of its own"}
	}
	return nil
}
