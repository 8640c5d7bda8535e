package web

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice"
)

// newFork is the body of a request for a fork.
type newFork struct {
	Turn *int `json:"turn"` // the last turn to take over, from 1
}

// forked is the answer with a new fork.
type forked struct {
	SessionID string `json:"session_id"`
	Path      string `json:"path"` // of its page
	Turn      int    `json:"turn"`
	Messages  int    `json:"messages"`
	Damage    string `json:"damage,omitempty"` // of the session that was forked as far as it can be read
}

// fork makes a new session of the conversation up to a turn. The session itself
// does not change.
func (s *Server) fork(w http.ResponseWriter, r *request) error {
	var at newFork
	if err := s.storing(w, r, &at); err != nil {
		return err
	}
	if at.Turn == nil || *at.Turn < 1 {
		return errRequest("turn is not a number from 1 on")
	}
	s.reading.Lock()
	defer s.reading.Unlock()
	made, err := slice.Fork(r.Context(), r.at.store, r.id, &slice.ForkOptions{Turn: at.Turn})
	if err != nil {
		return r.forkFailure(*at.Turn, err)
	}
	out := forked{SessionID: made.ID, Path: pathOf(r.at.name, made.ID), Turn: made.Turn, Messages: made.Messages}
	if made.Damage != nil {
		out.Damage = damageText(made.Damage)
	}
	return answer(w, out)
}

// forkFailure returns the error of a fork, or that there is no such turn.
func (r *request) forkFailure(turn int, err error) error {
	if errors.Is(err, sessionstore.ErrCorrupt) {
		return err
	}
	if shot, failed := r.read().snapshot(r.Context()); failed == nil && turn > shot.turns {
		return &failure{http.StatusNotFound, "no_turn", fmt.Sprintf("there is no turn %d: the session has %d", turn, shot.turns)}
	}
	return err
}
