package cli

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
	"github.com/amplifier-go/sessionstorage/examples/viewer/host"
	"github.com/amplifier-go/sessionstorage/examples/viewer/web"
)

// manual returns the manual page of the tool, section 1, in the man macros of
// roff. It holds the help of each command.
func manual(top *kong.Node) string {
	var b strings.Builder
	b.WriteString(".TH SESSIONS 1\n.SH NAME\nsessions \\- looks at, mends, copies and removes stored agent sessions\n")
	b.WriteString(".SH SYNOPSIS\n.B sessions\n.I command\n.RI [ flags ]\n.SH DESCRIPTION\n")
	paragraphs(&b, top.Help)
	b.WriteString(".SH OPTIONS\n")
	flags(&b, top.Flags)
	b.WriteString(".SH COMMANDS\n")
	for _, child := range top.Children {
		command(&b, child)
	}
	b.WriteString(".SH EXIT STATUS\n0 when all is well, 1 for an error or a broken session, 2 for wrong arguments, 130 when it was interrupted.\n")
	return b.String()
}

// command writes a command and those below it.
func command(b *strings.Builder, n *kong.Node) {
	if n.Hidden {
		return
	}
	if len(n.Children) == 0 || n.DefaultCmd != nil {
		fmt.Fprintf(b, ".SS %s\n", roff(strings.TrimPrefix(n.FullPath(), "sessions ")+arguments(n)))
		paragraphs(b, n.Help)
		paragraphs(b, n.Detail)
		for _, arg := range n.Positional {
			fmt.Fprintf(b, ".TP\n.I %s\n%s\n", roff(arg.Name), roff(arg.Help))
		}
		flags(b, n.Flags)
	}
	for _, child := range n.Children {
		command(b, child)
	}
}

// arguments returns the arguments of a command as the usage shows them.
func arguments(n *kong.Node) (text string) {
	for _, arg := range n.Positional {
		text += " " + arg.Summary()
	}
	return text
}

// flags writes what the flags do.
func flags(b *strings.Builder, all []*kong.Flag) {
	for _, f := range all {
		if f.Hidden || f.Name == "help" {
			continue
		}
		name := "\\fB" + roff("--"+f.Name) + "\\fR"
		if f.Short != 0 {
			name = "\\fB" + roff("-"+string(f.Short)) + "\\fR, " + name
		}
		if !f.IsBool() {
			name += "=\\fI" + roff(f.FormatPlaceHolder()) + "\\fR"
		}
		fmt.Fprintf(b, ".TP\n%s\n%s\n", name, roff(f.Help))
	}
}

// paragraphs writes the paragraphs of text. An indented one is an example, whose lines
// stay as they are.
func paragraphs(b *strings.Builder, text string) {
	for part := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		switch lines := strings.Split(part, "\n"); {
		case part == "":
		case slices.ContainsFunc(lines, func(l string) bool { return !strings.HasPrefix(l, "    ") }):
			fmt.Fprintf(b, ".PP\n%s\n", roff(part))
		default:
			b.WriteString(".PP\n.RS\n.nf\n")
			for _, l := range lines {
				fmt.Fprintf(b, "%s\n", roff(strings.TrimPrefix(l, "    ")))
			}
			b.WriteString(".fi\n.RE\n")
		}
	}
}

// roff returns text so that roff shows it as it is.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, ".") || strings.HasPrefix(l, "'") {
			lines[i] = `\&` + l
		}
	}
	return strings.Join(lines, "\n")
}

type viewerCommand struct {
	SessionsRoot string `placeholder:"DIR" help:"Directory of projects, or one sessions directory (default: ~/.amplifier/projects)." group:"Where"`
	Addr         string `default:"127.0.0.1:0" placeholder:"ADDR" help:"Address on this machine to listen at; port 0: any that is free."`
	Open         bool   `help:"Start the browser."`
	NoToken      bool   `help:"Show all sessions to every user and program of this machine that asks."`
}

// Help is shown below the usage.
func (viewerCommand) Help() string {
	return `Shows sessions in a browser on this machine, live, until the program is ended. Its address is written to standard output and lets in who has it, since every user of the machine reaches a port: it ends in a token, which is another one each time. A browser that opened it gets a cookie, and the token leaves the address. The viewer changes nothing.`
}

// Run serves until the context ends.
func (c *viewerCommand) Run(a *app) error {
	places, err := web.OpenPlaces(c.SessionsRoot, nil)
	if err != nil {
		return err
	}
	a.later(places.Close)
	l, err := web.Listen(a.ctx, c.Addr)
	if err != nil {
		return err
	}
	defer l.Close()
	o := web.Options{Host: a.env(host.Variable), Open: c.Open, NoToken: c.NoToken}
	server, err := web.New(places, l.Addr(), slog.New(slog.NewTextHandler(a.Errors(), nil)), o)
	if err != nil {
		return err
	}
	url := server.URL()
	if a.json {
		err = a.writeLine(object{{"url", url}})
	} else {
		a.Printf("%s\n", url)
	}
	if err != nil {
		return err
	}
	if a.Terminal() {
		a.Notef("%s", a.PaintError(screen.Dim, "Ctrl-C ends it."))
	}
	return server.Serve(a.ctx, l)
}
