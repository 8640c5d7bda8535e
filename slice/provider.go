package slice

import (
	"strings"
	"unicode/utf8"
)

// Provider is an API that a conversation can be sent to.
type Provider int

// The providers.
const (
	Anthropic       Provider = iota // the Messages API
	OpenAIChat                      // the Chat Completions API and what imitates it
	OpenAIResponses                 // the Responses API, stateless: reasoning goes along encrypted
	Gemini                          // the Gemini API
)

// String returns the name of the constant.
func (p Provider) String() string {
	names := [...]string{"Anthropic", "OpenAIChat", "OpenAIResponses", "Gemini"}
	if p < 0 || int(p) >= len(names) {
		return "unknown provider"
	}
	return names[p]
}

// rules is what a provider wants of a conversation.
type rules struct {
	provider   Provider
	blank      func(text string) bool // such a text is as good as none
	mute       bool                   // an assistant message may be empty
	idLimit    int                    // characters of a call's id; 0: any number
	plainIDs   bool                   // ids have letters, digits, _ and - only
	nameLimit  int                    // characters of a tool's name
	nameMarks  string                 // what a name may have besides letters and digits
	nameLetter bool                   // a name begins with a letter or _
	objects    bool                   // arguments are a JSON object
	unique     scope                  // where no two calls may have one id
	adjacent   bool                   // results stand right behind the message with their calls, not only before the user's next text
	alternate  bool                   // the user begins, and the user's and the model's messages alternate
}

// scope is a part of a conversation.
type scope int

const (
	nowhere scope = iota
	inMessage
	everywhere
)

// rulesOf returns what a provider wants, and false for no provider.
func rulesOf(p Provider) (r rules, ok bool) {
	r = rules{provider: p, blank: func(string) bool { return false }, nameLimit: 64, nameMarks: "_-"}
	switch p {
	case Anthropic:
		r.blank = func(text string) bool { return strings.TrimSpace(text) == "" }
		r.plainIDs, r.nameLimit, r.objects = true, 128, true
		r.unique, r.adjacent, r.alternate = everywhere, true, true
	case OpenAIChat:
		r.idLimit, r.unique, r.adjacent = 64, inMessage, true
	case OpenAIResponses:
		r.idLimit, r.unique, r.mute = 64, everywhere, true
	case Gemini:
		r.blank = func(text string) bool { return text == "" }
		r.nameMarks, r.nameLetter = "_-.:", true
		r.objects, r.adjacent, r.alternate = true, true, true
	default:
		return rules{}, false
	}
	return r, true
}

// goodID reports whether a call may have that id.
func (r rules) goodID(id string) bool {
	if !utf8.ValidString(id) || r.idLimit > 0 && utf8.RuneCountInString(id) > r.idLimit {
		return false
	}
	return !r.plainIDs || only(id, "_-")
}

// goodName reports whether a tool may be called so.
func (r rules) goodName(name string) bool {
	return name != "" && len(name) <= r.nameLimit && only(name, r.nameMarks) &&
		(!r.nameLetter || isLetter(rune(name[0])) || name[0] == '_')
}

// anyName stands for a name that is missing.
const anyName = "unknown_tool"

// mendName returns the name that a tool may be called by which is most like name.
func (r rules) mendName(name string) string {
	good := strings.Map(func(c rune) rune {
		if isPlain(c, r.nameMarks) {
			return c
		}
		return '_'
	}, name)
	if good == "" {
		return anyName
	}
	if r.nameLetter && !isLetter(rune(good[0])) {
		good = "_" + good
	}
	return good[:min(len(good), r.nameLimit)]
}

func isLetter(c rune) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

func isPlain(c rune, marks string) bool {
	return isLetter(c) || '0' <= c && c <= '9' || strings.ContainsRune(marks, c)
}

// only reports whether a text has letters, digits and marks only.
func only(text, marks string) bool {
	for _, c := range text {
		if !isPlain(c, marks) {
			return false
		}
	}
	return true
}
