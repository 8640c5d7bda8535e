package acp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
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
	cwd     string
	servers []proto.McpServer
	turns   sync.WaitGroup

	ctx  context.Context    // of the turns; Sessions.mu guards it and the next two fields
	stop context.CancelFunc // ends ctx
	busy int                // turns that run or wait

	mu    sync.Mutex // guards the fields below, and is held while stored rows are sent
	title string
	shown shown
	next  sessionstore.Cursor // the end of what the client has, with Follow
	own   map[string]int      // rows of this client that Since has not yielded yet
}

// NewSession makes a session of the project of the client's working directory.
func (s *Sessions) NewSession(ctx context.Context, r proto.NewSessionRequest) (a proto.NewSessionResponse, err error) {
	cwd, err := workingDir(r.Cwd)
	if err != nil {
		return a, err
	}
	st, err := s.Projects.Store(sessionstore.ProjectSlug(cwd))
	if err != nil {
		return a, fail(err)
	}
	md, err := sessionstore.NewMetadata(map[string]any{"working_dir": cwd})
	if err != nil {
		return a, fail(err)
	}
	a.SessionId = proto.SessionId(sessionstore.NewID())
	if err := st.Create(ctx, string(a.SessionId), md); err != nil {
		return a, fail(err)
	}
	return a, s.begin(&session{id: a.SessionId, st: st, cwd: cwd, servers: r.McpServers}, nil)
}

// page is the number of sessions that ListSessions returns, and more where the last ones
// changed at the same time.
const page = 100

// ListSessions lists the sessions for people, the last changed first: those of the client's
// working directory, or all whose working directory is known. A session that cannot be read
// hides no other.
func (s *Sessions) ListSessions(ctx context.Context, r proto.ListSessionsRequest) (a proto.ListSessionsResponse, err error) {
	before, last, cwd := math.Inf(1), math.Inf(1), ""
	if r.Cursor != nil {
		if before, err = strconv.ParseFloat(*r.Cursor, 64); err != nil {
			return a, invalid("the cursor is of no list of this agent: list the sessions without a cursor")
		}
	}
	if r.Cwd != nil {
		if cwd, err = workingDir(*r.Cwd); err != nil {
			return a, err
		}
	}
	a.Sessions = []proto.SessionInfo{}
	for sum, err := range s.summaries(ctx, cwd) {
		if err != nil {
			return a, fail(err)
		}
		at := float64(sum.Changed.Unix()) + 1e-9*float64(sum.Changed.Nanosecond()) // the order of Summaries
		if at >= before || sum.WorkingDir == "" {
			continue
		}
		if len(a.Sessions) >= page && at < last {
			a.NextCursor = proto.Ptr(strconv.FormatFloat(last, 'g', -1, 64))
			break
		}
		if last = at; cwd != "" {
			sum.WorkingDir = *r.Cwd // the same directory, by the name that the client knows
		}
		a.Sessions = append(a.Sessions, proto.SessionInfo{
			SessionId: proto.SessionId(sum.ID), Cwd: sum.WorkingDir, Title: &sum.Title, UpdatedAt: when(sum.Changed),
		})
	}
	return a, nil
}

func when(t time.Time) *string { return proto.Ptr(t.UTC().Format(time.RFC3339)) }

// summaries yields the sessions of a working directory, or of all where cwd is "".
func (s *Sessions) summaries(ctx context.Context, cwd string) iter.Seq2[sessionstore.Summary, error] {
	o := &sessionstore.ListOptions{NoInternal: true}
	return func(yield func(sessionstore.Summary, error) bool) {
		if cwd == "" {
			for sum, err := range s.Projects.Summaries(ctx, o) {
				if (err == nil || sum.ID == "" && sum.Project == "") && !yield(sum.Summary, err) {
					return
				}
			}
			return
		}
		st, err := s.project(cwd)
		if st == nil {
			if err != nil {
				yield(sessionstore.Summary{}, err)
			}
			return
		}
		for sum, err := range st.Summaries(ctx, o) {
			sum.WorkingDir = cmp.Or(sum.WorkingDir, cwd)
			if (err == nil && sum.WorkingDir == cwd || err != nil && sum.ID == "") && !yield(sum, err) {
				return
			}
		}
	}
}

// project returns the store of a working directory, and nil where it has no sessions.
func (s *Sessions) project(cwd string) (*sessionstore.Store, error) {
	slug := sessionstore.ProjectSlug(cwd)
	if _, err := os.Stat(filepath.Join(s.Projects.Dir(), slug, "sessions")); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return s.Projects.Store(slug)
}

// workingDir returns the working directory of a client without symlinks, as
// [sessionstore.DefaultDir] takes it.
func workingDir(cwd string) (string, error) {
	if !filepath.IsAbs(cwd) {
		return "", invalid("cwd %.200q is not an absolute path", cwd)
	}
	dir, err := filepath.EvalSymlinks(cwd)
	if err != nil {
		return "", invalid("cwd %.200q cannot be entered: %v", cwd, reason(err))
	}
	if fi, err := os.Stat(dir); err != nil || !fi.IsDir() {
		return "", invalid("cwd %.200q is not a directory", cwd)
	}
	return dir, nil
}

// reason returns an error of a file without its path.
func reason(err error) error {
	var of *fs.PathError
	if errors.As(err, &of) {
		return of.Err
	}
	return err
}

