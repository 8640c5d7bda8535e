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
	"path/filepath"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/sessionstore/projects"

	"google.golang.org/adk/session"
	"google.golang.org/genai"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// Service keeps sessions. Its methods may be called by many goroutines, and many processes
// may use one directory.
type Service struct{ projects *projects.Projects }

var _ session.Service = (*Service)(nil)

// New returns a service over a directory of projects, which must stay open.
func New(p *projects.Projects) *Service { return &Service{p} }

// store returns the store of the sessions of a user.
func (s *Service) store(app, user string) (*sessionstore.Store, error) {
	return s.projects.Store(fmt.Sprintf("adk.%x.%x", app, user))
}

// Create makes a session. The error Is [fs.ErrExist] when there is one of that id, and
// [sessionstore.ErrInvalidID] for an id that no directory can have.
func (s *Service) Create(ctx context.Context, r *session.CreateRequest) (*session.CreateResponse, error) {
	if r.AppName == "" || r.UserID == "" {
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

// Get reads a session. The error Is [sessionstore.ErrNotFound] when there is none.
func (s *Service) Get(ctx context.Context, r *session.GetRequest) (*session.GetResponse, error) {
	st, err := s.store(r.AppName, r.UserID)
	if err != nil {
		return nil, err
	}
	stored, err := st.Load(ctx, r.SessionID)
	if err != nil {
		return nil, err
	}
	// The service in memory makes the session of its state and its events.
	memory := session.InMemoryService()
	made, err := memory.Create(ctx, &session.CreateRequest{AppName: r.AppName, UserID: r.UserID, SessionID: r.SessionID, State: stateOf(stored.Metadata)})
	if err != nil {
		return nil, err
	}
	last := ""
	for _, m := range stored.Messages {
		e, err := eventOf(m)
		if err == nil && (e.ID == "" || e.ID != last) { // else an append was repeated
			err = memory.AppendEvent(ctx, made.Session, e)
		}
		if err != nil {
			return nil, fmt.Errorf("session %q: %w", r.SessionID, err)
		}
		last = e.ID
	}
	got, err := memory.Get(ctx, r)
	if err != nil {
		return nil, err
	}
	return got, s.addShared(ctx, got.Session)
}

// List reads the sessions of a user, or of all users of an app. They have no events.
func (s *Service) List(ctx context.Context, r *session.ListRequest) (*session.ListResponse, error) {
	found, err := s.projects.Find(ctx, projects.Query{})
	if err != nil {
		return nil, err
	}
	all := []session.Session{}
	for _, f := range found {
		part, ours := strings.CutPrefix(f.Project, fmt.Sprintf("adk.%x.", r.AppName))
		user, err := hex.DecodeString(part)
		if !ours || err != nil || r.UserID != "" && string(user) != r.UserID {
			continue
		}
		never := time.Now().AddDate(1000, 0, 0)
		got, err := s.Get(ctx, &session.GetRequest{AppName: r.AppName, UserID: string(user), SessionID: filepath.Base(f.Dir), After: never})
		if err != nil {
			return nil, err
		}
		all = append(all, got.Session)
	}
	return &session.ListResponse{Sessions: all}, nil
}

// Delete removes a session with its events, if there is one.
func (s *Service) Delete(ctx context.Context, r *session.DeleteRequest) error {
	st, err := s.store(r.AppName, r.UserID)
	if err == nil {
		err = st.Delete(ctx, r.SessionID)
	}
	if errors.Is(err, sessionstore.ErrNotFound) {
		return nil
	}
	return err
}

// AppendEvent adds an event to a session that Create or Get returned, unless the event is
// partial. It is on the disk when AppendEvent returns nil; state that sessions share is
// written before it.
func (s *Service) AppendEvent(ctx context.Context, to session.Session, e *session.Event) error {
	st, err := s.store(to.AppName(), to.UserID())
	if err != nil || e.Partial {
		return err
	}
	if !st.Exists(to.ID()) {
		return fmt.Errorf("session %q: %w", to.ID(), sessionstore.ErrNotFound)
	}
	m, err := messageOf(*e)
	if err == nil {
		err = s.share(ctx, to.AppName(), to.UserID(), e.Actions.StateDelta)
	}
	if err == nil {
		err = st.Append(ctx, to.ID(), m)
	}
	memory := session.InMemoryService() // changes the session in memory, and is dropped
	if err == nil {
		_, err = memory.Create(ctx, &session.CreateRequest{AppName: to.AppName(), UserID: to.UserID(), SessionID: to.ID()})
	}
	if err != nil {
		return err
	}
	return memory.AppendEvent(ctx, to, e)
}

// messageOf returns the message that an event is stored as: a text for other tools, and the
// event beside it.
func messageOf(e session.Event) (sessionstore.Message, error) {
	role, text := "assistant", ""
	if e.Author == "user" {
		role = "user"
	}
	if e.Content != nil {
		for _, p := range e.Content.Parts {
			text += p.Text
		}
	}
	e.Actions.StateDelta = maps.Clone(e.Actions.StateDelta)
	maps.DeleteFunc(e.Actions.StateDelta, isTemporary)
	raw, err := json.Marshal(map[string]any{"role": role, "content": text, "timestamp": e.Timestamp, "adk_event": e})
	if err != nil {
		return sessionstore.Message{}, err
	}
	return sessionstore.ParseMessage(raw) // keeps every byte
}

// eventOf returns the event that a message is, or an event with the text of a message that
// another tool wrote.
func eventOf(m sessionstore.Message) (*session.Event, error) {
	e := &session.Event{Author: m.Role()}
	if raw, ok := m.Lookup("adk_event"); ok {
		return e, json.Unmarshal(raw, e)
	}
	e.Content = genai.NewContentFromText(m.Content(), genai.RoleModel)
	if m.Role() == "user" {
		e.Content.Role = genai.RoleUser
	}
	e.Timestamp, _ = m.Timestamp()
	return e, nil
}

func isTemporary(key string, _ any) bool { return strings.HasPrefix(key, session.KeyPrefixTemp) }

// add returns a function that adds state to metadata: as text, since metadata lose secrets
// by the names of members.
func add(state map[string]any) func(*sessionstore.Metadata) error {
	return func(md *sessionstore.Metadata) error {
		all := stateOf(*md)
		maps.Copy(all, state)
		maps.DeleteFunc(all, isTemporary)
		raw, err := json.Marshal(all)
		return errors.Join(err, md.Set("adk_state", string(raw)))
	}
}

// stateOf returns the state in metadata that add wrote.
func stateOf(md sessionstore.Metadata) map[string]any {
	state := map[string]any{}
	_ = json.Unmarshal([]byte(md.Text("adk_state")), &state) // "" where there is none
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

// addShared adds the shared state to a session.
func (s *Service) addShared(ctx context.Context, to session.Session) error {
	st, err := s.projects.Store(fmt.Sprintf("adk.%x", to.AppName()))
	if err != nil {
		return err
	}
	md, err := st.Metadata(ctx, sharedID)
	if err != nil && !errors.Is(err, sessionstore.ErrNotFound) {
		return err
	}
	for name, value := range stateOf(md) {
		owner, key, _ := strings.Cut(name, "/")
		if owner == "" || owner == hex.EncodeToString([]byte(to.UserID())) {
			_ = to.State().Set(key, value) // never fails in memory
		}
	}
	return nil
}
