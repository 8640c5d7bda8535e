package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice/accept"
)

// providers are whom a conversation may be resumed with, and what "repair --for" calls
// them.
var providers = []struct {
	name, flag string
	p          accept.Provider
}{
	{"Anthropic", "anthropic", accept.Anthropic},
	{"OpenAI chat", "openai", accept.OpenAIChat},
	{"OpenAI responses", "openai", accept.OpenAIResponses},
	{"Gemini", "gemini", accept.Gemini},
}

// judgement is what providers say of a conversation, as far as that is judged.
type judgement struct {
	refused [][]string // by provider: why it would not take the conversation
	open    []string   // what is not judged
}

func judge(rows []sessionstore.Message) judgement {
	j := judgement{open: []string{}}
	for _, p := range providers {
		reasons := []string{}
		for _, r := range accept.Check(p.p, rows) {
			reasons = append(reasons, r.String())
		}
		j.refused = append(j.refused, reasons)
	}
	prompt, err := sessionstore.Text("user", "?", time.Time{})
	if err == nil && len(accept.Check(providers[0].p, append(slices.Clip(rows), prompt))) > len(j.refused[0]) {
		j.open = append(j.open, "a further prompt: the last one has no answer")
	}
	if slices.ContainsFunc(rows, func(m sessionstore.Message) bool { raw, _ := m.Lookup("content"); return hasFiles(raw) }) {
		j.open = append(j.open, "the sizes of images and files")
	}
	return j
}

// hasFiles reports whether content has a block that is an image or the like, or a result
// that has one.
func hasFiles(content []byte) bool {
	var blocks []struct {
		Type    string
		Content json.RawMessage
	}
	_ = json.Unmarshal(content, &blocks) // what can be read is enough
	for _, b := range blocks {
		for _, kind := range []string{"image", "file", "document", "audio", "video", "media"} {
			if strings.Contains(b.Type, kind) || hasFiles(b.Content) {
				return true
			}
		}
	}
	return false
}

// refusals are the reasons of each provider, as JSON.
func (j judgement) refusals() []byte {
	all := object{}
	for i, p := range providers {
		if raw, err := encoded(j.refused[i]); err == nil {
			all = append(all, member{strings.ReplaceAll(strings.ToLower(p.name), " ", "_"), raw})
		}
	}
	return all.raw()
}

// accepted returns the names of the providers that would take the conversation, and, unless
// all do, the commands that say why not and that mend it.
func (a *app) accepted(t target, j judgement) string {
	var yes, no []string
	for i, p := range providers {
		if len(j.refused[i]) == 0 {
			yes = append(yes, p.name)
		} else {
			no = append(no, p.flag)
		}
	}
	if len(no) == 0 {
		return "all models"
	}
	form := ""
	if !a.Terminal() { // where diagnose answers as the reference does
		form = " --json=v1"
	}
	return fmt.Sprintf(`%s: "sessions diagnose %s%s" tells what is refused, "sessions repair %s --for %s" mends it`,
		cmp.Or(strings.Join(yes, ", "), "none"), t.id, form, t.id, no[0])
}

// showRefused shows what providers refuse, once for those that refuse the same.
func (a *app) showRefused(t target, j judgement) {
	const most = 5
	for i, reasons := range j.refused {
		same := func(other []string) bool { return slices.Equal(other, reasons) }
		if len(reasons) == 0 || slices.ContainsFunc(j.refused[:i], same) {
			continue
		}
		var names, flags []string
		for k, p := range providers {
			if same(j.refused[k]) {
				names, flags = append(names, p.name), append(flags, p.flag)
			}
		}
		a.Printf("\n%s %s:\n", a.Paint(screen.Yellow, "Refused by"), strings.Join(names, ", "))
		for _, reason := range reasons[:min(most, len(reasons))] {
			a.Printf("  %s\n", screen.Plain(reason))
		}
		if more := len(reasons) - most; more > 0 {
			a.Printf("  and %s; --json=v1 shows all\n", count(more, "more"))
		}
		for _, flag := range slices.Compact(flags) {
			a.Printf("%s mends it\n", a.Paint(screen.Cyan, "sessions repair "+screen.Plain(t.id)+" --for "+flag))
		}
	}
}
