package foreign

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// promptBegins is what stands before the prompt in a text of Codex that begins with what
// an editor tells.
const promptBegins = "## My request for Codex:"

var (
	fromEditor  = regexp.MustCompile(`^\s*<(ide_[a-z_]+)>`)
	commandName = regexp.MustCompile(`<command-name>([^<]*)</command-name>`)
	commandSaid = regexp.MustCompile(`<command-message>([^<]*)</command-message>`)
	commandArgs = regexp.MustCompile(`(?s)<command-args>(.*)</command-args>`)
	shellInput  = regexp.MustCompile(`(?s)^<bash-input>(.*)</bash-input>`)
)

// titleIn returns the first line of the texts of a prompt that a person typed, without
// what an editor or the tool put beside it, and of the command that a person gave.
func titleIn(said ...string) (typed, command string) {
	tagged := ""
	for _, s := range said {
		s = withoutEditor(s)
		switch {
		case isCommand(s) || isLocalCommand(s):
			command = firstOf(command, firstLine(firstOf(first(commandName, s), first(commandSaid, s))+" "+first(commandArgs, s)))
		case shellInput.MatchString(s):
			command = firstOf(command, firstLine("! "+first(shellInput, s)))
		case byTool.MatchString(s):
			tagged = firstOf(tagged, firstLine(s))
		default:
			typed = firstOf(typed, firstLine(s))
		}
	}
	return firstOf(typed, tagged), command
}

// givenTitle returns the title that a tool gave. It may have taken it from a prompt.
func givenTitle(title string) string {
	switch {
	case unknownCommand.MatchString(title):
		return ""
	case byTool.MatchString(title) || withoutEditor(title) != title:
		return firstOf(titleIn(title))
	}
	return title
}

// withoutEditor returns a text without what an editor put before it.
func withoutEditor(s string) string {
	if at := strings.Index("\n"+s, "\n"+promptBegins); at >= 0 {
		return s[at+len(promptBegins):]
	}
	if strings.HasPrefix(strings.TrimSpace(s), "# Context from my IDE setup:") {
		return ""
	}
	for m := fromEditor.FindStringSubmatch(s); m != nil; m = fromEditor.FindStringSubmatch(s) {
		_, s, _ = strings.Cut(s, "</"+m[1]+">")
	}
	return s
}

func first(of *regexp.Regexp, s string) string {
	if m := of.FindStringSubmatch(s); m != nil {
		return m[1]
	}
	return ""
}

// firstLine returns the first line of a text that is not blank, or enough of it for a name.
func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	line = strings.TrimSpace(line)
	return strings.ToValidUTF8(line[:min(len(line), utf8.UTFMax*maxName)], "")
}
