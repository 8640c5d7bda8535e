package foreign

import "github.com/zeebo/xxh3"

// flags are what a line is.
type flags uint32

const (
	isUser flags = 1 << iota
	isAssistant
	isLink      // another kind of line in the chain
	isQueued    // an attachment that is a prompt, which was typed while the model worked
	isSidechain // of a sub-agent
	isSide      // of a team or written by the tool: the conversation does not end with it
	isPerson    // a person wrote it
	isPrompt    // a person wrote it, and it is no command
	isRepeated  // a later line has its uuid
	hasResults
	hasChild
	isBlank
	isDamaged
	isUnknown
	isNote      // it tells the model or what was used
	isCompacted // the summary of a compaction, which stands behind the last prompts; see expand
	isSummary   // of what a compaction left out
	isCovered   // on a line that became a session
	onLine      // on the line that is being rendered
	isSlash     // a person gave a command of the tool
	isShell     // a person gave a command for the shell
	isProgress  // it tells how the work goes: the line passes it by
	isBoundary  // a compaction: the whole line goes on with the record key - 1, where there is one
	isCopied    // a compaction took it along: what it repeats may stand before
	isPreserved // a compaction kept it word for word
	isGuessed   // the file does not have the parent that it names: its parent is the record before it
	isThought   // a part of an answer that only thinks
	isCall      // a part of an answer that only calls
	isTakenBack // a prompt without an answer, on no line that became a session
	isMistyped  // the tool's answer to a command that it does not know: a fork keeps the id that it had when this was a prompt
)

// record is what stays in memory of a line, or of a part of one: 32 bytes.
type record struct {
	uuid   uint64 // a hash of the uuid, for Codex of the line; 0 where the record is not linked to others
	key    uint64 // hash of the id of the response, or of the text of the prompt; of a compaction 1 more than the record that it hides
	offset int64
	parent int32 // index, -1 where there is none
	flags  flags
}

func (r record) is(f flags) bool { return r.flags&f != 0 }

// talks reports whether a line is a prompt, a result or an answer, and the last
// one with its uuid.
func (r record) talks() bool { return r.is(isUser|isAssistant|isQueued) && !r.is(isRepeated) }

// scope is how far back a conversation goes.
type scope uint8

const (
	// wholeLine goes on before each compaction with what it hid, as far as the file
	// has that: what a person sees who scrolls up.
	wholeLine scope = iota

	// activeLine begins with the last compaction: what the tool would resume.
	activeLine
)

// scopeNames are the names in the map of an import.
var scopeNames = [...]string{wholeLine: "whole", activeLine: "active"}

// hash returns a hash that is never 0 for a text that is not empty.
func hash(s string) uint64 {
	if s == "" {
		return 0
	}
	return max(1, xxh3.HashString(s))
}

// mark is what an exported line tells of its message.
type mark struct{ at, message int32 }
