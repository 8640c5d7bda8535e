package acp

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"

	proto "github.com/coder/acp-go-sdk"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/projects"
)

// Agent is an agent of the protocol: a type that embeds [Sessions] and has the method
// Prompt. It may replace other methods, and call those of Sessions in them.
type Agent interface {
	// Prompt answers the prompt of a turn. The context ends when the client cancels the
	// turn, closes the session or goes away. What Prompt said is stored when it returns,
	// with an error, too.
	Prompt(ctx context.Context, t *Turn) (proto.StopReason, error)

	Initialize(ctx context.Context, r proto.InitializeRequest) (proto.InitializeResponse, error)
	Authenticate(ctx context.Context, r proto.AuthenticateRequest) (proto.AuthenticateResponse, error)
	Logout(ctx context.Context, r proto.LogoutRequest) (proto.LogoutResponse, error)
	NewSession(ctx context.Context, r proto.NewSessionRequest) (proto.NewSessionResponse, error)
	ListSessions(ctx context.Context, r proto.ListSessionsRequest) (proto.ListSessionsResponse, error)
	LoadSession(ctx context.Context, r proto.LoadSessionRequest) (proto.LoadSessionResponse, error)
	ResumeSession(ctx context.Context, r proto.ResumeSessionRequest) (proto.ResumeSessionResponse, error)
	CloseSession(ctx context.Context, r proto.CloseSessionRequest) (proto.CloseSessionResponse, error)
	UnstableForkSession(ctx context.Context, r proto.UnstableForkSessionRequest) (proto.UnstableForkSessionResponse, error)
	UnstableDeleteSession(ctx context.Context, r proto.UnstableDeleteSessionRequest) (proto.UnstableDeleteSessionResponse, error)
	SetSessionMode(ctx context.Context, r proto.SetSessionModeRequest) (proto.SetSessionModeResponse, error)
	SetSessionConfigOption(ctx context.Context, r proto.SetSessionConfigOptionRequest) (proto.SetSessionConfigOptionResponse, error)
	Cancel(ctx context.Context, r proto.CancelNotification) error

	sessions() *Sessions
}

// Sessions answers the session methods of the protocol for one client. Its exported fields
// are set before [Serve]; the zero values of all but Projects will do.
type Sessions struct {
	Projects *projects.Projects // where the sessions are; the caller closes it after Serve
	Name     string             // of the agent, for its clients and for other programs; "": the name of the executable
	Version  string             // of the agent, for its clients
	Logger   *slog.Logger       // nil: silent

	// Images announces that prompts may have images.
	Images bool

	// Follow shows the client what other programs add to the sessions that it has open.
	Follow bool

	// Wait makes a prompt wait while a turn of the session runs, here or in another program.
	// Else the prompt is refused, with the name of that program.
	Wait bool

	// Asks reports whether a call needs the user's permission. Nil: every call does.
	Asks func(call sessionstore.ToolCall) bool

	// Describe completes the title, the kind and the locations of a call, for the client. It
	// is called for live calls and for stored ones, by many goroutines. Nil: the title is
	// the name of the tool.
	Describe func(call sessionstore.ToolCall, update *proto.SessionUpdateToolCall)

	conn *proto.AgentSideConnection
	ctx  context.Context // ends with the connection

	mu      sync.Mutex
	open    map[proto.SessionId]*session
	watched map[*sessionstore.Store]bool
	running sync.WaitGroup // turns and watchers
}

func (s *Sessions) sessions() *Sessions { return s }

// Serve answers a client that writes to r and reads from w, as os.Stdin and os.Stdout of a
// program that an editor started, until r ends or ctx does. It then ends the contexts of the
// turns and waits for them: what they said is stored when Serve returns. The error is that
// of ctx.
func Serve(ctx context.Context, a Agent, r io.Reader, w io.Writer) error {
	s := a.sessions()
	if s.Projects == nil {
		return errors.New("acp: Sessions.Projects is not set")
	}
	if s.Logger == nil {
		s.Logger = slog.New(slog.DiscardHandler)
	}
	served, stop := context.WithCancel(ctx)
	defer stop()
	s.ctx, s.open, s.watched = served, map[proto.SessionId]*session{}, map[*sessionstore.Store]bool{}
	connected := make(chan struct{})
	s.conn = proto.NewAgentSideConnection(agent{a}, w, gate{r, connected})
	s.conn.SetLogger(slog.New(slog.DiscardHandler)) // its logs hold messages
	close(connected)
	select {
	case <-s.conn.Done():
	case <-ctx.Done():
	}
	stop()
	s.running.Wait()
	return ctx.Err()
}

// gate is a reader that waits until the connection is ready: the SDK reads at once.
type gate struct {
	io.Reader
	open <-chan struct{}
}

func (g gate) Read(p []byte) (int, error) {
	<-g.open
	return g.Reader.Read(p)
}

// agent is an author's agent as the SDK takes it.
type agent struct{ Agent }

// Initialize announces what Sessions serves.
func (s *Sessions) Initialize(context.Context, proto.InitializeRequest) (proto.InitializeResponse, error) {
	r := proto.InitializeResponse{
		ProtocolVersion: proto.ProtocolVersionNumber,
		AuthMethods:     []proto.AuthMethod{},
		AgentCapabilities: proto.AgentCapabilities{
			LoadSession:        true,
			PromptCapabilities: proto.PromptCapabilities{Image: s.Images, EmbeddedContext: true},
			SessionCapabilities: proto.SessionCapabilities{
				Close: &proto.SessionCloseCapabilities{}, Delete: &proto.SessionDeleteCapabilities{}, Fork: &proto.SessionForkCapabilities{},
				List: &proto.SessionListCapabilities{}, Resume: &proto.SessionResumeCapabilities{},
			},
		},
	}
	r.AgentInfo = &proto.Implementation{Name: s.name(), Version: s.Version}
	return r, nil
}

// Authenticate accepts everyone: Initialize announces no way to authenticate.
func (s *Sessions) Authenticate(context.Context, proto.AuthenticateRequest) (r proto.AuthenticateResponse, err error) {
	return r, nil
}

// Logout does nothing.
func (s *Sessions) Logout(context.Context, proto.LogoutRequest) (r proto.LogoutResponse, err error) {
	return r, nil
}

// SetSessionMode refuses every mode: no mode was announced.
func (s *Sessions) SetSessionMode(context.Context, proto.SetSessionModeRequest) (r proto.SetSessionModeResponse, err error) {
	return r, invalid("this agent has no modes")
}

// SetSessionConfigOption refuses every option: no option was announced.
func (s *Sessions) SetSessionConfigOption(context.Context, proto.SetSessionConfigOptionRequest) (r proto.SetSessionConfigOptionResponse, err error) {
	return r, invalid("this agent has no options")
}
