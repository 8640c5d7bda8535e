package acp

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"sync"
	"syscall"

	proto "github.com/coder/acp-go-sdk"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/projects"
)

// Agent is a type that embeds [Sessions] and has the method Prompt. It may replace the other
// methods, and call those of Sessions in them.
type Agent interface {
	// Prompt answers a prompt. The context ends when the client cancels the turn, closes the
	// session or goes away. What was said is stored when Prompt returns, with an error, too.
	// An empty reason is end_turn.
	Prompt(context.Context, *Turn) (proto.StopReason, error)

	Initialize(context.Context, proto.InitializeRequest) (proto.InitializeResponse, error)
	Authenticate(context.Context, proto.AuthenticateRequest) (proto.AuthenticateResponse, error)
	Logout(context.Context, proto.LogoutRequest) (proto.LogoutResponse, error)
	NewSession(context.Context, proto.NewSessionRequest) (proto.NewSessionResponse, error)
	ListSessions(context.Context, proto.ListSessionsRequest) (proto.ListSessionsResponse, error)
	LoadSession(context.Context, proto.LoadSessionRequest) (proto.LoadSessionResponse, error)
	ResumeSession(context.Context, proto.ResumeSessionRequest) (proto.ResumeSessionResponse, error)
	CloseSession(context.Context, proto.CloseSessionRequest) (proto.CloseSessionResponse, error)
	UnstableForkSession(context.Context, proto.UnstableForkSessionRequest) (proto.UnstableForkSessionResponse, error)
	UnstableDeleteSession(context.Context, proto.UnstableDeleteSessionRequest) (proto.UnstableDeleteSessionResponse, error)
	SetSessionMode(context.Context, proto.SetSessionModeRequest) (proto.SetSessionModeResponse, error)
	SetSessionConfigOption(context.Context, proto.SetSessionConfigOptionRequest) (proto.SetSessionConfigOptionResponse, error)
	Cancel(context.Context, proto.CancelNotification) error

	sessions() *Sessions
}

// Sessions answers the session methods for one client. Its exported fields are set before
// [Serve]; all but Projects may be zero.
type Sessions struct {
	Projects *projects.Projects // where the sessions are; the caller closes it after Serve

	// Open returns the store of a sessions directory of Projects, such as that of a hybrid
	// store: each time the same, which the caller closes after Serve. Nil: that of Projects.
	Open func(dir string) (*sessionstore.Store, error)

	Name    string       // of the agent, for its client and for other programs; "": the name of the executable
	Version string       // of the agent, for its client
	Logger  *slog.Logger // nil: silent

	Images bool // prompts may have images, and the client is told so
	Follow bool // the client is shown what other programs add to the sessions that it has open
	Wait   bool // a prompt waits while another turn of its session runs; else it is refused with the name of the program

	// Asks reports whether a call needs the user's permission. Nil: every call does.
	Asks func(call sessionstore.ToolCall) bool

	// Describe completes the title, the kind and the locations of a call for the client, of
	// live calls and of stored ones. Many goroutines call it, and it must not wait for a turn.
	// Nil: the title is the name of the tool.
	Describe func(call sessionstore.ToolCall, update *proto.SessionUpdateToolCall)

	conn    *proto.AgentSideConnection
	ctx     context.Context // ends with the connection
	running sync.WaitGroup  // turns and watchers
	begun   chan struct{}   // a prompt is one of its session: see read

	mu      sync.Mutex // guards the fields below, and the first fields of sessions
	open    map[proto.SessionId]*session
	watched map[*sessionstore.Store]bool
}

func (s *Sessions) sessions() *Sessions { return s }

// Serve answers a client that writes to r and reads from w, as os.Stdin and os.Stdout are in a
// program that an editor started, until r ends or ctx does. Then it ends the contexts of
// the turns and waits for them: what they said is stored when Serve returns. The error is
// that of ctx. From the first Serve on a write to a client that is gone returns an error, and
// does not end the program.
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
	s.ctx, s.open, s.watched, s.begun = served, map[proto.SessionId]*session{}, map[*sessionstore.Store]bool{}, make(chan struct{}, 1)
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) // a client that is gone fails the write, and does not end this program
	lines, pipe := io.Pipe()
	defer lines.Close()
	s.conn = proto.NewAgentSideConnection(agent{a}, w, lines)
	s.conn.SetLogger(slog.New(slog.DiscardHandler)) // the SDK logs messages
	go read(r, pipe, s.begun)
	select {
	case <-s.conn.Done():
	case <-ctx.Done():
	}
	stop()
	s.running.Wait()
	return ctx.Err()
}

