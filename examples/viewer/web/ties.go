package web

import (
	"cmp"
	"context"
	"fmt"
	"net/http"

	"github.com/amplifier-go/sessionstorage/eventslog"
	"github.com/amplifier-go/sessionstorage/examples/viewer/eventview"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice"
	"github.com/amplifier-go/sessionstorage/slice/conversation"
)

// maxTied is the most bytes of a log or of a transcript whose events are tied to messages:
// both are read whole, and the transcript is in memory.
const maxTied = 256 << 20

// ties are the messages to which the events of a log belong.
type ties struct {
	newer bool
	size  int64  // of the log
	tag   string // of the transcript

	message map[int]int              // index of the message, by line of the event from 1
	lines   map[int]*eventview.Lines // of the events, by index of the message
}

// ties returns the ties of a log, read anew when the log or the transcript changed.
func (r *request) ties(newer bool) (*ties, error) {
	shot, err := r.read().snapshot(r.Context())
	if err != nil {
		return nil, err
	}
	i := 0
	if newer {
		i = 1
	}
	return r.read().tied(r.Context(), shot, newer, r.read().logs()[i])
}

// tied returns the ties of a log of that size to the messages of a snapshot.
func (r *readings) tied(ctx context.Context, shot *snapshot, newer bool, size int64) (*ties, error) {
	r.mu.Lock()
	t := r.ties
	r.mu.Unlock()
	if t != nil && t.newer == newer && t.size == size && t.tag == shot.tag {
		return t, nil
	}
	if main := shot.stamps[0]; size > maxTied || main != nil && main.Size() > maxTied {
		return nil, &failure{http.StatusUnprocessableEntity, "too_large", fmt.Sprintf("events of more than %d MB are not tied to messages", maxTied>>20)}
	}
	var msgs []sessionstore.Message
	for m, err := range shot.messages(ctx, r.store, r.id) {
		if err != nil {
			return nil, err
		}
		msgs = append(msgs, m)
	}
	log, err := r.log(newer)
	if err != nil {
		return nil, err
	}
	refs, _, err := log.Refs(ctx)
	if err != nil {
		return nil, err
	}
	if t, err = newTies(msgs, refs); err != nil {
		return nil, err
	}
	t.newer, t.size, t.tag = newer, size, shot.tag
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ties = t
	return t, nil
}

// newTies ties events to the messages that show them: an event of a result to the message
// with the call.
func newTies(msgs []sessionstore.Message, refs []eventslog.Ref) (*ties, error) {
	view, err := conversation.New(msgs)
	if err != nil {
		return nil, err
	}
	at := map[int]int{} // the message that shows the result in a message
	for _, m := range view.Messages(0, view.Len(), conversation.Limits{Text: 1, Tool: 1}) {
		for _, c := range m.Calls {
			if c.Result != nil && msgs[c.Result.N].Role() == "tool" {
				at[c.Result.N] = m.N
			}
		}
	}
	t := &ties{message: map[int]int{}, lines: map[int]*eventview.Lines{}}
	for i, tie := range slice.Associate(msgs, refs) {
		if tie.Method == slice.Unassociated {
			continue
		}
		n, ok := at[tie.Message]
		if !ok {
			n = tie.Message
		}
		t.message[refs[i].Line] = n
		if t.lines[n] == nil {
			t.lines[n] = &eventview.Lines{}
		}
		(*t.lines[n])[refs[i].Line] = true
	}
	return t, nil
}

// eventMessage answers with the message to which the event of a line belongs.
func (s *Server) eventMessage(w http.ResponseWriter, r *request) error {
	newer, err := r.newer()
	if err != nil {
		return err
	}
	line, err := r.number("line", 0)
	if err != nil {
		return err
	}
	t, err := r.ties(newer)
	if err != nil {
		return err
	}
	var out struct {
		Message *int `json:"message"` // its index; null: the event belongs to none
	}
	if n, ok := t.message[line]; ok {
		out.Message = &n
	}
	return answer(w, out)
}

// noLines are the lines of a message without events.
var noLines = &eventview.Lines{}

// linesOf returns the lines of the events that belong to the message of the query, and nil
// when it names none.
func (r *request) linesOf(newer bool) (*eventview.Lines, error) {
	if r.URL.Query().Get("message") == "" {
		return nil, nil
	}
	n, err := r.number("message", 0)
	if err != nil {
		return nil, err
	}
	t, err := r.ties(newer)
	if err != nil {
		return nil, err
	}
	return cmp.Or(t.lines[n], noLines), nil
}
