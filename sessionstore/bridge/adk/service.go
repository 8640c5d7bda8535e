package adk

import (
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"strings"
	"sync"

	"github.com/amplifier-go/sessionstorage/sessionstore/projects"

	"google.golang.org/adk/v2/session"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// Service keeps sessions. Its methods may be called by many goroutines, and many processes
// may use one directory.
type Service struct{ projects *projects.Projects }

var _ session.Service = (*Service)(nil)

// New returns a service over a directory of projects, which must stay open.
func New(p *projects.Projects) *Service { return &Service{p} }

var errNil = errors.New("adk: the request, the session or the event is nil")

// store returns the store of the sessions of a user.
func (s *Service) store(app, user string) (*sessionstore.Store, error) {
	return s.projects.Store(fmt.Sprintf("adk.%x.%x", app, user))
}

// Create makes a session. The error Is [fs.ErrExist] when there is one of that id, and
// [sessionstore.ErrInvalidID] for an id that no directory can have.
func (s *Service) Create(ctx context.Context, r *session.CreateRequest) (*session.CreateResponse, error) {
	if r == nil || r.AppName == "" || r.UserID == "" {
		return nil, errors.New("create a session: the app and the user need names")
	}
	id := cmp.Or(r.SessionID, sessionstore.NewID())
	st, err := s.store(r.AppName, r.UserID)
	if err != nil {
		return nil, err
	}
	var md sessionstore.Metadata
	if err = add(r.State)(&md); err == nil {
		err = st.Create(ctx, id, md)
	}
	if err == nil {
		err = s.share(ctx, r.AppName, r.UserID, r.State)
	}
	if err != nil {
		return nil, err
	}
	got, err := s.Get(ctx, &session.GetRequest{AppName: r.AppName, UserID: r.UserID, SessionID: id})
	return (*session.CreateResponse)(got), err
}

// Get reads a session. The error Is [sessionstore.ErrNotFound] when there is none. See the
// package for what it reads.
func (s *Service) Get(ctx context.Context, r *session.GetRequest) (*session.GetResponse, error) {
	if r == nil {
		return nil, errNil
	}
	t := &talk{app: r.AppName, user: r.UserID, id: r.SessionID}
	if err := s.read(ctx, t, r); err != nil {
		return nil, err
	}
	return &session.GetResponse{Session: t}, nil
}

// read reads into t what r asks for.
func (s *Service) read(ctx context.Context, t *talk, r *session.GetRequest) error {
	st, err := s.store(t.app, t.user)
	if err != nil {
		return err
	}
	v, err := view(ctx, st, t.id)
	if err != nil {
		return err
	}
	e, err := read(ctx, st, v, t.id, r)
	if err = errors.Join(err, v.Close()); err != nil {
		return err
	}
	shared, err := s.shared(ctx, t.app, t.user)
	if err != nil {
		return err
	}
	t.set(e, shared)
	return nil
}

// List returns the sessions of a user, or of all users of an app, the last changed first for
// each user. They have no events, and LastUpdateTime is when the session's directory changed.
// Their state is read when it is asked for; State().Get returns the error of that, and
// State().All has nothing then. With an error List returns the sessions that could be listed.
func (s *Service) List(ctx context.Context, r *session.ListRequest) (*session.ListResponse, error) {
	if r == nil {
		return nil, errNil
	}
	slugs, err := s.projects.Slugs(ctx)
	if err != nil {
		return nil, err
	}
	all, errs := []session.Session{}, []error{}
	for _, slug := range slugs {
		part, ours := strings.CutPrefix(slug, fmt.Sprintf("adk.%x.", r.AppName))
		user, err := hex.DecodeString(part)
		if !ours || err != nil || r.UserID != "" && string(user) != r.UserID {
			continue
		}
		st, err := s.projects.Store(slug)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		for found, err := range st.Summaries(ctx, &sessionstore.ListOptions{All: true}) {
			if err != nil {
				errs = append(errs, err)
				continue
			}
			t := &talk{app: r.AppName, user: string(user), id: found.ID, updated: found.Changed}
			t.later = sync.OnceValue(func() error {
				return s.read(context.WithoutCancel(ctx), t, &session.GetRequest{NumRecentEvents: 1})
			})
			all = append(all, t)
		}
	}
	return &session.ListResponse{Sessions: all}, errors.Join(errs...)
}

// Delete removes a session with its events, if there is one.
func (s *Service) Delete(ctx context.Context, r *session.DeleteRequest) error {
	if r == nil {
		return errNil
	}
	st, err := s.store(r.AppName, r.UserID)
	if err == nil {
		err = st.Delete(ctx, r.SessionID)
	}
	if errors.Is(err, sessionstore.ErrNotFound) {
		return nil
	}
	return err
}

// AppendEvent adds an event to a session that this service returned, unless the event is
// partial. It is on the disk when AppendEvent returns nil; state that sessions share is
// written before it. An event that follows one of the same id is passed over by Get, so an
// append whose answer was lost may be repeated.
func (s *Service) AppendEvent(ctx context.Context, to session.Session, e *session.Event) error {
	if to == nil || e == nil {
		return errNil
	} else if e.Partial {
		return nil
	}
	t, ours := to.(*talk)
	if !ours {
		return fmt.Errorf("append to session %q: it is a %T, which this service did not return", to.ID(), to)
	}
	st, err := s.store(t.app, t.user)
	if err != nil {
		return err
	}
	if !st.Exists(t.id) {
		return fmt.Errorf("append to session %q: %w", t.id, sessionstore.ErrNotFound)
	}
	if err := t.ready(); err != nil {
		return err
	}
	var before *kept
	if t.due() {
		if before, err = keep(ctx, st, t.id); err != nil {
			before = nil // a session that cannot be read takes events
		}
	}
	stored := *e
	stored.Actions.StateDelta = lasting(e.Actions.StateDelta)
	m, size, err := messageOf(&stored, before)
	if err == nil {
		err = s.share(ctx, t.app, t.user, stored.Actions.StateDelta)
	}
	if err == nil {
		err = st.Append(ctx, t.id, m)
	}
	if err != nil {
		return err
	}
	t.add(&stored, e.Actions.StateDelta, before, size)
	return nil
}

// add returns a function that adds state to metadata: as a string, since metadata lose secrets
// by the names of fields.
func add(state map[string]any) func(*sessionstore.Metadata) error {
	return func(md *sessionstore.Metadata) error {
		all := stateOf(*md)
		maps.Copy(all, lasting(state))
		raw, err := json.Marshal(all)
		return errors.Join(err, md.Set(keptField, string(raw)))
	}
}

// stateOf returns the state in metadata that add wrote.
func stateOf(md sessionstore.Metadata) map[string]any { return stateIn(md.Text(keptField)) }

// stateIn returns the state in a string, which is "" where there is none.
func stateIn(text string) map[string]any {
	state := map[string]any{}
	if json.Unmarshal([]byte(text), &state) != nil || state == nil {
		return map[string]any{}
	}
	return state
}

// sharedID is the session whose metadata hold the state that sessions share. Before each key
// there is the user, or nothing for the state of the app, and a slash.
const sharedID = "shared"

// share keeps the state that other sessions share.
func (s *Service) share(ctx context.Context, app, user string, state map[string]any) error {
	shared := map[string]any{}
	for key, value := range state {
		if strings.HasPrefix(key, session.KeyPrefixApp) {
			shared["/"+key] = value
		} else if strings.HasPrefix(key, session.KeyPrefixUser) {
			shared[hex.EncodeToString([]byte(user))+"/"+key] = value
		}
	}
	if len(shared) == 0 {
		return nil
	}
	st, err := s.projects.Store(fmt.Sprintf("adk.%x", app))
	if err == nil {
		err = st.Create(ctx, sharedID, sessionstore.Metadata{})
	}
	if err == nil || errors.Is(err, fs.ErrExist) {
		_, err = st.UpdateMetadata(ctx, sharedID, add(shared))
	}
	return err
}

// shared returns the state that the sessions of a user share.
func (s *Service) shared(ctx context.Context, app, user string) (map[string]any, error) {
	st, err := s.projects.Store(fmt.Sprintf("adk.%x", app))
	if err != nil {
		return nil, err
	}
	md, err := st.Metadata(ctx, sharedID)
	if err != nil && !errors.Is(err, sessionstore.ErrNotFound) {
		return nil, err
	}
	state := map[string]any{}
	for name, value := range stateOf(md) {
		owner, key, _ := strings.Cut(name, "/")
		if owner == "" || owner == hex.EncodeToString([]byte(user)) {
			state[key] = value
		}
	}
	return state, nil
}