// find returns a session of a working directory that the client asks for, not yet open.
func (s *Sessions) find(ctx context.Context, id proto.SessionId, dir string) (*session, error) {
	cwd, err := workingDir(dir)
	if err != nil {
		return nil, err
	}
	st, err := s.project(cwd)
	if err != nil {
		return nil, fail(err)
	}
	if st != nil {
		md, err := st.Metadata(ctx, string(id))
		switch of := md.Text("working_dir"); {
		case err == nil && (of == "" || of == cwd):
			return &session{id: id, st: st, cwd: cwd}, nil
		case err == nil:
			return nil, invalid("session %.64q belongs to another cwd, %.200q: ask for it with that one", id, of)
		case !errors.Is(err, sessionstore.ErrNotFound):
			return nil, fail(err)
		}
	}
	if other, err := s.elsewhere(ctx, id); err == nil {
		return nil, invalid("session %.64q belongs to another project, %.200q: ask for it with its cwd", id, other.Dir())
	}
	return nil, fail(fmt.Errorf("session %.64q not found: %w", id, sessionstore.ErrNotFound))
}

// elsewhere returns the store that has a session, of all projects.
func (s *Sessions) elsewhere(ctx context.Context, id proto.SessionId) (*sessionstore.Store, error) {
	dir, err := s.Projects.Resolve(ctx, string(id), "")
	var many *sessionstore.AmbiguousError
	if errors.As(err, &many) {
		dir = many.Matches[0]
	}
	if dir != "" && filepath.Base(dir) != string(id) { // id is the beginning of an id, or a path
		return nil, sessionstore.ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	return s.Projects.Store(filepath.Base(filepath.Dir(filepath.Dir(dir))))
}

// LoadSession shows a session to the client, and opens it. An answer that was interrupted
// comes last, unless its turn goes on in another program.
func (s *Sessions) LoadSession(ctx context.Context, r proto.LoadSessionRequest) (a proto.LoadSessionResponse, err error) {
	ses, err := s.find(ctx, r.SessionId, r.Cwd)
	if err != nil {
		return a, err
	}
	ses.servers = r.McpServers
	return a, s.begin(ses, func() error { return s.replay(ctx, ses) })
}

// ResumeSession opens a session and shows nothing of it.
func (s *Sessions) ResumeSession(ctx context.Context, r proto.ResumeSessionRequest) (a proto.ResumeSessionResponse, err error) {
	ses, err := s.find(ctx, r.SessionId, r.Cwd)
	if err != nil {
		return a, err
	}
	ses.servers = r.McpServers
	return a, s.begin(ses, func() error { return s.skip(ctx, ses) })
}

// UnstableForkSession copies a session as far as it is stored, and opens the copy.
func (s *Sessions) UnstableForkSession(ctx context.Context, r proto.UnstableForkSessionRequest) (a proto.UnstableForkSessionResponse, err error) {
	from, err := s.find(ctx, r.SessionId, r.Cwd)
	if err != nil {
		return a, err
	}
	forked, err := slice.Fork(ctx, from.st, string(from.id), nil)
	if err != nil {
		return a, fail(err)
	}
	a.SessionId = proto.SessionId(forked.ID)
	ses := &session{id: a.SessionId, st: from.st, cwd: from.cwd}
	return a, s.begin(ses, func() error { return s.skip(ctx, ses) })
}

// begin opens a session for the client once prepare is done.
func (s *Sessions) begin(ses *session, prepare func() error) error {
	if s.Follow {
		ses.own = map[string]int{}
	}
	ses.ctx, ses.stop = context.WithCancel(s.ctx)
	if err := s.watch(ses.st); err != nil {
		return fail(err)
	}
	ses.mu.Lock()
	defer ses.mu.Unlock()
	s.mu.Lock()
	old := s.open[ses.id]
	if old != nil && old.busy > 0 {
		s.mu.Unlock()
		return invalid("a turn of session %.64q runs: cancel it first", ses.id)
	}
	s.open[ses.id] = ses
	s.mu.Unlock()
	sum, err := ses.st.Summary(s.ctx, string(ses.id))
	ses.title = sum.Title
	if err == nil && prepare != nil {
		err = prepare()
	}
	if err != nil {
		s.mu.Lock()
		delete(s.open, ses.id)
		s.mu.Unlock()
	}
	return fail(err)
}

// opened returns a session that the client has open.
func (s *Sessions) opened(id proto.SessionId) (*session, error) {
	if ses := s.open[id]; ses != nil {
		return ses, nil
	}
	return nil, invalid("session %.64q is not open: load or resume it first", id)
}

// Cancel ends the contexts of the turns of a session.
func (s *Sessions) Cancel(_ context.Context, r proto.CancelNotification) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	ses, err := s.opened(r.SessionId)
	if err == nil {
		ses.stop()
		ses.ctx, ses.stop = context.WithCancel(s.ctx)
	}
	return err
}

// CloseSession ends the contexts of the turns of a session and waits for them.
func (s *Sessions) CloseSession(_ context.Context, r proto.CloseSessionRequest) (a proto.CloseSessionResponse, err error) {
	s.mu.Lock()
	ses, err := s.opened(r.SessionId)
	if err == nil {
		delete(s.open, r.SessionId)
		ses.stop()
	}
	s.mu.Unlock()
	if err == nil {
		ses.turns.Wait()
	}
	return a, err
}

// UnstableDeleteSession closes a session and moves it into the trash. It succeeds, too,
// where there is no such session.
func (s *Sessions) UnstableDeleteSession(ctx context.Context, r proto.UnstableDeleteSessionRequest) (a proto.UnstableDeleteSessionResponse, err error) {
	_, _ = s.CloseSession(ctx, proto.CloseSessionRequest{SessionId: r.SessionId})
	st, err := s.elsewhere(ctx, r.SessionId)
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
		return a, fail(failed.Err)
	}
	return a, fail(err)
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
