package web

import (
	"errors"
	"net/http"
	"strconv"
	"unicode/utf8"

	"github.com/amplifier-go/sessionstorage/examples/viewer/phaselog"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/workflow"
)

// phaseList is the answer with a session's phases.
type phaseList struct {
	Records []phaselog.Record `json:"records"`
	Read    int64             `json:"read"` // what the stream calls it
}

// phases lists the phases without their prompts.
func (s *Server) phases(w http.ResponseWriter, r *request) error {
	state, err := r.read().phases.Records(r.Context(), 0)
	if err != nil {
		return err
	}
	return answer(w, phaseList{state.Records, state.Read})
}

// phase answers with one record, unchanged.
func (s *Server) phase(w http.ResponseWriter, r *request) error {
	id, err := strconv.ParseInt(r.PathValue("phase"), 10, 64)
	if err != nil {
		return errRequest("phase is not a number")
	}
	rec, err := r.read().phases.Whole(r.Context(), id)
	if err != nil {
		return err
	}
	return answer(w, rec)
}

var errBusy = errors.New("server is busy")

// resumed is a [workflow.ResumeResult] with long messages cut.
type resumed struct {
	workflow.ResumeResult
	Damage string `json:"damage,omitempty"`
}

// maxHistory is how many bytes of a message of the history are shown.
const maxHistory = 2000

// resume tells how a workflow goes on. It is the one request that is no GET,
// since it stands for an agent that starts to work; it changes nothing itself.
func (s *Server) resume(w http.ResponseWriter, r *request) error {
	s.resuming.Lock()
	defer s.resuming.Unlock()
	res, err := r.at.log.Resume(r.Context(), r.id)
	out := resumed{ResumeResult: res}
	if errors.Is(err, sessionstore.ErrCorrupt) && res.Context.CompletedPhases > 0 {
		out.Damage, err = err.Error(), nil
	}
	if err != nil {
		status := http.StatusConflict
		if errors.Is(err, sessionstore.ErrNotFound) {
			status = http.StatusNotFound
		}
		writeJSON(w, status, map[string]string{"error": err.Error()})
		return nil
	}
	for i, m := range out.Context.History {
		out.Context.History[i].Content = shorten(m.Content, maxHistory)
	}
	return answer(w, out)
}

// shorten cuts a text at the end of a character.
func shorten(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}