// read gives the SDK the client's lines, and after a prompt the next one when the prompt has begun.
// The SDK hands each over in a goroutine, where a cancel might come before its prompt.
func read(r io.Reader, w *io.PipeWriter, begun <-chan struct{}) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 10<<20) // as the SDK has it
	for lines.Scan() {
		if _, err := w.Write(append(lines.Bytes(), '\n')); err != nil {
			return // the SDK reads no more
		}
		if isPrompt(lines.Bytes()) {
			<-begun
		}
	}
	w.CloseWithError(lines.Err())
}

// isPrompt reports whether the SDK calls Prompt for a line: it drops what does not fit its types.
func isPrompt(line []byte) bool {
	var m struct {
		JSONRPC, Method string
		ID              *json.RawMessage
		Params, Result  json.RawMessage
		Error           *proto.RequestError
	}
	var r proto.PromptRequest
	return json.Unmarshal(line, &m) == nil && m.ID != nil && m.Method == proto.AgentMethodSessionPrompt && json.Unmarshal(m.Params, &r) == nil && r.Validate() == nil
}

// agent is an author's agent as the SDK takes it.
type agent struct{ Agent }

// guard calls a function of the author. A panic in it is an error of this call alone.
func (s *Sessions) guard(name string, call func() error) (err error) {
	defer func() {
		if p := recover(); p != nil { // the log has the type of p alone: its text may be of a session
			s.Logger.Error("acp: a function of the agent panicked", "function", name, "type", fmt.Sprintf("%T", p), "stack", string(debug.Stack()))
			err = &proto.RequestError{Code: -32603, Message: "the agent's " + name + " panicked; its log has the place"}
		}
	}()
	return call()
}

func (s *Sessions) name() string { return cmp.Or(s.Name, filepath.Base(os.Args[0])) }

// Initialize announces what Sessions serves.
func (s *Sessions) Initialize(context.Context, proto.InitializeRequest) (proto.InitializeResponse, error) {
	return proto.InitializeResponse{
		ProtocolVersion: proto.ProtocolVersionNumber,
		AuthMethods:     []proto.AuthMethod{},
		AgentInfo:       &proto.Implementation{Name: s.name(), Version: s.Version},
		AgentCapabilities: proto.AgentCapabilities{
			LoadSession:        true,
			PromptCapabilities: proto.PromptCapabilities{Image: s.Images, EmbeddedContext: true},
			SessionCapabilities: proto.SessionCapabilities{
				Close: &proto.SessionCloseCapabilities{}, Delete: &proto.SessionDeleteCapabilities{}, Fork: &proto.SessionForkCapabilities{},
				List: &proto.SessionListCapabilities{}, Resume: &proto.SessionResumeCapabilities{},
			},
		},
	}, nil
}

// Authenticate accepts every client: no method to authenticate is announced.
func (s *Sessions) Authenticate(context.Context, proto.AuthenticateRequest) (r proto.AuthenticateResponse, err error) {
	return r, nil
}

// Logout does nothing.
func (s *Sessions) Logout(context.Context, proto.LogoutRequest) (r proto.LogoutResponse, err error) {
	return r, nil
}

// SetSessionMode refuses every mode: no mode is announced.
func (s *Sessions) SetSessionMode(context.Context, proto.SetSessionModeRequest) (r proto.SetSessionModeResponse, err error) {
	return r, invalid("this agent has no modes")
}

// SetSessionConfigOption refuses every option: no option is announced.
func (s *Sessions) SetSessionConfigOption(context.Context, proto.SetSessionConfigOptionRequest) (r proto.SetSessionConfigOptionResponse, err error) {
	return r, invalid("this agent has no options")
}
