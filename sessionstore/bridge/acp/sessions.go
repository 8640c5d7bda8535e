package acp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	proto "github.com/coder/acp-go-sdk"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/trash"
	"github.com/amplifier-go/sessionstorage/slice"
)

// session is a session that the client has open.
type session struct {
	id      proto.SessionId
	st      *sessionstore.Store
	cwd     string // without symlinks
	servers []proto.McpServer

	ctx   context.Context    // of its turns; Sessions.mu guards this field and the next three
	stop  context.CancelFunc // ends ctx
	busy  int                // turns that run or wait
	turns sync.WaitGroup

	mu    sync.Mutex // guards the fields below, and is held while stored rows are sent
	title string
	shown shown
	next  sessionstore.Cursor // the end of what the client has, with Follow
	own   map[string]int      // rows that the client has and Since has not yielded yet; nil without Follow
}

// NewSession makes a session in the project of the client's working directory.
func (s *Sessions) NewSession(ctx context.Context, r proto.NewSessionRequest) (a proto.NewSessionResponse, err error) {
	cwd, err := workingDir(r.Cwd)
	if err != nil {
		return a, err
	}
	ses := &session{id: proto.SessionId(sessionstore.NewID()), cwd: cwd, servers: r.McpServers}
	md, err := sessionstore.NewMetadata(map[string]any{"working_dir": cwd})
	if err == nil {
		ses.st, err = s.store(sessionstore.ProjectSlug(cwd))
	}
	if err == nil {
		err = ses.st.Create(ctx, string(ses.id), md)
	}
	if err != nil {
		return a, fail(err)
	}
	return proto.NewSessionResponse{SessionId: ses.id}, s.begin(ctx, ses, s.skip)
}

// page is the number of sessions that ListSessions returns, and more where the last ones
// changed at the same time.
const page = 100

// ListSessions lists the sessions for people, the last changed first: those of a working
// directory, which may be gone, or all whose working directory is known. A session that cannot be read
// hides no other.
func (s *Sessions) ListSessions(ctx context.Context, r proto.ListSessionsRequest) (a proto.ListSessionsResponse, err error) {
	before, last, cwd, slug := math.Inf(1), math.Inf(1), "", ""
	if r.Cursor != nil {
		if before, err = strconv.ParseFloat(*r.Cursor, 64); err != nil {
			return a, invalid("the cursor is of no list of this agent: list the sessions without a cursor")
		}
	}
	if r.Cwd != nil {
		if cwd, err = workingDir(*r.Cwd); err != nil && !filepath.IsAbs(*r.Cwd) {
			return a, err
		} else if err != nil { // it is gone, and its sessions are not
			parent, _ := filepath.EvalSymlinks(filepath.Dir(*r.Cwd))
			cwd = filepath.Join(cmp.Or(parent, filepath.Dir(*r.Cwd)), filepath.Base(*r.Cwd))
		}
		slug = sessionstore.ProjectSlug(cwd)
	}
	a.Sessions = []proto.SessionInfo{}
	for sum, err := range s.Projects.Summaries(ctx, &sessionstore.ListOptions{NoInternal: true}) {
		if err != nil && sum.Project == "" {
			return a, fail(err)
		}
		dir := sum.WorkingDir
		if cwd != "" && sum.Project == slug && cmp.Or(dir, cwd) == cwd {
			dir = *r.Cwd // by the name that the client knows
		} else if cwd != "" {
			continue
		}
		at := float64(sum.Changed.Unix()) + 1e-9*float64(sum.Changed.Nanosecond()) // the order of Summaries
		if err != nil || dir == "" || at >= before {
			continue
		}
		if len(a.Sessions) >= page && at < last {
			a.NextCursor = proto.Ptr(strconv.FormatFloat(last, 'g', -1, 64))
			break
		}
		last = at
		info := proto.SessionInfo{SessionId: proto.SessionId(sum.ID), Cwd: dir, UpdatedAt: when(sum.Changed)}
		if sum.Title != "" {
			info.Title = &sum.Title
		}
		a.Sessions = append(a.Sessions, info)
	}
	return a, nil
}

func when(t time.Time) *string { return proto.Ptr(t.UTC().Format(time.RFC3339)) }

