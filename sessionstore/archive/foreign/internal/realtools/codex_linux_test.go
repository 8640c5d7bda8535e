package realtools

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign"
)

// codexTool is Codex with a home.
type codexTool struct {
	*lab
	user    string // the home directory of its user
	running *appServer
}

func newCodex(t *testing.T, l *lab) tool {
	t.Helper()
	c := &codexTool{lab: l, user: t.TempDir()}
	require.NoError(t, os.MkdirAll(c.home(), 0o700))
	config := fmt.Sprintf(`model = "made-up"
model_provider = "made-up"
approval_policy = "never"
sandbox_mode = "read-only"
[model_providers.made-up]
name = "made-up"
base_url = "%s/v1"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
`, l.model.url)
	require.NoError(t, os.WriteFile(filepath.Join(c.home(), "config.toml"), []byte(config), 0o600))
	return c
}

func (c *codexTool) name() foreign.Tool { return foreign.Codex }
func (c *codexTool) home() string       { return filepath.Join(c.user, ".codex") }
func (c *codexTool) asks() *model       { return c.model }

func (c *codexTool) place(t *testing.T, file string) string {
	t.Helper()
	day := strings.Split(strings.TrimPrefix(file, "rollout-"), "T")[0]
	dir := filepath.Join(c.home(), "sessions", filepath.FromSlash(strings.ReplaceAll(day, "-", "/")))
	require.NoError(t, os.MkdirAll(dir, 0o700))
	return filepath.Join(dir, file)
}

// command returns a call of Codex.
func (c *codexTool) command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := limited(t)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, c.codexBin, args...)
	cmd.Dir, cmd.Env = c.work, c.env()
	return cmd
}

func (c *codexTool) env() []string {
	return []string{"HOME=" + c.user, "CODEX_HOME=" + c.home(), "PATH=" + os.Getenv("PATH"), "RUST_LOG=error"}
}

// appServer is a running app-server of Codex.
type appServer struct {
	t     *testing.T
	in    io.WriteCloser
	end   func() error
	pid   *os.Process
	lines chan []byte
	errs  *bytes.Buffer
	n     int
	notes []note // that were not waited for yet
}

// note is a line of the app-server.
type note struct {
	ID     *int
	Method string
	Params json.RawMessage
	Result json.RawMessage
	Error  *struct{ Message string }
}

// server returns the app-server for t. It runs until the test ends for which it was first
// asked.
func (c *codexTool) server(t *testing.T) *appServer {
	t.Helper()
	if c.running != nil {
		c.running.t = t
		return c.running
	}
	cmd := exec.Command(c.codexBin, "app-server")
	cmd.Dir, cmd.Env = c.work, c.env()
	s := &appServer{t: t, lines: make(chan []byte, 1<<16), errs: &bytes.Buffer{}}
	cmd.Stderr = s.errs
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	s.in = in
	require.NoError(t, c.net.start(cmd))
	go s.hear(out)
	s.end, s.pid = cmd.Wait, cmd.Process
	t.Cleanup(c.stop)
	c.running = s
	s.call("initialize", object{"clientInfo": object{"name": "x", "title": "x", "version": "0.1"}, "capabilities": object{"experimentalApi": true}}, nil)
	s.send(object{"method": "initialized"})
	return s
}

// stop ends the app-server.
func (c *codexTool) stop() {
	s := c.running
	if s == nil {
		return
	}
	_ = s.in.Close()
	for range s.lines { // until it ends
	}
	_ = s.end() // it is gone, whatever it reports
	c.running = nil
}

// hear takes the lines of the app-server until it ends.
func (s *appServer) hear(out io.Reader) {
	defer close(s.lines)
	for r := bufio.NewReader(out); ; {
		line, err := r.ReadBytes('\n')
		if err != nil {
			return
		}
		s.lines <- line
	}
}

func (s *appServer) send(o object) {
	s.t.Helper()
	line, err := json.Marshal(o)
	require.NoError(s.t, err)
	_, err = s.in.Write(append(line, '\n'))
	require.NoError(s.t, err)
}

