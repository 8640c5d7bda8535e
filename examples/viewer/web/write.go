package web

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"

	"github.com/amplifier-go/sessionstorage/sessionstore/workflow"
)

// maxBody limits the bytes of a request to store something.
const maxBody = 4 << 20

// permit refuses a request without the token. The cookie of a reader is not enough.
func (s *Server) permit(r *request) error {
	if !s.guard.door.fits(r.Header.Get(TokenHeader)) {
		return &failure{http.StatusForbidden, "token", lacksToken}
	}
	return nil
}

// body decodes the body of a request into v. A browser sends JSON to another origin only
// when that permits it.
func body(w http.ResponseWriter, r *request, v any) error {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return &failure{http.StatusUnsupportedMediaType, "media_type", "the body is not application/json"}
	}
	dec := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody))
	dec.DisallowUnknownFields()
	err := dec.Decode(v)
	if err == nil {
		if _, more := dec.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("there is more than one value")
			if large := (*http.MaxBytesError)(nil); errors.As(more, &large) {
				err = large
			}
		}
	}
	if large := (*http.MaxBytesError)(nil); errors.As(err, &large) {
		return &failure{http.StatusRequestEntityTooLarge, "too_large", fmt.Sprintf("the body has more than %d bytes", large.Limit)}
	}
	if err != nil {
		return errRequest("the body is not the JSON object that is expected") // its text may hold content
	}
	return nil
}

// storing reads the body of a request that may store something into v.
func (s *Server) storing(w http.ResponseWriter, r *request, v any) error {
	if !s.options.Write {
		return &failure{http.StatusForbidden, "read_only", "the viewer changes nothing; start it with -write"}
	}
	if err := s.permit(r); err != nil {
		return err
	}
	return body(w, r, v)
}

// addPhase stores the output of a phase.
func (s *Server) addPhase(w http.ResponseWriter, r *request) error {
	var p workflow.PhaseOutput
	if err := s.storing(w, r, &p); err != nil {
		return err
	}
	switch {
	case p.SessionID != nil && *p.SessionID != r.id:
		return errRequest("session_id is that of another session")
	case p.PhaseID == "":
		return errRequest("phase_id is missing")
	case !slices.Contains([]string{"running", "completed", "failed"}, p.Status):
		return errRequest("status is not running, completed or failed")
	}
	id, err := r.at.log.SavePhaseOutput(r.Context(), r.id, p)
	if err != nil {
		return err
	}
	return answer(w, map[string]int64{"id": id})
}

// newMessage is a message of the conversation about a workflow.
type newMessage struct {
	PhaseID *string `json:"phase_id"`
	Role    string  `json:"role"`
	Content string  `json:"content"`
}

// addMessage stores a message of the conversation.
func (s *Server) addMessage(w http.ResponseWriter, r *request) error {
	var m newMessage
	if err := s.storing(w, r, &m); err != nil {
		return err
	}
	if !slices.Contains([]string{"user", "assistant", "system"}, m.Role) {
		return errRequest("role is not user, assistant or system")
	}
	id, err := r.at.log.AddMessage(r.Context(), r.id, m.PhaseID, m.Role, m.Content)
	if err != nil {
		return err
	}
	return answer(w, map[string]int64{"id": id})
}
