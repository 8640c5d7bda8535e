package web

import (
	"cmp"
	"context"
	"iter"
	"net/http"
	"regexp"
	"slices"

	"github.com/amplifier-go/sessionstorage/examples/viewer/excerpt"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice/conversation"
)

// find answers with the messages of a session that hold a text, also in their folds.
func (s *Server) find(w http.ResponseWriter, r *request) error {
	pattern, err := textPattern(r.URL.Query().Get("q"))
	if err != nil {
		return err
	}
	shot, err := r.shot()
	if err != nil {
		return err
	}
	out := struct {
		Tag  string         `json:"tag"`
		Hits []foundMessage `json:"hits"`
		More bool           `json:"more,omitempty"`
	}{Tag: shot.tag}
	if shot.view == nil { // all of it is read
		if err := s.searching(r.Context()); err != nil {
			return err
		}
		defer func() { <-s.searches }()
	}
	f := newFinder(pattern)
	for m, err := range shot.messages(r.Context(), r.at.store, r.id) {
		if err != nil {
			return err
		}
		if err := f.take(m); err != nil {
			return err
		}
		if f.more {
			break
		}
	}
	out.Hits, out.More = f.all(), f.more
	return answer(w, out)
}

// messages yields the messages: those in memory, or one at a time from disk.
func (s *snapshot) messages(ctx context.Context, st *sessionstore.Store, id string) iter.Seq2[sessionstore.Message, error] {
	if s.view == nil {
		return st.Messages(ctx, id)
	}
	return func(yield func(sessionstore.Message, error) bool) {
		for _, m := range s.msgs {
			if !yield(m, nil) {
				return
			}
		}
	}
}

// foundMessage is a message of the page that holds the text.
type foundMessage struct {
	hit
	Folds []int `json:"folds,omitempty"` // numbers of its folds that hold the text, from 0
}

// finder finds a text in the messages of a session. It takes them one after the
// other, and keeps the ids of calls that have no result yet.
type finder struct {
	pattern *regexp.Regexp
	n       int                   // index of the next message
	waiting map[string][2]int     // by id of a call: its message and its fold
	found   map[int]*foundMessage // by index of the message
	more    bool                  // there are more than maxHits
}

func newFinder(pattern *regexp.Regexp) *finder {
	return &finder{pattern: pattern, waiting: map[string][2]int{}, found: map[int]*foundMessage{}}
}

// take looks into a message. A result of a tool is found with the call that it
// answers.
func (f *finder) take(m sessionstore.Message) error {
	n := f.n
	f.n++
	if h, ok := hitIn(m, n, f.pattern); ok {
		f.note(h, -1)
	}
	view, err := conversation.New([]sessionstore.Message{m})
	if err != nil {
		return err
	}
	shown := view.Messages(0, 1, conversation.Limits{})[0]
	for i, c := range shown.Calls {
		if c.ID != "" {
			f.waiting[c.ID] = [2]int{n, i}
		}
		f.look(n, i, m.Role(), c.Name, c.Arguments.Text, firstArgument(c.Arguments.Text))
	}
	alone := len(shown.Calls) // number of the next result without a call
	for _, r := range shown.Results {
		at, called := f.waiting[r.ID]
		if !called {
			at = [2]int{n, alone}
			alone++
		}
		delete(f.waiting, r.ID)
		f.look(at[0], at[1], "tool", r.Text.Text)
	}
	return nil
}

// look looks into the texts of a fold of message n.
func (f *finder) look(n, fold int, role string, texts ...string) {
	for _, text := range texts {
		if at := f.pattern.FindStringIndex(text); at != nil {
			h := hit{N: n, Role: role}
			h.Before, h.Text, h.After = excerpt.Of(text, at[0], at[1], around)
			f.note(h, fold)
			return
		}
	}
}

// note records a match in a fold, or with -1 in the text of a message.
func (f *finder) note(h hit, fold int) {
	if f.found[h.N] == nil {
		if f.more = len(f.found) == maxHits; f.more {
			return
		}
		f.found[h.N] = &foundMessage{hit: h}
	}
	if at := f.found[h.N]; fold >= 0 && !slices.Contains(at.Folds, fold) {
		at.Folds = append(at.Folds, fold)
	}
}

// all returns the messages that hold the text, in their order.
func (f *finder) all() []foundMessage {
	all := make([]foundMessage, 0, len(f.found))
	for _, h := range f.found {
		all = append(all, *h)
	}
	slices.SortFunc(all, func(a, b foundMessage) int { return cmp.Compare(a.N, b.N) })
	return all
}
