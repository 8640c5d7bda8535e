package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/eventslog"
	"github.com/amplifier-go/sessionstorage/internal/test/strict"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/projects"
	"github.com/amplifier-go/sessionstorage/sessionstore/turn"
)

// provider is a provider of models, and its server for tests.
type provider struct {
	name, model string
	env         func(url string) []string
	server      *strict.Server
	thinking    []strict.Part // that comes before a call
}

// providersOf returns the three providers with servers that refuse what the providers refuse.
func providersOf(t *testing.T) []provider {
	return []provider{
		{
			"anthropic", "anthropic:claude-sonnet-5", func(url string) []string { return []string{"ANTHROPIC_BASE_URL=" + url, "ANTHROPIC_API_KEY=k"} },
			strict.New(t, strict.Anthropic, strict.Limits{NoPrefill: true}),
			[]strict.Part{strict.Thinking("hm", "c2lnbg==")},
		},
		{
			"openai", "openai:gpt-5", func(url string) []string { return []string{"OPENAI_BASE_URL=" + url + "/v1", "OPENAI_API_KEY=k"} },
			strict.New(t, strict.Responses, strict.Limits{}),
			[]strict.Part{strict.Thinking("hm", "gAAAAABo")},
		},
		{
			"gemini", "gemini:gemini-3-pro", func(url string) []string { return []string{"GOOGLE_GEMINI_BASE_URL=" + url, "GEMINI_API_KEY=k"} },
			strict.New(t, strict.Gemini, strict.Limits{Signatures: true}),
			[]strict.Part{strict.Thinking("hm", "c2lnbg==")},
		},
	}
}

// agent returns the command of the agent.
func (p provider) agent(t *testing.T, in string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Env = append(os.Environ(), append(p.env(p.server.URL), "RUN_AGENT=1", "COSMOS_ENDPOINT=")...)
	cmd.Stdin = strings.NewReader(in)
	return cmd
}

// shown is what a command writes, for many goroutines.
type shown struct {
	mu  sync.Mutex
	all bytes.Buffer
}

func (s *shown) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all.Write(b)
}

func (s *shown) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all.String()
}