// LoadSession shows a session to the client, and opens it. What an interrupted answer had said
// comes last.
func (s *Sessions) LoadSession(ctx context.Context, r proto.LoadSessionRequest) (a proto.LoadSessionResponse, err error) {
	return a, s.reopen(ctx, r.SessionId, r.Cwd, r.McpServers, s.replay)
}

// ResumeSession opens a session and shows nothing of it.
func (s *Sessions) ResumeSession(ctx context.Context, r proto.ResumeSessionRequest) (a proto.ResumeSessionResponse, err error) {
	return a, s.reopen(ctx, r.SessionId, r.Cwd, r.McpServers, s.skip)
}

// UnstableForkSession copies a session as far as it is stored, and opens the copy.
func (s *Sessions) UnstableForkSession(ctx context.Context, r proto.UnstableForkSessionRequest) (a proto.UnstableForkSessionResponse, err error) {
	ses, err := s.find(ctx, r.SessionId, r.Cwd)
	if err != nil {
		return a, fail(err)
	}
	forked, err := slice.Fork(ctx, ses.st, string(ses.id), nil)
	if err != nil {
		return a, fail(err)
	}
	ses.id = proto.SessionId(forked.ID)
	return proto.UnstableForkSessionResponse{SessionId: ses.id}, s.begin(ctx, ses, s.skip)
}

func (s *Sessions) reopen(ctx context.Context, id proto.SessionId, cwd string, servers []proto.McpServer, show func(context.Context, *session) error) error {
	ses, err := s.find(ctx, id, cwd)
	if err != nil {
		return fail(err)
	}
	ses.servers = servers
	return s.begin(ctx, ses, show)
}

// begin opens a session for the client. Its rows cannot be read, or show has sent them or
// skipped them when begin returns.
func (s *Sessions) begin(ctx context.Context, ses *session, show func(context.Context, *session) error) error {
	ses.ctx, ses.stop = context.WithCancel(s.ctx)
	if s.Follow {
		ses.own = map[string]int{}
	}
	if err := s.watch(ses.st); err != nil {
		return fail(err)
	}
	ses.mu.Lock()
	defer ses.mu.Unlock()
	s.mu.Lock()
	if old := s.open[ses.id]; old != nil && old.busy > 0 {
		s.mu.Unlock()
		return invalid("a turn of session %.64q runs: cancel it first", ses.id)
	} else if old != nil {
		old.stop()
	}
	s.open[ses.id] = ses
	s.mu.Unlock()
	sum, err := ses.st.Summary(ctx, string(ses.id))
	if ses.title = sum.Title; err == nil {
		err = show(ctx, ses)
	}
	if err != nil {
		s.mu.Lock()
		delete(s.open, ses.id)
		s.mu.Unlock()
	}
	return fail(err)
}

// Cancel ends the contexts of the turns of a session.
func (s *Sessions) Cancel(_ context.Context, r proto.CancelNotification) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ses := s.open[r.SessionId]; ses != nil {
		ses.stop()
		ses.ctx, ses.stop = context.WithCancel(s.ctx)
	}
	return nil
}

// CloseSession ends the contexts of the turns of a session and waits for them.
func (s *Sessions) CloseSession(_ context.Context, r proto.CloseSessionRequest) (a proto.CloseSessionResponse, err error) {
	s.mu.Lock()
	ses := s.open[r.SessionId]
	delete(s.open, r.SessionId)
	s.mu.Unlock()
	if ses == nil {
		return a, notOpen(r.SessionId)
	}
	ses.stop()
	ses.turns.Wait()
	return a, nil
}

func notOpen(id proto.SessionId) error {
	return invalid("session %.64q is not open: load or resume it first", id)
}

