package acp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	proto "github.com/coder/acp-go-sdk"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/projects"
	"github.com/amplifier-go/sessionstorage/sessionstore/turn"
)

// childAgent is an agent in a process of its own. The prompt "slow" says half an answer, the
// prompt "call" starts a call, and both go on until the process is killed.
func childAgent(dir, argument string) error {
	all, err := projects.Open(dir, nil)
	if err != nil {
		return err
	}
	defer all.Close()
	a := &tester{Sessions: Sessions{Projects: all, Name: argument, Wait: true}}
	a.answer = func(ctx context.Context, t *Turn) (proto.StopReason, error) {
		switch t.Prompt.Content() {
		case "slow":
			err := errors.Join(t.Think("Hm."), t.Say("Half an "), t.Say("answer"))
			<-ctx.Done()
			return "", err
		case "chatter":
			for ctx.Err() == nil {
				_ = t.Say("bye ") // the client is gone
				time.Sleep(time.Millisecond)
			}
			return "", ctx.Err()
		case "call":
			call := sessionstore.ToolCall{ID: "c", Name: "launch"}
			if err := errors.Join(t.Say("I launch."), t.Step(ctx, calling("I launch.", call))); err != nil {
				return "", err
			}
			_, err := t.Call(ctx, call, func(context.Context, sessionstore.ToolCall) (m sessionstore.Message, err error) {
				f, err := os.OpenFile(filepath.Join(t.Cwd, "launched"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
				if err == nil {
					_, err = f.WriteString("launched\n")
					err = errors.Join(err, f.Close(), t.Say("It flies"))
				}
				if err == nil {
					<-ctx.Done()
				}
				return m, err
			})
			return "", err
		}
		return echo(ctx, t)
	}
	r, w := io.Pipe()
	go func() {
		for line := range testenv.Orders() {
			_, _ = io.WriteString(w, line+"\n")
		}
		w.Close()
	}()
	if argument == "loads" {
		return Serve(context.Background(), loads{a}, r, os.Stdout)
	}
	if err := Serve(context.Background(), a, r, os.Stdout); err != nil {
		return err
	}
	_, err = fmt.Println("served") // a client that is gone does not end the program now either
	if argument == "alone" {
		err = os.WriteFile(filepath.Join(dir, "after"), fmt.Append(nil, err), 0o600)
	}
	return err
}

// loads is an agent that loads sessions and does not resume them.
type loads struct{ *tester }

func (l loads) Initialize(ctx context.Context, r proto.InitializeRequest) (proto.InitializeResponse, error) {
	a, err := l.tester.Initialize(ctx, r)
	a.AgentCapabilities.SessionCapabilities.Resume = nil
	return a, err
}

// spawn starts an agent in a process of its own, with a client.
func spawn(t *testing.T, dir, name string) (*client, *testenv.Process) {
	t.Helper()
	p := testenv.Spawn(t, "agent", dir, name)
	r, w := io.Pipe()
	go func() {
		for line, ok := p.Line(); ok; line, ok = p.Line() {
			_, _ = io.WriteString(w, line+"\n")
		}
		w.Close()
	}()
	c := newClient(lines{p}, r)
	c.permit = choose("once")
	return c, p
}

// lines gives a child what the SDK writes: whole lines.
type lines struct{ p *testenv.Process }

func (l lines) Write(b []byte) (int, error) {
	return len(b), l.p.Send(strings.TrimSuffix(string(b), "\n"))
}

// TestKillInAnswer kills the agent in an answer: the next load shows what it said, once, and so
// do the loads after the next prompt.
func TestKillInAnswer(t *testing.T) {
	t.Parallel()
	dir, cwd := realDir(t), realDir(t)
	one, p := spawn(t, dir, "one")
	id := one.begin(t, cwd)
	one.say(t, id, "first")
	st := stored(t, dir, cwd)
	go func() {
		_, _ = one.Prompt(context.WithoutCancel(t.Context()), proto.PromptRequest{SessionId: id, Prompt: text("slow")})
	}()
	require.Eventually(t, func() bool {
		d, err := turn.ReadDraft(t.Context(), st, string(id))
		return err == nil && d.Text == "Half an answer"
	}, time.Minute, 10*time.Millisecond)
	p.Kill()

	talk := []string{"user: first", "agent: You said first", "user: slow", "thought: Hm.", "agent: Half an answer"}
	two, _ := spawn(t, dir, "two")
	require.Equal(testenv.Lost(t), talk, two.load(t, id, cwd))
	require.Equal(t, talk, two.load(t, id, cwd), "to load changes nothing")
	_, err := two.ResumeSession(t.Context(), proto.ResumeSessionRequest{SessionId: id, Cwd: cwd})
	require.NoError(t, err)
	two.say(t, id, "next")
	require.Equal(testenv.Lost(t), append(talk, "user: next", "agent: You said next"), two.load(t, id, cwd))
}

// TestKillInCall kills the agent while a call runs: it does not run again, and the model will
// read that its outcome is unknown.
func TestKillInCall(t *testing.T) {
	t.Parallel()
	dir, cwd := realDir(t), realDir(t)
	one, p := spawn(t, dir, "one")
	id := one.begin(t, cwd)
	go func() {
		_, _ = one.Prompt(context.WithoutCancel(t.Context()), proto.PromptRequest{SessionId: id, Prompt: text("call")})
	}()
	one.wait(t, "agent: It flies")
	p.Kill()

	two, _ := spawn(t, dir, "two")
	shown := two.load(t, id, cwd)
	require.Equal(t, []string{"user: call", "agent: I launch.", "call c: launch map[] pending", "call c: failed " + noResult}, shown[:4])
	_, err := two.ResumeSession(t.Context(), proto.ResumeSessionRequest{SessionId: id, Cwd: cwd})
	require.NoError(t, err)
	two.say(t, id, "next")
	shown = two.load(t, id, cwd)
	require.Contains(t, shown[3], "call c: failed {\"error\": \"outcome_unknown\"")
	require.Equal(t, []string{"user: next", "agent: You said next"}, shown[len(shown)-2:])
	launched, err := os.ReadFile(filepath.Join(cwd, "launched"))
	require.NoError(t, err)
	require.Equal(testenv.Lost(t), "launched\n", string(launched), "it runs at most once")
}

// TestClientGone ends an agent whose client is gone: it stores its answer all the same.
func TestClientGone(t *testing.T) {
	t.Parallel()
	dir, cwd := realDir(t), realDir(t)
	program, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(program, dir)
	cmd.Env = append(os.Environ(), "TESTENV_CHILD=agent", "TESTENV_CHILD_ARGUMENT=alone", "TESTENV_KILL_AT=0")
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	c := newClient(in, out)
	id := c.begin(t, cwd)
	go func() {
		_, _ = c.Prompt(context.WithoutCancel(t.Context()), proto.PromptRequest{SessionId: id, Prompt: text("chatter")})
	}()
	c.wait(t, "title: chatter")
	require.NoError(t, out.Close())
	said := func() string {
		d, err := turn.ReadDraft(t.Context(), stored(t, dir, cwd), string(id))
		require.NoError(t, err)
		return d.Text
	}
	before := said()
	require.Eventually(t, func() bool { return len(said()) > len(before)+100 }, time.Minute, 100*time.Millisecond, "the agent goes on")
	_, err = io.WriteString(in, "\x04\n") // no more lines, as testenv has it
	require.NoError(t, err)
	require.NoError(t, cmd.Wait())
	after, err := os.ReadFile(filepath.Join(dir, "after"))
	require.NoError(t, err)
	require.Contains(t, string(after), "broken pipe")
	shown := connect(t, dir, &tester{}).load(t, id, cwd)
	require.Len(testenv.Lost(t), shown, 2)
	require.Greater(testenv.Lost(t), len(shown[1]), len(before)+100)
}

// TestTwoProcesses lets two agents answer in one session at once: every turn is whole, and
// is there once.
func TestTwoProcesses(t *testing.T) {
	t.Parallel()
	dir, cwd := realDir(t), realDir(t)
	one, _ := spawn(t, dir, "one")
	two, _ := spawn(t, dir, "two")
	id := one.begin(t, cwd)
	require.Empty(t, two.load(t, id, cwd))
	var done sync.WaitGroup
	want := map[string]bool{}
	for name, c := range map[string]*client{"a": one, "b": two} {
		for _, n := range []string{"1", "2", "3"} {
			want["user: "+name+n+" agent: You said "+name+n] = true
			done.Go(func() {
				_, err := c.Prompt(t.Context(), proto.PromptRequest{SessionId: id, Prompt: text(name + n)})
				if err != nil {
					t.Error(err)
				}
			})
		}
	}
	done.Wait()
	got := map[string]bool{}
	shown := one.load(t, id, cwd)
	require.Len(testenv.Lost(t), shown, 12)
	for i := 0; i < 12; i += 2 {
		got[shown[i]+" "+shown[i+1]] = true
	}
	require.Equal(testenv.Lost(t), want, got)
}