// TestModel has a prompt, a call that is allowed, and an answer in which the agent is killed; it
// goes on, has a rejected call, is killed in a call, and goes on with another question.
func TestModel(t *testing.T) {
	t.Parallel()
	for _, p := range providersOf(t) {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			s, top, held, free := p.server, t.TempDir(), make(chan struct{}), make(chan struct{})
			dir := filepath.Join(top, "project", "sessions")
			signature := map[bool]string{true: "c2lnbg=="}[p.name == "gemini"]
			call := func(id string) strict.Answer {
				return strict.Answer{Parts: append(p.thinking, strict.Text("I look."), strict.Call(id, toolName, `{}`, signature))}
			}
			once, release := sync.OnceFunc(func() { close(held); <-free }), sync.OnceFunc(func() { close(free) })
			defer release()
			s.Script(call("call_1"), strict.Answer{Chunk: 4, Parts: []strict.Part{strict.Text("There are some files here.")}, Pause: func(n int) {
				if n == 5 {
					once()
				}
			}})
			arguments := func(more ...string) []string {
				return append([]string{"-model", p.model, "-dir", dir, "-id", "s"}, more...)
			}
			var out shown
			cmd := p.agent(t, "y\n", arguments("What is here?")...)
			cmd.Stdout, cmd.Stderr = &out, &out
			require.NoError(t, cmd.Start())
			ended := make(chan error, 1)
			go func() { ended <- cmd.Wait() }()
			select {
			case <-held:
			case err := <-ended:
				require.NoError(t, err, "%s", &out)
				require.FailNow(t, "it ended before it was killed", "%s", &out)
			}
			st, err := sessionstore.Open(dir, nil)
			require.NoError(t, err)
			defer st.Close()
			require.Eventually(t, func() bool { // on the disk, and in the terminal
				d, err := turn.ReadDraft(t.Context(), st, "s")
				return err == nil && d.Text != "" && strings.Contains(out.String(), d.Text)
			}, time.Minute, 10*time.Millisecond, "%s", &out)
			require.NoError(t, cmd.Process.Kill())
			require.Error(t, <-ended)
			release()
			require.Contains(t, out.String(), "I look.")
			require.Contains(t, out.String(), "allow "+toolName)

			run := func(in string, args ...string) string {
				t.Helper()
				said, err := p.agent(t, in, arguments(args...)...).CombinedOutput()
				require.NoError(t, err, "%s", said)
				return string(said)
			}
			s.Script(strict.Answer{Parts: []strict.Part{strict.Text("There are files.")}})
			require.Contains(t, run(""), "There are files.")
			s.Script(call("call_2"), strict.Answer{Parts: []strict.Part{strict.Text("You said no.")}})
			require.Contains(t, run("n\n", "And now?"), "You said no.")

			s.Script(call("call_3"))
			said, err := p.agent(t, "", arguments("Once more?")...).CombinedOutput() // nobody answers whether it may
			require.Error(t, err, "%s", said)
			s.Script(strict.Answer{Parts: []strict.Part{strict.Text("Good bye.")}})
			require.Contains(t, run("", "Bye."), "Good bye.")

			session, err := st.Load(t.Context(), "s")
			require.NoError(t, err)
			var rows []string
			for _, m := range session.Messages {
				rows = append(rows, m.Role()+" "+m.Content())
			}
			require.Equal(t, []string{"user What is here?", "assistant I look.", rows[2], "assistant There are files.", "user And now?", "assistant I look.", rows[6], "assistant You said no."}, rows[:8])
			require.Contains(t, rows[2], "main.go", "the approved call")
			require.NotContains(t, rows[6], "main.go", "the rejected call")
			require.Equal(t, "assistant Good bye.", rows[len(rows)-1])
			require.Empty(t, s.Refusals())
			require.Len(t, s.Requests(), 7)

			all, err := projects.Open(top, nil)
			require.NoError(t, err)
			defer all.Close()
			var sum eventslog.Usage // as `sessions stats` sums it up
			for u, err := range all.Usage(t.Context(), projects.Query{}) {
				require.NoError(t, err)
				require.Equal(t, p.name, u.Provider)
				require.Equal(t, "s", u.Session)
				require.NoError(t, sum.Add(u.Usage))
			}
			require.Equal(t, 6, sum.Responses, "all but the answer in which it was killed")
			require.Equal(t, []int64{60, 30}, []int64{sum.Input, sum.Output})
		})
	}
}

// TestModels has a session go from one provider to the next, each with a call.
func TestModels(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, p := range providersOf(t) {
		call := strict.Call(p.name, toolName, `{}`, map[bool]string{true: "c2lnbg=="}[p.name == "gemini"])
		p.server.Script(strict.Answer{Parts: append(p.thinking, call)}, strict.Answer{Parts: []strict.Part{strict.Text("I am " + p.name + ".")}})
		said, err := p.agent(t, "y\n", "-model", p.model, "-dir", dir, "-id", "s", "Who are you?").CombinedOutput()
		require.NoError(t, err, "%s", said)
		require.Contains(t, string(said), "I am "+p.name+".")
		require.Empty(t, p.server.Refusals())
	}
}

// TestModelNeedsKey names the variable that lacks, and stores nothing.
func TestModelNeedsKey(t *testing.T) {
	for name, variable := range map[string]string{"anthropic:m": "ANTHROPIC_API_KEY", "openai:m": "OPENAI_API_KEY", "gemini:m": "GEMINI_API_KEY"} {
		t.Setenv(variable, "")
		dir := t.TempDir()
		require.ErrorContains(t, run(t.Context(), io.Discard, "-model", name, "-dir", dir, "q"), variable)
		left, err := os.ReadDir(dir)
		require.NoError(t, err)
		require.Empty(t, left)
	}
	for _, name := range []string{"anthropic", "anthropic:", "other:m", ":m"} {
		require.ErrorContains(t, run(t.Context(), io.Discard, "-model", name, "q"), "anthropic:NAME")
	}
}
