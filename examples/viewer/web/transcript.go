package web

import (
	"net/http"
	"strconv"

	"github.com/amplifier-go/sessionstorage/examples/viewer/conversation"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// maxMessages is how many messages one answer holds.
const maxMessages = 200

// messageList is a part of a transcript.
type messageList struct {
	Tag    string                 `json:"tag"`
	Total  int                    `json:"total"`
	From   int                    `json:"from"`
	Rows   []conversation.Message `json:"rows"`
	Starts []int                  `json:"starts,omitempty"` // of the turns, when they are asked for
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
	out := messageList{Tag: shot.tag, Total: shot.rows.Len(), From: from, Rows: shot.rows.Brief(from, min(to, from+maxMessages))}
	if r.URL.Query().Has("turns") {
		out.Starts = shot.rows.Starts()
	}
	return answer(w, out)
}

// shot returns the transcript, if it is the one that the request means.
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

// number returns a member of the query, otherwise what it is without one.
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
	m, ok := shot.rows.Whole(n)
	if !ok {
		return sessionstore.ErrNotFound
	}
	return answer(w, m)
}

// line answers with the bytes of a message as they stand in the transcript.
func (s *Server) line(w http.ResponseWriter, r *request) error {
	shot, n, err := r.shotAt()
	if err != nil {
		return err
	}
	line, ok := shot.rows.Line(n)
	if !ok {
		return sessionstore.ErrNotFound
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write(line) // the reader may be gone
	return nil
}

func (r *request) shotAt() (*snapshot, int, error) {
	n, err := strconv.Atoi(r.PathValue("n"))
	if err != nil {
		return nil, 0, errRequest("message is not a number")
	}
	shot, err := r.shot()
	return shot, n, err
}
