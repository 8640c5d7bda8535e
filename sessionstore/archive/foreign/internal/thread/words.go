package thread

import (
	"cmp"
	"regexp"
	"strings"
	"unicode/utf8"
)

// The texts that this package adds to a conversation.
const (
	noResult    = "[The imported history has no result of this call.]"
	noAnswer    = "[The imported history has no answer here.]"
	noBeginning = "The imported history does not have the beginning of this conversation."
	NotText     = "[Not text: kept in the imported original.]"

	CompactedText = "The other tool compacted the conversation here. What it kept of it is encrypted, in the imported original."
	Elsewhere     = "This conversation goes on from another one of the same tool, whose text its file does not repeat."
)

// reminder marks a text that no person wrote, as the Amplifier tools do.
func reminder(s string) string {
	if strings.HasPrefix(s, "<system-reminder>") {
		return s
	}
	return "<system-reminder>\n" + s + "\n</system-reminder>"
}

// ByTool matches the beginning of a text in the user's name that no person typed. Claude
// Code looks for the first prompt by the same rule.
var ByTool = regexp.MustCompile(`^(?:\s*<[a-z][\w-]*[\s>]|\[Request interrupted by user[^\]]*\])`)

// UnknownCommand is the answer of Claude Code to a command that it does not know, which
// it writes in the user's name.
var UnknownCommand = regexp.MustCompile(`^\s*Unknown (?:skill|slash command|command): \S+(?: Did you mean \S+)?\s*$`)

// How the text of a command begins that a person gave and no prompt, and that of one of the
// tool's own commands, such as /clear.
const (
	Command      = "<command-message>"
	LocalCommand = "<command-name>"
)

// The reasons why a line became no message, in a list of message numbers.
const (
	whyBlank int32 = -1 - iota
	whyDamaged
	whyBookkeep
	whyUnknown
	whyBranch
	whyAgent
	whyRepeated
	whyThinking
	whyEmpty
	whyNoCall
	whySummary
	whyHere
)

// Reasons that others than a rendering have.
const (
	WhyAgent = "of a sub-agent"
	WhyHere  = "exported from here"
	WhyCopy  = "in a file that repeats the conversation"
)

// reasons are the texts of the reasons. The map's "why" and Left of the results have these.
var reasons = [...]string{
	-1 - whyBlank:    "blank",
	-1 - whyDamaged:  "damaged",
	-1 - whyBookkeep: "not part of the conversation",
	-1 - whyUnknown:  "unknown kind",
	-1 - whyBranch:   "on another branch",
	-1 - whyAgent:    WhyAgent,
	-1 - whyRepeated: "repeated",
	-1 - whyThinking: "only thinking",
	-1 - whyEmpty:    "nothing to show",
	-1 - whyNoCall:   "result without a call",
	-1 - whySummary:  "summary of what stands here",
	-1 - whyHere:     WhyHere,
}

// MaxName is the limit of the Amplifier tools, in characters.
const MaxName = 200

// ExportMember is the member of an exported line that names the message that it was made
// of: the id of the session and, behind a slash, the number of the message.
const ExportMember = "amplifier"

// SealMember is the member of an exported line that was not made of its message as it is: it
// tells all lines of the messages that the export changed there.
const SealMember = "amplifier_mended"

// promptBegins precedes the prompt in a text of Codex that begins with text that an editor
// adds.
const promptBegins = "## My request for Codex:"

var (
	fromEditor  = regexp.MustCompile(`^\s*<(ide_[a-z_]+|(?:file|skill) name="[^"\n]*"[^>\n]*)>`)
	commandName = regexp.MustCompile(`<command-name>([^<]*)</command-name>`)
	commandSaid = regexp.MustCompile(`<command-message>([^<]*)</command-message>`)
	commandArgs = regexp.MustCompile(`(?s)<command-args>(.*)</command-args>`)
	shellInput  = regexp.MustCompile(`(?s)^<bash-input>(.*)</bash-input>`)
)

// TitleIn returns the first line of the texts of a prompt that a person typed, without text
// that an editor or the tool put beside it, and of the command that a person gave.
func TitleIn(said ...string) (typed, command string) {
	tagged := ""
	for _, s := range said {
		s = withoutEditor(s)
		switch {
		case strings.HasPrefix(s, Command) || strings.HasPrefix(s, LocalCommand):
			command = cmp.Or(command, firstLine(cmp.Or(first(commandName, s), first(commandSaid, s))+" "+first(commandArgs, s)))
		case shellInput.MatchString(s):
			command = cmp.Or(command, firstLine("! "+first(shellInput, s)))
		case ByTool.MatchString(s):
			tagged = cmp.Or(tagged, firstLine(s))
		default:
			typed = cmp.Or(typed, firstLine(s))
		}
	}
	return cmp.Or(typed, tagged), command
}

// GivenTitle returns the title that a tool gave. It may have taken it from a prompt.
func GivenTitle(title string) string {
	switch {
	case UnknownCommand.MatchString(title):
		return ""
	case ByTool.MatchString(title) || withoutEditor(title) != title:
		return cmp.Or(TitleIn(title))
	}
	return title
}

// withoutEditor returns a text without the text that an editor put before it.
func withoutEditor(s string) string {
	if said, found := strings.CutPrefix(s, promptBegins); found {
		return said
	}
	if _, said, found := strings.Cut(s, "\n"+promptBegins); found {
		return said
	}
	if strings.HasPrefix(strings.TrimSpace(s), "# Context from my IDE setup:") {
		return ""
	}
	for m := fromEditor.FindStringSubmatch(s); m != nil; m = fromEditor.FindStringSubmatch(s) {
		tag, _, _ := strings.Cut(m[1], " ")
		_, s, _ = strings.Cut(s, "</"+tag+">")
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
	return strings.ToValidUTF8(line[:min(len(line), utf8.UTFMax*MaxName)], "")
}