// UnstableDeleteSession closes a session and moves it into the trash. It succeeds, too,
// where there is no such session.
func (s *Sessions) UnstableDeleteSession(ctx context.Context, r proto.UnstableDeleteSessionRequest) (a proto.UnstableDeleteSessionResponse, err error) {
	var st *sessionstore.Store
	s.mu.Lock()
	if ses := s.open[r.SessionId]; ses != nil {
		st = ses.st
	}
	s.mu.Unlock()
	_, _ = s.CloseSession(ctx, proto.CloseSessionRequest{SessionId: r.SessionId}) // it need not be open
	if st == nil || !st.Exists(string(r.SessionId)) {
		st, err = s.locate(ctx, r.SessionId, "")
	}
	if errors.Is(err, sessionstore.ErrNotFound) {
		return a, nil
	} else if err != nil {
		return a, fail(err)
	}
	done, err := trash.Delete(ctx, st, []string{string(r.SessionId)}, &trash.Options{Reason: "session/delete of " + s.name(), Allow: []trash.Kind{trash.Parent}, Quiet: -1})
	for _, kept := range done.Kept {
		return a, invalid("session %.64q stays: %s", r.SessionId, kept.Obstacles[0].Text)
	}
	for _, failed := range done.Failed {
		err = errors.Join(err, failed.Err)
	}
	return a, fail(err)
}

// find returns a session of a working directory that the client asks for.
func (s *Sessions) find(ctx context.Context, id proto.SessionId, dir string) (*session, error) {
	cwd, err := workingDir(dir)
	if err != nil {
		return nil, err
	}
	st, err := s.locate(ctx, id, sessionstore.ProjectSlug(cwd))
	if errors.Is(err, sessionstore.ErrNotFound) {
		if st, err := s.locate(ctx, id, ""); err == nil {
			return nil, invalid("session %.64q is of another cwd: it is in %.200q", id, st.Dir())
		}
		return nil, fmt.Errorf("session %.64q not found: %w", id, err)
	} else if err != nil {
		return nil, err
	}
	md, err := st.Metadata(ctx, string(id))
	if of := md.Text("working_dir"); err == nil && cmp.Or(of, cwd) != cwd {
		return nil, invalid("session %.64q is of another cwd: %.200q", id, of)
	}
	return &session{id: id, st: st, cwd: cwd}, err
}

// locate returns the store that has a session, of the project slug or of all. It makes no
// project.
func (s *Sessions) locate(ctx context.Context, id proto.SessionId, slug string) (*sessionstore.Store, error) {
	dir, err := s.Projects.Resolve(ctx, string(id), slug)
	var many *sessionstore.AmbiguousError
	if errors.As(err, &many) {
		dir = many.Matches[0]
	}
	if dir != "" && filepath.Base(dir) != string(id) { // id is a path, or the beginning of an id
		err = sessionstore.ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	return s.store(filepath.Base(filepath.Dir(filepath.Dir(dir))))
}

// store returns the store of a project.
func (s *Sessions) store(slug string) (st *sessionstore.Store, err error) {
	if s.Open == nil {
		return s.Projects.Store(slug)
	}
	dir := filepath.Join(s.Projects.Dir(), slug, "sessions")
	err = s.guard("Open", func() error { st, err = s.Open(dir); return err })
	return st, err
}

// workingDir returns the working directory of a client without symlinks, as
// [sessionstore.DefaultDir] takes it.
func workingDir(cwd string) (string, error) {
	if !filepath.IsAbs(cwd) {
		return "", invalid("cwd %.200q is not an absolute path", cwd)
	}
	dir, err := filepath.EvalSymlinks(cwd)
	if err == nil {
		var fi os.FileInfo
		if fi, err = os.Stat(dir); err == nil && fi.IsDir() {
			return dir, nil
		}
	}
	return "", invalid("cwd %.200q is not a directory that exists", cwd)
}

// invalid returns an error of the client.
func invalid(format string, args ...any) error {
	return &proto.RequestError{Code: -32602, Message: fmt.Sprintf(format, args...)}
}

// fail returns an error as the client gets it: with its text as the message.
func fail(err error) error {
	var known *proto.RequestError
	switch {
	case err == nil, errors.Is(err, context.Canceled): // the SDK has a code for it
		return err
	case errors.As(err, &known):
		return known
	case errors.Is(err, sessionstore.ErrNotFound):
		return &proto.RequestError{Code: -32002, Message: err.Error()} // resource not found
	case errors.Is(err, sessionstore.ErrInvalidID):
		return invalid("%v", err)
	case errors.Is(err, sessionstore.ErrCorrupt):
		err = fmt.Errorf("the session is damaged, and `sessions repair` mends it: %w", err)
	}
	return &proto.RequestError{Code: -32603, Message: err.Error()}
}
