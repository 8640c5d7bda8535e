package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// manual returns the manual page of the tool, section 1, in the man macros of
// roff. It has what the help of each command has.
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

// paragraphs writes text; what is indented there is an example.
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
