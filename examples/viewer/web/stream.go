package web

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/amplifier-go/sessionstorage/eventslog"
	"github.com/amplifier-go/sessionstorage/examples/viewer/eventview"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// sender writes a stream of server-sent events.
type sender struct {
	w    http.ResponseWriter
	ctl  *http.ResponseController
	last time.Time // of the last write
}

// The limit of a write, and the intervals of a silent stream.
const (
	writeLimit = 20 * time.Second
	heartbeat  = 15 * time.Second
	lookAgain  = time.Second // at the log that no watcher sees
)

// streamTo begins a stream, or returns errBusy when there are too many. The caller calls
// end.
func (s *Server) streamTo(w http.ResponseWriter) (out *sender, end func(), err error) {
	select {
	case s.streams <- struct{}{}:
	default:
		return nil, nil, errBusy
	}
	w.Header().Set("Content-Type", "text/event-stream")
	return &sender{w: w, ctl: http.NewResponseController(w)}, func() { <-s.streams }, nil
}

// send writes an event. JSON has no line breaks.
func (o *sender) send(event, id string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if id != "" {
		id = "id: " + id + "\n"
	}
	return o.write(fmt.Sprintf("event: %s\n%sdata: %s\n\n", event, id, showBidi.Replace(string(data))))
}

func (o *sender) write(text string) error {
	o.last = time.Now()
	if err := o.ctl.SetWriteDeadline(o.last.Add(writeLimit)); err != nil {
		return err
	}
	if _, err := o.w.Write([]byte(text)); err != nil {
		return err
	}
	return o.ctl.Flush()
}

// beat keeps a silent stream alive, and returns an error when its reader is gone.
func (o *sender) beat() error {
	if time.Since(o.last) < heartbeat {
		return nil
	}
	return o.write(": beat\n\n")
}

// run calls the function whenever something changed, and after each interval.
func (o *sender) run(ctx context.Context, sub *subscription, interval time.Duration, tell func(names map[string]bool, all bool) error) error {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-sub.wake:
		case <-tick.C:
			if err := o.beat(); err != nil {
				return err
			}
		}
		names, all := sub.take()
		if err := tell(names, all); err != nil {
			return err
		}
	}
}

// listStream sends an event whenever sessions of a project changed.
func (s *Server) listStream(w http.ResponseWriter, r *request) error {
	sub, err := r.at.hub.subscribe(r.Context(), "")
	if err != nil {
		return err
	}
	defer r.at.hub.unsubscribe(sub)
	out, end, err := s.streamTo(w)
	if err != nil {
		return err
	}
	defer end()
	if err := out.send("ready", "", struct{}{}); err != nil {
		return nil // the reader is gone
	}
	_ = out.run(r.Context(), sub, heartbeat, func(names map[string]bool, all bool) error { // the reader is gone
		if len(names) == 0 && !all {
			return nil
		}
		return out.send("list", "", struct{}{})
	})
	return nil
}

// position is the state of a session that a page knows. It is the id of each event: a
// page that connects again sends the id of the last event it got, and gets the changes
// since.
type position struct {
	Phases   int64               `json:"p"` // as [workflow.Phases.Read]
	Messages sessionstore.Cursor `json:"m"`
	Tag      string              `json:"t"` // of the transcript
	Events   [2]eventslog.Cursor `json:"e"`
}

func (p position) String() string {
	data, err := json.Marshal(p)
	if err != nil {
		return "" // a position of nothing
	}
	return base64.RawURLEncoding.EncodeToString(data)
}

// parsePosition returns the position that a page sent back.
func parsePosition(text string) (p position, ok bool) {
	data, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || text == "" || json.Unmarshal(data, &p) != nil {
		return position{}, false
	}
	return p, p.Phases >= 0 && p.Events[0].Offset >= 0 && p.Events[1].Offset >= 0
}

// teller sends the changes of a session to a page.
type teller struct {
	*request
	out  *sender
	pos  position
	logs [2]*eventslog.Log
	size [2]int64 // of the logs, when they were looked at last
}

// sessionStream sends the changes of a session from the position that the page knows, or
// from now on.
func (s *Server) sessionStream(w http.ResponseWriter, r *request) error {
	sub, err := r.at.hub.subscribe(r.Context(), r.id)
	if err != nil {
		return err
	}
	defer r.at.hub.unsubscribe(sub)
	t := &teller{request: r}
	for i := range t.logs {
		if t.logs[i], err = r.read().log(i == 1); err != nil {
			return err
		}
	}
	known := r.Header.Get("Last-Event-ID")
	if known == "" {
		known = r.URL.Query().Get("last")
	}
	pos, ok := parsePosition(known)
	if t.pos = pos; !ok {
		if err := t.begin(); err != nil {
			return err
		}
	}
	out, end, err := s.streamTo(w)
	if err != nil {
		return err
	}
	defer end()
	t.out = out
	if err := t.ready(ok); err != nil {
		return nil // the reader, or the session, is gone
	}
	_ = out.run(r.Context(), sub, lookAgain, t.tell) // the same
	return nil
}

// ready sends the beginning of the stream, and, to a page that connects again, the
// changes up to now.
func (t *teller) ready(again bool) error {
	ready := map[string]any{"read": t.pos.Phases, "tag": t.pos.Tag}
	if err := t.out.send("ready", t.pos.String(), ready); err != nil || !again {
		return err
	}
	return t.tell(nil, true)
}

// begin takes the position of the session as it is now.
func (t *teller) begin() error {
	shot, err := t.read().snapshot(t.Context())
	if err != nil {
		return err
	}
	if err := t.at.place(t.Context(), &t.pos, t.id, shot); err != nil {
		return err
	}
	phases, err := t.at.log.Phases(t.Context(), t.id, 0)
	if err != nil {
		return err
	}
	t.pos.Phases = phases.Read
	t.size = t.read().logs()
	for i, log := range t.logs {
		heads, err := log.Tail(t.Context(), 1)
		if err != nil {
			return err
		}
		if len(heads) > 0 {
			t.pos.Events[i] = heads[0].Next
		}
	}
	return nil
}

// place sets pos to the end of the messages of a snapshot.
func (p *place) place(ctx context.Context, pos *position, id string, shot *snapshot) error {
	v, err := p.store.View(ctx, id)
	if errors.Is(err, sessionstore.ErrCorrupt) {
		err = nil // the page shows the damage
	}
	if err == nil {
		pos.Messages, err = v.Cursor(ctx, shot.total)
		err = errors.Join(err, v.Close())
	}
	pos.Tag = shot.tag
	return err
}

// maxTold limits the messages and heads in one event of a stream; a page asks for the
// others itself.
const maxTold = 50

// toldMessages is the event of a changed transcript.
type toldMessages struct {
	Tag   string         `json:"tag"`
	Total int            `json:"total"`
	Turns int            `json:"turns"`
	From  int            `json:"from"` // messages before it did not change
	Rows  []shownMessage `json:"rows"` // the first messages from there on
}

// toldEvents is the event of events that were logged.
type toldEvents struct {
	Log       string          `json:"log"`
	Rewritten bool            `json:"rewritten,omitempty"` // all earlier events are gone
	Rows      []eventview.Row `json:"rows"`                // the first new events
	More      bool            `json:"more,omitempty"`
}
