package genkit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/firebase/genkit/go/core/x/session"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/agentstate"
)

// value is the name of the state in state.json.
const value = "genkit"

// Store keeps states of type S. Its methods may be called by many goroutines,
// and many processes may use one directory; the last to save wins.
type Store[S any] struct{ sessions *sessionstore.Store }

var _ session.Store[any] = (*Store[any])(nil)

// New returns a store of states. It touches no disk; sessions must stay open.
func New[S any](sessions *sessionstore.Store) *Store[S] { return &Store[S]{sessions} }

// Get returns the state of a session, and nil when there is no session of that
// id or none with a state.
func (s *Store[S]) Get(ctx context.Context, id string) (*session.Data[S], error) {
	state, err := agentstate.Open(s.sessions, id, nil)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer state.Close()
	raw, err := state.Value(ctx, value)
	if err != nil || raw == nil {
		return nil, err
	}
	var data session.Data[S]
	if err := json.Unmarshal(raw, &data); err != nil {
		return nil, fmt.Errorf("decode state of session %q: not what %T holds", id, data.State)
	}
	data.ID = id // a fork or an import may have given the session another id
	return &data, nil
}

// Save keeps the state of a session and makes the session when there is none.
// The state is on the disk when Save returns nil, and may be after an error.
func (s *Store[S]) Save(ctx context.Context, id string, data *session.Data[S]) error {
	if data == nil {
		return fmt.Errorf("save state of session %q: no state given", id)
	}
	raw, err := json.Marshal(data)
	if err != nil {
		return fmt.Errorf("encode state of session %q: %w", id, err)
	}
	if !s.sessions.Exists(id) {
		err := s.sessions.Create(ctx, id, sessionstore.Metadata{})
		if err != nil && !errors.Is(err, fs.ErrExist) { // another program may make it first
			return err
		}
	}
	state, err := agentstate.Open(s.sessions, id, nil)
	if err != nil {
		return err
	}
	defer state.Close()
	return state.SetValue(ctx, value, raw)
}
