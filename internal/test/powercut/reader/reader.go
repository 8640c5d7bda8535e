package reader

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/amplifier-go/sessionstorage/internal/test/powercut/history"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// A Reader reads subjects below one directory.
type Reader struct {
	root string

	mu     sync.Mutex // guards stores
	stores map[string]*sessionstore.Store
}

// New returns a reader of the subjects below root.
func New(root string) *Reader { return &Reader{root: root, stores: map[string]*sessionstore.Store{}} }

// Close closes the stores that were read.
func (r *Reader) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var err error
	for _, st := range r.stores {
		err = errors.Join(err, st.Close())
	}
	r.stores = map[string]*sessionstore.Store{}
	return err
}

// Path returns the directory of the subject's sessions.
func (r *Reader) Path(s history.Subject) string { return filepath.Join(r.root, s.Dir) }

// store returns the store of the subject, or nil when its directory is not there.
func (r *Reader) store(s history.Subject) (*sessionstore.Store, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if st := r.stores[s.Dir]; st != nil {
		return st, nil
	}
	if _, err := os.Stat(r.Path(s)); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	st, err := sessionstore.Open(r.Path(s), nil)
	if err == nil {
		r.stores[s.Dir] = st
	}
	return st, err
}

// State returns a reader's view of the subject.
func (r *Reader) State(ctx context.Context, s history.Subject) history.State {
	switch s.View {
	case history.Events, history.CloudLog:
		return lines(filepath.Join(r.Path(s), s.ID, "events.jsonl"), eventKey)
	case history.Config:
		return config(r.Path(s), s.ID)
	case history.Checkpoint:
		return checkpoints(r.Path(s), s.ID)
	case history.Whole:
		return whole(r.Path(s), s.ID)
	case history.Share:
		return shared(ctx, r.Path(s), s.ID)
	}
	st, err := r.store(s)
	switch {
	case err != nil:
		return history.State{Number: history.None, Err: err.Error()}
	case st == nil:
		return history.Gone()
	}
	switch s.View {
	case history.Agent:
		return agent(ctx, st, s.ID)
	case history.Workflow:
		return workflows(ctx, st, s.ID)
	}
	return session(ctx, st, s.ID)
}

// session is a transcript with its metadata.
func session(ctx context.Context, st *sessionstore.Store, id string) history.State {
	s, err := st.Load(ctx, id)
	if errors.Is(err, fs.ErrNotExist) {
		return history.Gone()
	}
	out := history.State{Number: history.None}
	if err != nil {
		out.Err = err.Error()
	}
	if s == nil {
		return out
	}
	for _, m := range s.Messages {
		out.Rows = append(out.Rows, key(m.Content()))
	}
	if n, ok := s.Metadata.Int("n"); ok {
		out.Number = n
	}
	if s.Recovered != nil {
		out.From = filepath.Base(s.Recovered.From)
	}
	return out
}

// key is the first word of a text.
func key(text string) string {
	k, _, _ := strings.Cut(text, " ")
	return k
}
