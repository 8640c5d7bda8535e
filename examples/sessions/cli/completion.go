package cli

import (
	"cmp"
	"embed"
	"path/filepath"
	"slices"
	"strings"

	"github.com/amplifier-go/sessionstorage/sessionstore/projects"

	"github.com/alecthomas/kong"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

//go:embed scripts
var scripts embed.FS

type completionCommand struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Help is shown below the usage.
func (completionCommand) Help() string {
	return `Prints a script that completes commands, flags, session ids and projects. Load it where your shell starts:

    source <(sessions completion bash)     in ~/.bashrc
    source <(sessions completion zsh)      in ~/.zshrc
    sessions completion fish | source      in ~/.config/fish/config.fish`
}

// Run prints.
func (c *completionCommand) Run(a *app) error {
	if err := a.document(); err != nil {
		return err
	}
	script, err := scripts.ReadFile("scripts/completion." + c.Shell)
	if err != nil {
		return err
	}
	_, err = a.Write(script)
	return err
}

// completeCommand is the command that the scripts call, with the words of a command
// line up to the word to complete.
type completeCommand struct {
	Words []string `arg:"" optional:""`
}

// Run prints the completions of the last word, a line each: the text, a tab, a description.
// The scripts quote the text. One that cannot be written safely is left out.
func (c *completeCommand) Run(a *app) error {
	words := c.Words
	if len(words) > 0 && words[0] == "--" {
		words = words[1:]
	}
	for _, o := range complete(a, words) {
		if writable(o.text) {
			a.Printf("%s\t%s\n", o.text, screen.Plain(o.about))
		}
	}
	return nil
}

// writable reports whether every shell can put a completion on its line as one word that
// means itself: no character of it does anything to a terminal or ends a line, and no home
// directory replaces a ~, which fish does not quote.
func writable(text string) bool {
	return screen.Plain(text) == text && !strings.HasPrefix(text, "~") && !strings.Contains(text, "=~")
}

// option is a completion of a word.
type option struct{ text, about string }

// typed is a command line, read up to its last word.
type typed struct {
	node    *kong.Node
	flags   map[string]string // that were given, with their values
	waiting *kong.Flag        // the last word is its value
	last    string            // the word to complete
}

// readLine reads the words of a command line. Bash splits --flag=value into three words.
func readLine(app *kong.Node, words []string) typed {
	l := typed{node: app, flags: map[string]string{}}
	for i, word := range words {
		l.last = word
		switch {
		case word == "=" && i > 0 && strings.HasPrefix(words[i-1], "--"):
			l.waiting, l.last = l.flag(words[i-1]), ""
			continue
		case i == len(words)-1:
			return l
		case l.waiting != nil:
			l.flags[l.waiting.Name], l.waiting = word, nil
		case strings.HasPrefix(word, "-"):
			name, value, given := strings.Cut(word, "=")
			flag := l.flag(name)
			switch {
			case flag == nil:
			case given:
				l.flags[flag.Name] = value
			case !flag.IsBool() && (i+1 >= len(words) || words[i+1] != "="):
				l.waiting = flag
			}
		default:
			for _, child := range l.node.Children {
				if child.Name == word {
					l.node = child
					break
				}
			}
		}
	}
	return l
}

// flag returns the flag of a name with its dashes, nil if there is none.
func (l typed) flag(name string) *kong.Flag {
	for _, flags := range l.node.AllFlags(false) {
		for _, f := range flags {
			if "--"+f.Name == name || slices.Contains(f.Aliases, strings.TrimPrefix(name, "--")) || f.Short != 0 && "-"+string(f.Short) == name {
				return f
			}
		}
	}
	return nil
}

// complete returns the completions of the last word.
func complete(a *app, words []string) []option {
	l := readLine(a.parser.Model.Node, words)
	switch {
	case l.waiting != nil:
		return beginning(l.values(a, l.waiting), "", l.last)
	case strings.HasPrefix(l.last, "--") && strings.Contains(l.last, "="):
		name, value, _ := strings.Cut(l.last, "=")
		if f := l.flag(name); f != nil {
			return beginning(l.values(a, f), name+"=", value)
		}
		return nil
	case strings.HasPrefix(l.last, "-"):
		return beginning(l.flagNames(), "", l.last)
	case len(l.node.Children) > 0:
		return beginning(l.commandNames(), "", l.last)
	case len(l.node.Positional) > 0:
		first := l.node.Positional[0]
		if first.Enum != "" {
			return beginning(enumerated(first.Enum), "", l.last)
		}
		var all []option
		switch {
		case first.Name == "session", l.node.Name == "undo":
			all = l.sessions(a)
		case l.node.Name == "copy", l.node.Name == "remove":
			all = remoteNames(a)
		}
		all = slices.DeleteFunc(all, func(o option) bool { return strings.HasPrefix(o.text, "-") }) // it would be a flag
		return beginning(all, "", l.last)
	}
	return nil
}

// remoteNames returns the remotes that were added.
func remoteNames(a *app) (all []option) {
	added, _, _ := a.settings() // unreadable settings complete nothing
	for _, s := range added {
		all = append(all, option{s.Name, string(s.URL)})
	}
	return all
}

// beginning returns the options that begin with text, with a prefix before them.
func beginning(all []option, prefix, text string) (some []option) {
	for _, o := range all {
		if strings.HasPrefix(o.text, text) {
			some = append(some, option{prefix + o.text, o.about})
		}
	}
	return some
}

func (l typed) flagNames() (all []option) {
	for _, flags := range l.node.AllFlags(true) {
		for _, f := range flags {
			if !f.Hidden {
				all = append(all, option{"--" + f.Name, f.Help})
			}
		}
	}
	return all
}

func (l typed) commandNames() (all []option) {
	for _, child := range l.node.Children {
		if !child.Hidden {
			all = append(all, option{child.Name, child.Help})
		}
	}
	return all
}

// values returns the values of a flag that has an enum, of --project and of --tree. Other
// flags have no completions.
func (l typed) values(a *app, f *kong.Flag) []option {
	switch {
	case f.Enum != "":
		return enumerated(f.Enum)
	case f.Name == "project":
		p, err := projects.Open(l.flags["sessions-root"], nil)
		if err != nil {
			return nil
		}
		a.later(p.Close)
		slugs, _ := p.Slugs(a.ctx) // without the list, there are no completions
		var all []option
		for _, slug := range slugs {
			all = append(all, option{slug, "project"})
		}
		return all
	case f.Name == "remote":
		return remoteNames(a)
	case f.Name == "tree":
		return l.sessions(a)
	}
	return nil
}

func enumerated(enum string) (all []option) {
	for _, value := range strings.Split(enum, ",") {
		if value != "" {
			all = append(all, option{value, ""})
		}
	}
	return all
}

// completed limits the sessions offered of a project, the ones saved last.
const completed = 200

// sessions returns the sessions of the project with their titles. Where the working
// directory has no project and no flag names one, it returns the sessions of all projects.
func (l typed) sessions(a *app) (all []option) {
	of := local{SessionsRoot: l.flags["sessions-root"], Project: l.flags["project"]}
	st, _, err := of.openStore(a)
	stores := []*sessionstore.Store{st}
	switch {
	case err != nil, st == nil && of.Project != "":
		return nil
	case st == nil:
		stores, _, _ = a.stores(where(of)) // what cannot be read has no completions
	}
	for _, st := range stores {
		infos, _ := st.List(a.ctx, &sessionstore.ListOptions{All: strings.Contains(l.last, "_"), Limit: completed})
		for _, info := range infos {
			if !strings.HasPrefix(info.ID, l.last) {
				continue
			}
			s, _ := st.Summary(a.ctx, info.ID) // without a title it is offered too
			all = append(all, option{info.ID, cmp.Or(markedTitle(s), filepath.Base(filepath.Dir(st.Dir())))})
		}
	}
	return all
}
