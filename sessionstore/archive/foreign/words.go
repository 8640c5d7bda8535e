package foreign

import (
	"regexp"
	"strings"
)

// The texts that this package adds to a conversation.
const (
	noResult    = "[The imported history has no result of this call.]"
	noAnswer    = "[The imported history has no answer here.]"
	noBeginning = "The imported history does not have the beginning of this conversation."
	notText     = "[Not text: kept in the imported original.]"

	compactedText = "The other tool compacted the conversation here. What it kept of it is encrypted, in the imported original."
	elsewhere     = "This conversation goes on from another one of the same tool, whose text its file does not repeat."
)

// reminder marks a text that no person wrote, as the Amplifier tools do.
func reminder(s string) string {
	if strings.HasPrefix(s, "<system-reminder>") {
		return s
	}
	return "<system-reminder>\n" + s + "\n</system-reminder>"
}

// claudeSummary is how the summary of a compaction begins.
const claudeSummary = "This session is being continued from a previous conversation that ran out of context"

// byTool is what a text in the user's name begins with that nobody typed: the rule
// by which Claude Code looks for the first prompt.
var byTool = regexp.MustCompile(`^(?:\s*<[a-z][\w-]*[\s>]|\[Request interrupted by user[^\]]*\])`)

// unknownCommand is the answer of Claude Code to a command that it does not know, which
// it writes in the user's name.
var unknownCommand = regexp.MustCompile(`^\s*Unknown (?:skill|slash command|command): \S+(?: Did you mean \S+)?\s*$`)

// isCommand reports whether a text is a command that a person gave and no prompt.
func isCommand(s string) bool { return strings.HasPrefix(s, "<command-message>") }

// isLocalCommand reports whether a text stands for one of the tool's own commands,
// such as /clear.
func isLocalCommand(s string) bool { return strings.HasPrefix(s, "<command-name>") }

// Why a line became no message. The map's "why" and [Report].Left have these.
const (
	whyBlank     = "blank"
	whyDamaged   = "damaged"
	whyBookkeep  = "not part of the conversation"
	whyUnknown   = "unknown kind"
	whyBranch    = "on another branch"
	whyAgent     = "of a sub-agent"
	whyRepeated  = "repeated"
	whyThinking  = "only thinking"
	whyEmpty     = "nothing to show"
	whyNoCall    = "result without a call"
	whyUnwritten = "not storable"
	whySummary   = "summary of what stands here"
	whyHere      = "exported from here"
	whyCopy      = "in a file that repeats the conversation"
)

// reasons are the reasons by number: reasons[i] has the number -1-i in a list of
// message numbers.
var reasons = []string{
	whyBlank, whyDamaged, whyBookkeep, whyUnknown, whyBranch, whyAgent, whyRepeated, whyThinking, whyEmpty, whyNoCall, whyUnwritten,
	whySummary, whyHere,
}

// number returns the number of a reason.
func number(why string) int32 {
	for i, r := range reasons {
		if r == why {
			return int32(-1 - i)
		}
	}
	return 0
}

// maxName is the limit of the Amplifier tools, in characters.
const maxName = 200

// exportMember is the member of an exported line that tells of the message that it was made
// of: the id of the session and, behind a slash, the number of the message.
const exportMember = "amplifier"

// The files that an import keeps beside a conversation.
const (
	folder       = "import"
	originalFile = "original.jsonl.zst"
	mapFile      = "map.jsonl"
)

// places are the folders in which a session may keep the files of tools, and the members of
// metadata that tell of them: what it was imported from, and what its exports became.
var places = []string{folder, folder + "_claude", folder + "_codex"}
