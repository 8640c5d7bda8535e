package web

import (
	"errors"
	"net/http"
	"path/filepath"
	"strconv"

	"github.com/amplifier-go/sessionstorage/examples/viewer/eventview"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/workflow"
)

// phaseList is the answer with a session's phases.
type phaseList struct {
	Records []shownPhase `json:"records"`
	Read    int64        `json:"read"` // bytes of the log that were read, as in the stream
}

// shownPhase is a phase with its output as HTML, since models write Markdown.
type shownPhase struct {
	workflow.PhaseSummary
	HTML string `json:"html,omitempty"`
}

func shownPhases(all []workflow.PhaseSummary) []shownPhase {
	out := make([]shownPhase, len(all))
	for i, p := range all {
		out[i] = shownPhase{p, outputHTML(p.Output)}
	}
	return out
}

func outputHTML(output *string) string {
	if output == nil {
		return ""
	}
	return renderMarkdown(*output)
}

// phases lists the phases without their prompts.
func (s *Server) phases(w http.ResponseWriter, r *request) error {
	all, err := r.at.log.Phases(r.Context(), r.id, 0)
	if err != nil {
		return err
	}
	return answer(w, phaseList{shownPhases(all.Records), all.Read})
}

// phase answers with one record, whole.
func (s *Server) phase(w http.ResponseWriter, r *request) error {
	id, err := strconv.ParseInt(r.PathValue("phase"), 10, 64)
	if err != nil {
		return errRequest("phase is not a number")
	}
	rec, err := r.at.log.Phase(r.Context(), r.id, id)
	if err != nil {
		return err
	}
	return answer(w, struct {
		workflow.PhaseRecord
		HTML string `json:"html,omitempty"`
	}{rec, outputHTML(rec.Output)})
}

// resumed is a [workflow.ResumeResult] with long messages cut.
type resumed struct {
	workflow.ResumeResult
	Started bool   `json:"started,omitempty"` // the command of [Options]
	Damage  string `json:"damage,omitempty"`
}

// maxHistory limits the bytes of a message of the history.
const maxHistory = 2000

// resume answers with how a workflow goes on, and starts the command of [Options], if
// there is one. Without a command it changes nothing and needs no token.
func (s *Server) resume(w http.ResponseWriter, r *request) error {
	if len(s.options.Resume) > 0 {
		if err := s.permit(r); err != nil {
			return err
		}
	}
	s.reading.Lock()
	defer s.reading.Unlock()
	res, err := r.at.log.Resume(r.Context(), r.id)
	out := resumed{ResumeResult: res}
	if errors.Is(err, sessionstore.ErrCorrupt) && res.Context.CompletedPhases > 0 {
		out.Damage, err = err.Error(), nil
	}
	if err != nil {
		if errors.Is(err, sessionstore.ErrNotFound) {
			return err
		}
		return &failure{http.StatusConflict, kinds[http.StatusConflict], err.Error()}
	}
	if len(s.options.Resume) > 0 {
		if err := s.commands.start(r.Context(), filepath.Join(r.at.store.Dir(), r.id), r.id, res); err != nil {
			return err
		}
		out.Started = true
	}
	for i, m := range out.Context.History {
		out.Context.History[i].Content = eventview.Shorten(m.Content, maxHistory)
	}
	return answer(w, out)
}
