package foreign

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/amplifier-go/sessionstorage/internal/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/pytime"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// member is the member of metadata that tells what was imported.
const member = folder

// state tells what a session was imported from, and what the import left there.
type state struct {
	Tool       string            `json:"tool"`
	ID         string            `json:"id"`
	SHA256     string            `json:"sha256"`            // of the tool's file
	Transcript string            `json:"transcript"`        // the transcript that the last import left
	Pending    string            `json:"pending,omitempty"` // the one that an import is about to write
	Turns      int               `json:"turns"`             // of it
	Rules      int               `json:"rules,omitempty"`   // see rules
	Here       int               `json:"here,omitempty"`    // messages that were said here, and exported
	Usage      map[string]*usage `json:"usage,omitempty"`   // by model, of the conversation

	// ContinuedIn has the ids of the sessions in which the tool went on, as copies of this one.
	ContinuedIn []string `json:"continued_in,omitempty"`

	// Spent is by model what the whole file tells, each response once over the sessions
	// that the file makes. The map tells it by response.
	Spent map[string]*spending `json:"spent,omitempty"`
}

// rules is the version of the rules by which records become messages. What an import by
// older ones made is made anew once.
const rules = 2

// revisionText returns a revision as it stands in a state.
func revisionText(r sessionstore.Revision) string {
	return fmt.Sprintf("%d %d %x", r.Messages, r.Bytes, r.Sum)
}

// stateOf returns the state of the import that made a session, and the zero state where
// none did.
func stateOf(md sessionstore.Metadata) state { return stateIn(md, folder) }

// stateIn returns the state in a member of metadata, which has the name of the folder.
func stateIn(md sessionstore.Metadata, place string) (s state) {
	raw, ok := md.Lookup(place)
	if !ok || pyjson.KindOf(raw) != pyjson.Object {
		return s
	}
	if json.Unmarshal(raw, &s) != nil {
		return state{}
	}
	return s
}

// describe sets what a rendering tells in metadata, which are those of a new
// session where they have no session_id.
func (tg target) describe(md *sessionstore.Metadata, r *rendering, s state) error {
	t := r.t
	var members []assignment
	if md.Text("session_id") == "" {
		created := pytime.Format(r.start())
		members = append(members, assignment{"session_id", tg.id})
		if tg.parent != "" {
			members = append(members, assignment{"parent_id", tg.parent})
		}
		if tg.parent != "" && tg.kind != Agent {
			members = append(members, assignment{"forked_from_turn", tg.turn}, assignment{"forked_at", created})
		}
		members = append(members, assignment{"created", created}, assignment{"bundle", "unknown"})
		if t.cwd != "" {
			members = append(members, assignment{"working_dir", t.cwd})
		}
	}
	if err := errors.Join(assign(md, members...), tg.nameIn(md, r)); err != nil {
		return err
	}
	members = nil
	if tg.place() == folder { // else a host of this store runs it with a model of its own
		members = []assignment{{"model", cmp.Or(r.model, "unknown")}}
	}
	return assign(md, append(members, assignment{"turn_count", r.turns}, assignment{tg.place(), s})...)
}

// assign sets members of metadata.
func assign(md *sessionstore.Metadata, members ...assignment) error {
	for _, a := range members {
		if err := md.Set(a.name, a.value); err != nil {
			return fmt.Errorf("set %s: %w", a.name, err)
		}
	}
	return nil
}

type assignment struct {
	name  string
	value any
}

// name returns the name of a session: the tool's title, with what the session is.
// Where the tool gave none, its first prompt of its own tells a branch from others, and
// names a conversation that lists would call by what no person typed.
func (tg target) name(r *rendering) string {
	title, note := givenTitle(r.t.title), ""
	switch tg.kind {
	case Branch:
		note = " (another branch)"
	case Diverged:
		note = " (went on in the other tool)"
	}
	own := firstOf(r.own, r.command)
	switch {
	case tg.kind == Agent:
		title = firstOf(givenTitle(tg.task), tg.agent)
	case title == "" && note != "":
		title = cmp.Or(own, "Imported")
	case title == "" && own != r.first:
		title = own
	}
	title = strings.TrimSpace(strings.Map(func(c rune) rune {
		if unicode.IsControl(c) {
			return ' '
		}
		return c
	}, title))
	for utf8.RuneCountInString(title+note) > maxName {
		_, n := utf8.DecodeLastRuneInString(title)
		title = title[:len(title)-n]
	}
	return title + note
}

// nameIn gives a session that has none its name. What older rules called a session that
// is no conversation gets its name anew.
func (tg target) nameIn(md *sessionstore.Metadata, r *rendering) error {
	name, from := tg.name(r), "generated"
	older := tg.kind != Conversation && stateIn(*md, tg.place()).Rules != rules && md.Text("name_source") == from
	if name == "" || md.Text("name") != "" && !older {
		return nil
	}
	if r.t.byPerson {
		from = "manual"
	}
	return assign(md, assignment{"name", name}, assignment{"name_source", from})
}