// wait returns the first line that is wanted. Others stay.
func (s *appServer) wait(what string, wanted func(note) bool) note {
	s.t.Helper()
	for i, n := range s.notes {
		if wanted(n) {
			s.notes = append(s.notes[:i], s.notes[i+1:]...)
			return n
		}
	}
	ctx, cancel := limited(s.t)
	defer cancel()
	for {
		select {
		case line, ok := <-s.lines:
			require.True(s.t, ok, "%s: Codex ended: %s", what, s.errs)
			var n note
			if json.Unmarshal(line, &n) != nil {
				continue
			}
			if wanted(n) {
				return n
			}
			s.notes = append(s.notes, n)
		case <-ctx.Done():
			require.NotErrorIs(s.t, ctx.Err(), context.DeadlineExceeded, what)
			s.t.FailNow()
		}
	}
}

// try calls a method and reads its result into v.
func (s *appServer) try(method string, params object, v any) error {
	s.t.Helper()
	s.n++
	id := s.n
	s.send(object{"id": id, "method": method, "params": params})
	n := s.wait(method, func(n note) bool { return n.ID != nil && *n.ID == id && n.Method == "" })
	if n.Error != nil {
		return fmt.Errorf("%s: %s", method, n.Error.Message)
	}
	if v == nil {
		return nil
	}
	return json.Unmarshal(n.Result, v)
}

func (s *appServer) call(method string, params object, v any) {
	s.t.Helper()
	require.NoError(s.t, s.try(method, params, v))
}

// turn gives a thread a prompt, and returns when the turn is over.
func (s *appServer) turn(thread, prompt string) {
	s.t.Helper()
	s.call("turn/start", object{"threadId": thread, "input": []any{object{"type": "text", "text": prompt}}}, nil)
	s.over("turn/completed", thread)
}

// over waits for a note about a thread.
func (s *appServer) over(method, thread string) {
	s.t.Helper()
	s.wait(method, func(n note) bool {
		var about struct{ ThreadID string }
		return n.Method == method && json.Unmarshal(n.Params, &about) == nil && about.ThreadID == thread
	})
}

// thread is a thread as Codex shows it.
type thread struct {
	ID    string
	Turns []struct {
		ID    string
		Items []struct {
			Type    string
			Text    string
			Content []struct{ Type, Text string }
		}
	}
}

// read returns a thread with its turns.
func (s *appServer) read(id string) thread {
	s.t.Helper()
	th, err := s.tryRead(id)
	require.NoError(s.t, err)
	return th
}

func (s *appServer) tryRead(id string) (thread, error) {
	s.t.Helper()
	var got struct{ Thread thread }
	err := s.try("thread/read", object{"threadId": id, "includeTurns": true}, &got)
	return got.Thread, err
}

// said returns the prompts and answers of a thread.
func (th thread) said() (all []said) {
	for _, turn := range th.Turns {
		for _, i := range turn.Items {
			switch i.Type {
			case "userMessage":
				for _, c := range i.Content {
					if c.Type == "text" {
						all = append(all, said{"user", c.Text})
					}
				}
			case "agentMessage":
				all = append(all, said{"assistant", i.Text})
			}
		}
	}
	return all
}

func (c *codexTool) list(t *testing.T) (ids []string) {
	t.Helper()
	for cursor := any(nil); ; {
		var page struct {
			Data       []thread
			NextCursor *string
		}
		c.server(t).call("thread/list", object{"limit": 100, "cursor": cursor}, &page)
		for _, th := range page.Data {
			ids = append(ids, th.ID)
		}
		if page.NextCursor == nil {
			return ids
		}
		cursor = *page.NextCursor
	}
}

func (c *codexTool) read(t *testing.T, ids []string) (all [][]said) {
	t.Helper()
	for _, id := range ids {
		th, err := c.server(t).tryRead(id)
		if err != nil {
			t.Log(err)
		}
		all = append(all, th.said())
	}
	return all
}

func (c *codexTool) goOn(t *testing.T, id, prompt string) string {
	t.Helper()
	s := c.server(t)
	s.call("thread/resume", object{"threadId": id}, nil)
	s.turn(id, prompt)
	all := s.read(id).said()
	return all[len(all)-1].text
}
