package accept

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Provider is an API that a conversation can be sent to.
type Provider int

// The providers.
const (
	Anthropic       Provider = iota // the Messages API
	OpenAIChat                      // the Chat Completions API and APIs like it
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

// rules are the demands of a provider on a conversation.
type rules struct {
	provider    Provider
	blank       func(text string) bool // such a text is as good as none
	allowsEmpty bool                   // an assistant message may be empty
	idLimit     int                    // characters of a call's id; 0: any number
	plainIDs    bool                   // ids have letters, digits, _ and - only
	nameLimit   int                    // characters of a tool's name
	nameMarks   string                 // the characters of a name besides letters and digits
	nameLetter  bool                   // a name begins with a letter or _
	objects     bool                   // arguments are a JSON object
	unique      uniqueness             // where no two calls may have one id
	adjacent    bool                   // results are right behind the message with their calls, not only before the user's next text
	alternate   bool                   // the user begins, and the user's and the model's messages alternate
	limits      Pictures
}

// uniqueness is a part of a conversation.
type uniqueness int

const (
	notUnique uniqueness = iota
	uniqueInMessage
	uniqueEverywhere
)

// rulesOf returns the rules of a provider, and false for no provider.
func rulesOf(p Provider) (r rules, ok bool) {
	r = rules{provider: p, blank: func(string) bool { return false }, nameLimit: 64, nameMarks: "_-"}
	switch p {
	case Anthropic:
		r.blank = func(text string) bool { return strings.TrimSpace(text) == "" }
		r.plainIDs, r.nameLimit, r.objects = true, 128, true
		r.unique, r.adjacent, r.alternate = uniqueEverywhere, true, true
	case OpenAIChat:
		r.idLimit, r.unique, r.adjacent = 64, uniqueInMessage, true
	case OpenAIResponses:
		r.idLimit, r.nameLimit, r.unique, r.allowsEmpty = 64, 128, uniqueEverywhere, true
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
	return !r.plainIDs || hasOnly(id, "_-")
}

// goodName reports whether a tool may be called so.
func (r rules) goodName(name string) bool {
	return name != "" && len(name) <= r.nameLimit && hasOnly(name, r.nameMarks) &&
		(!r.nameLetter || isLetter(rune(name[0])) || name[0] == '_')
}

// anyName replaces a name that is missing.
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

// hasOnly reports whether a text has letters, digits and marks only.
func hasOnly(text, marks string) bool {
	for _, c := range text {
		if !isPlain(c, marks) {
			return false
		}
	}
	return true
}

// Reason is why a provider would refuse a conversation. Its text is stable.
type Reason string

// The reasons. [Check] says which provider refuses which messages.
const (
	UnknownRole     Reason = "unknown_role"        // the role is none of user, assistant, tool
	BadContent      Reason = "bad_content"         // content is neither text nor blocks, or has half a surrogate pair
	BadBlock        Reason = "bad_block"           // a block is no object with a type that a provider takes, has no text, or half a surrogate pair
	ForeignBlock    Reason = "block_of_other_role" // a call by the user, a result by the assistant, …
	EmptyContent    Reason = "empty_content"       // there is nothing to send
	BlankText       Reason = "blank_text"          // a text among other things is empty
	ResultNotFirst  Reason = "result_not_first"    // in its message something comes before a result
	RolesInARow     Reason = "roles_in_a_row"      // two messages of one side follow each other
	FirstNotUser    Reason = "first_not_user"      // the first message is not the user's
	UnknownProvider Reason = "unknown_provider"    // there is no such [Provider]

	BadImage         Reason = "bad_image"         // the data of an image are missing, not base64, cut, or not an image
	ImageType        Reason = "image_type"        // the media type of an image is not that of its data
	UntakenImage     Reason = "image_not_taken"   // the provider takes no images of that type, or none that move
	WideImage        Reason = "wide_image"        // an image is wider or higher than the provider takes, alone or among many
	LargeImage       Reason = "large_image"       // an image has more bytes than the provider takes
	ManyImages       Reason = "too_many_images"   // the conversation has more images, or files, than the provider takes
	LargeRequest     Reason = "large_request"     // the conversation has more bytes than the provider takes
	LongConversation Reason = "long_conversation" // its text is likely to be longer than the model takes

	BadCall         Reason = "bad_call"          // an entry of tool_calls is no object
	BadToolName     Reason = "bad_tool_name"     // empty, too long, or with other characters
	BadArguments    Reason = "bad_arguments"     // not a JSON object, or with half a surrogate pair
	CallWithoutID   Reason = "call_without_id"   // it has none, or an empty one
	BadCallID       Reason = "bad_call_id"       // too long, or with other characters
	DuplicateCallID Reason = "duplicate_call_id" // an earlier call has it; Other is its message, if another
	CallNoResult    Reason = "call_without_result"
	ResultNoCall    Reason = "result_without_call"
	DuplicateResult Reason = "duplicate_result"    // the call has a result already
	ResultEarly     Reason = "result_before_call"  // Other is the message with the call
	ResultLate      Reason = "result_out_of_place" // something comes between; Other is the message with the call

	UnsignedThinking Reason = "unsigned_thinking"          // the signature, or the encrypted reasoning, is missing, null or empty
	ForeignThinking  Reason = "foreign_thinking"           // another provider's reasoning
	BrokenThinking   Reason = "broken_thinking"            // without its text or data
	ThinkingNotFirst Reason = "thinking_not_first"         // an answer with thinking begins with something else
	ThinkingLast     Reason = "thinking_last"              // an answer ends with thinking
	DuplicateReason  Reason = "duplicate_reasoning"        // earlier reasoning has that id
	ReasoningAlone   Reason = "reasoning_without_follower" // no text and no call follow it in its message
)

// Refusal is one reason why a provider would refuse a conversation.
type Refusal struct {
	Reason Reason
	Row    int    // index of the message, -1 if there is none, or it is the conversation as a whole
	Other  int    // index of a second message that takes part, or -1
	CallID string // id of the call, "" if there is none

	// Disputed reports that some sources say that the provider takes it, or that it cannot be
	// told for certain. [Check] leaves such refusals out.
	Disputed bool
}

// String returns the place, the fault and its remedy, without content of the message.
// Messages are numbered from 1, as the lines of a transcript are.
func (r Refusal) String() string {
	text := advice[r.Reason]
	if r.CallID != "" {
		text = fmt.Sprintf("call %q: %s", r.CallID, text)
	}
	if r.Row < 0 {
		return text
	}
	if r.Other >= 0 {
		return fmt.Sprintf("message %d (see message %d): %s", r.Row+1, r.Other+1, text)
	}
	return fmt.Sprintf("message %d: %s", r.Row+1, text)
}

// advice has the fault and its remedy for each reason.
var advice = map[Reason]string{
	UnknownRole:      "the role is unknown; make it user, assistant or tool",
	BadContent:       "the content is neither text nor blocks, or has half a character; make it one of them, without that",
	BadBlock:         "a block is broken, of a type that no provider takes, or has half a character; take that out",
	ForeignBlock:     "a block belongs to another role; take it out",
	EmptyContent:     "the message is empty; fill it or take it out",
	BlankText:        "a text is blank; take it out",
	ResultNotFirst:   "something stands before a result; put results first",
	RolesInARow:      "it follows a message of the same side; put a message of the other side between",
	FirstNotUser:     "the conversation does not begin with the user; put a user message before it",
	UnknownProvider:  "the provider is unknown; name another",
	BadImage:         "an image is damaged; take it out",
	ImageType:        "an image has another media type; name that",
	UntakenImage:     "an image is of a type that is not taken; take it out, or change its type",
	WideImage:        "an image is too wide or too high; take it out, or put a smaller one in its place",
	LargeImage:       "an image is too large; take it out, or put a smaller one in its place",
	ManyImages:       "there are too many images; take the oldest out",
	LargeRequest:     "the conversation is too large; take the oldest images out",
	LongConversation: "the conversation is likely to be too long; compact it",

	BadCall:         "a call is broken; take it out",
	BadToolName:     "the name of a tool is not allowed; change it",
	BadArguments:    "the arguments are not a JSON object, or have half a character; put them into one, without that",
	CallWithoutID:   "a call has no id; give it and its result one",
	BadCallID:       "the id is not allowed; change it here and in the result",
	DuplicateCallID: "another call has that id; change it here and in the result",
	CallNoResult:    "it has no result; add one that says so",
	ResultNoCall:    "a result belongs to no call; take it out",
	DuplicateResult: "it has a result already; take this one out",
	ResultEarly:     "the result stands before the call; move it behind",
	ResultLate:      "the result does not follow its call at once; move it there",

	UnsignedThinking: "thinking is not signed; take it out",
	ForeignThinking:  "thinking is another provider's; take it out",
	BrokenThinking:   "thinking is broken; take it out",
	ThinkingNotFirst: "thinking does not come first; take it out",
	ThinkingLast:     "nothing follows the thinking; add a text",
	DuplicateReason:  "reasoning is there twice; take this one out",
	ReasoningAlone:   "nothing follows the reasoning; take it out",
}
