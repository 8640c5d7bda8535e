package sessionstore

import (
	"strings"
	"time"
	"unicode"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/store/index"
)

// Summary is the line of a session in a list. The counts are from the transcript, chosen
// and recovered as by [Store.Load]; the rest is from metadata, where a member that is
// missing or of another type counts as unknown.
type Summary struct {
	ID          string
	Title       string // the session's name, else the first line of FirstPrompt; at most 120 characters, without control and bidirectional ones
	FirstPrompt string // the first text that a person wrote, at most 500 characters, without control and bidirectional ones except line breaks and tabs
	Turns       int    // as package slice counts them: user messages without results of tools
	Prompts     int    // prompts of a person, without the texts that hosts insert in the user's name; lists show these
	Messages    int
	Bytes       int64     // size of the file that the messages were read from
	Created     time.Time // in UTC; zero if unknown
	Changed     time.Time // Modified of [Info]; of a session that was imported from another tool the time of its last line, until it goes on here
	Model       string    // "" if unknown
	Bundle      string    // without its prefix "bundle:"; "" if unknown
	WorkingDir  string    // "" if unknown
	Parent      string    // id of the session from which this one was made; "" if unknown
	Fork        bool      // it was forked from Parent and is independent of it
	ConflictOf  string    // its Parent, when both went on on two devices and package hybrid keeps the messages of one of them in this session; else ""
	Sub         bool      // an agent of Parent ran it
	Internal    bool      // its label hides it in lists for people
	Damaged     bool      // the transcript is damaged, even if its backup was read
	Unanswered  int       // ids of tool calls that no later message answers
}

// summaryOf returns the summary in the entry of a session that changed at a time.
func summaryOf(e *index.Entry, changed time.Time) Summary {
	f, a := &e.Facts, &e.About
	s := Summary{
		ID: e.ID, Title: titleOf(a.Name, e.Prompt), FirstPrompt: e.Prompt,
		Turns: f.Turns, Prompts: f.Prompts, Messages: f.Messages, Unanswered: f.Unanswered, Bytes: f.Size,
		Created: a.Created, Changed: changed, Model: a.Model, Bundle: a.Bundle, WorkingDir: a.WorkingDir, Parent: a.Parent,
		Fork: a.Fork, Sub: a.Sub, Internal: a.Internal,
	}
	if a.Conflict {
		s.ConflictOf = a.Parent
	}
	if at := e.Transcript.Stamp.Mtime; a.Imported && !at.IsZero() && at.Before(changed) {
		s.Changed = at
	}
	return s
}

// aboutOf returns the facts about session id in the metadata. [KindOf] has the rules for
// its kind.
func aboutOf(id string, md Metadata) index.About {
	bundle, _ := md.Bundle()
	r := relationOf(md)
	a := index.About{
		Name: md.Text("name"), Model: known(md.Text("model")), Bundle: bundle, WorkingDir: known(md.Text("working_dir")), Parent: r.parent,
		Fork: r.fork, Internal: r.kind == Internal, Sub: r.kind == Worker || !r.decided && !IsTopLevel(id),
		Conflict: r.fork && r.parent != "" && r.parent == md.Text("conflict_of"), // a fork of such a session has another parent
	}
	if raw, ok := md.Lookup("import"); ok { // as package foreign notes it
		a.Imported = pyjson.KindOf(raw) == pyjson.Object
	}
	if at, ok := parseTime(md.Text("created")); ok {
		a.Created = at.UTC()
	}
	return a
}

// known returns text, or "" for "unknown".
func known(text string) string {
	if text == "unknown" {
		return ""
	}
	return text
}

// How many characters of a title and of a first prompt a [Summary] has.
const (
	titleLimit  = 120
	promptLimit = 500
)

// promptText returns the text of a message as a [Summary] shows it.
func promptText(m Message) string {
	return strings.TrimSpace(shorten(m.Content(), promptLimit, func(r rune) bool { return r == '\n' || r == '\t' }))
}

// titleOf returns the title of a session with that name and first prompt.
func titleOf(name, prompt string) string {
	for _, text := range [...]string{name, prompt} {
		for line := range strings.Lines(text) {
			line = strings.ReplaceAll(line, "\t", " ")
			if line = strings.TrimSpace(shorten(line, titleLimit, func(rune) bool { return false })); line != "" {
				return line
			}
		}
	}
	return ""
}

// shorten returns the first n characters of text, without space before them, and without
// control and bidirectional characters except those that keep accepts. Bytes that are no
// UTF-8 become U+FFFD.
func shorten(text string, n int, keep func(rune) bool) string {
	text = strings.TrimLeftFunc(text, isSpace)
	if plain := text[:min(len(text), n)]; isPlain(plain) {
		return strings.Clone(plain)
	}
	var b strings.Builder
	b.Grow(min(len(text), n))
	for _, r := range text {
		if hidden(r) && !keep(r) {
			continue
		}
		if n--; n < 0 {
			break
		}
		b.WriteRune(r)
	}
	return b.String()
}

// isPlain reports whether a text has only printing characters of ASCII.
func isPlain(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] >= unicode.MaxASCII {
			return false
		}
	}
	return true
}

// hidden reports whether r is a control or bidirectional character, or breaks
// lines.
func hidden(r rune) bool {
	if r < unicode.MaxASCII {
		return r < ' '
	}
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029'
}
