package web

import (
	"net/http"
	"strconv"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice/conversation"
)

// maxMessages limits the messages of one answer.
const maxMessages = 200

// brief limits the texts of an answer with many messages.
var brief = conversation.Limits{Text: 4000, Tool: 1200}

// messageList is a part of a transcript.
type messageList struct {
	Tag   string         `json:"tag"`
	Total int            `json:"total"`
	Turns int            `json:"turns"`
	From  int            `json:"from"`
	Rows  []shownMessage `json:"rows"`
}

// messages answers with a range of the transcript, long texts cut.
func (s *Server) messages(w http.ResponseWriter, r *request) error {
	shot, err := r.shot()
	if err != nil {
		return err
	}
	from, err := r.number("from", 0)
	if err != nil {
		return err
	}
	to, err := r.number("to", from+maxMessages)
	if err != nil {
		return err
	}
	rows, err := r.read().rows(r.Context(), shot, from, min(to, from+maxMessages), brief)
	if err != nil {
		return err
	}
	return answer(w, messageList{shot.tag, shot.total, shot.turns, from, rows})
}

// turn answers with the index of the message that begins a turn.
func (s *Server) turn(w http.ResponseWriter, r *request) error {
	n, err := strconv.Atoi(r.PathValue("n"))
	if err != nil {
		return errRequest("turn is not a number")
	}
	shot, err := r.shot()
	if err != nil {
		return err
	}
	start, err := r.read().start(r.Context(), shot, n)
	if err != nil {
		return err
	}
	return answer(w, map[string]int{"message": start})
}

// shot returns the transcript, and an error when it is not in the state that the tag of
// the request means.
func (r *request) shot() (*snapshot, error) {
	shot, err := r.read().snapshot(r.Context())
	if err != nil {
		return nil, err
	}
	if tag := r.URL.Query().Get("tag"); tag != "" && tag != shot.tag {
		return nil, sessionstore.ErrConflict
	}
	return shot, nil
}

// number returns a number of the query, and otherwise when the query does not have it.
func (r *request) number(name string, otherwise int) (int, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return otherwise, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, errRequest(name + " is not a number")
	}
	return n, nil
}

// message answers with a message and all of its texts.
func (s *Server) message(w http.ResponseWriter, r *request) error {
	shot, n, err := r.shotAt()
	if err != nil {
		return err
	}
	rows, err := r.read().rows(r.Context(), shot, n, n+1, conversation.Limits{})
	if err != nil {
		return err
	}
	return answer(w, rows[0])
}

// line answers with the bytes of a message in the transcript.
func (s *Server) line(w http.ResponseWriter, r *request) error {
	shot, n, err := r.shotAt()
	if err != nil {
		return err
	}
	m, err := r.read().message(r.Context(), shot, n)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write(m.AppendTo(nil)) // the reader may be gone
	return nil
}

// shotAt returns the transcript and the index of the message that the request
// means, which exists.
func (r *request) shotAt() (*snapshot, int, error) {
	n, err := strconv.Atoi(r.PathValue("n"))
	if err != nil {
		return nil, 0, errRequest("message is not a number")
	}
	shot, err := r.shot()
	if err == nil && (n < 0 || n >= shot.total) {
		err = sessionstore.ErrNotFound
	}
	return shot, n, err
}
