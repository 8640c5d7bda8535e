package anthropic_test

import (
	"bytes"
	"go/format"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/eventslog"
	"github.com/amplifier-go/sessionstorage/internal/test/strict"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

func TestMain(m *testing.M) { testenv.Main(m, nil) }

// TestAgent builds the agent of the README and runs it with a server that refuses what
// Anthropic refuses: a prompt with an approved and a rejected call, and one after a kill.
func TestAgent(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../README.md")
	require.NoError(t, err)
	_, code, _ := strings.Cut(string(page), "```go\n")
	code, _, found := strings.Cut(code, "```")
	require.True(t, found)
	formatted, err := format.Source([]byte(code))
	require.NoError(t, err)
	require.Equal(t, string(formatted), code)
	require.LessOrEqual(t, strings.Count(code, "\n"), 60)

	dir := t.TempDir()
	write(t, filepath.Join(dir, "main.go"), code)
	write(t, filepath.Join(dir, "go.mod"), moduleOf(t))
	sums, err := os.ReadFile("go.sum")
	require.NoError(t, err)
	write(t, filepath.Join(dir, "go.sum"), string(sums))
	run(t, dir, "", "go", "vet", ".")
	run(t, dir, "", "go", "build", "-o", "agent.exe", ".")

	s := strict.New(t, strict.Anthropic, strict.Limits{NoPrefill: true})
	s.Script(
		strict.Answer{Parts: []strict.Part{
			strict.Thinking("hm", "c2lnbg=="), strict.Text("I look."),
			strict.Call("toolu_1", "read_file", `{"path": "main.go"}`), strict.Call("toolu_2", "read_file", `{"path": "go.mod"}`),
		}},
		strict.Answer{Parts: []strict.Part{strict.Text("It is an agent.")}},
		strict.Answer{Parts: []strict.Part{strict.Text("Good bye.")}},
	)
	env := []string{"ANTHROPIC_BASE_URL=" + s.URL, "ANTHROPIC_API_KEY=k"}
	out := run(t, dir, "y\nn\n", filepath.Join(dir, "agent.exe"), "What is here?", env...)
	require.Contains(t, out, "I look.")
	require.Contains(t, out, "It is an agent.")

	st, err := sessionstore.Open(filepath.Join(dir, "sessions"), nil)
	require.NoError(t, err)
	defer st.Close()
	session, err := st.Load(t.Context(), "agent")
	require.NoError(t, err)
	require.Len(t, session.Messages, 5)
	require.Equal(t, code, session.Messages[2].Content(), "the approved call")
	require.NotContains(t, session.Messages[3].Content(), "module", "the rejected call")

	// A kill leaves a call without a result. The next run goes on.
	left, err := sessionstore.ToolCallMessage("", noon, sessionstore.ToolCall{ID: "toolu_3", Name: "read_file", Arguments: []byte(`{"path": "x"}`)})
	require.NoError(t, err)
	asked, err := sessionstore.Text("user", "And?", noon)
	require.NoError(t, err)
	require.NoError(t, st.Append(t.Context(), "agent", asked, left))
	require.Contains(t, run(t, dir, "", filepath.Join(dir, "agent.exe"), "Bye.", env...), "Good bye.")
	require.Empty(t, s.Refusals())
	require.Len(t, s.Requests(), 3)

	events, err := eventslog.Open(filepath.Join(dir, "sessions", "agent"), nil)
	require.NoError(t, err)
	defer events.Close()
	var sum eventslog.Usage
	for u, err := range events.Usage(t.Context(), nil) {
		require.NoError(t, err)
		require.NoError(t, sum.Add(u))
	}
	require.Equal(t, 3, sum.Responses)
	require.Positive(t, sum.Input)
}

// moduleOf returns the go.mod of this module for a program.
func moduleOf(t *testing.T) string {
	t.Helper()
	raw, err := os.ReadFile("go.mod")
	require.NoError(t, err)
	here, err := filepath.Abs(".")
	require.NoError(t, err)
	top, err := filepath.Abs("../../..")
	require.NoError(t, err)
	const module = "github.com/amplifier-go/sessionstorage/sessionstore/bridge/anthropic"
	text := regexp.MustCompile(`(?m)^module .*$`).ReplaceAllString(string(raw), "module example.com/agent")
	text = strings.Replace(text, "=> ../../..", "=> "+strconv.Quote(top), 1)
	return text + "\nrequire " + module + " v0.0.0\n\nreplace " + module + " => " + strconv.Quote(here) + "\n"
}

func write(t *testing.T, path, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
}

// run runs a command in a directory and returns what it wrote.
func run(t *testing.T, dir, in, name, arg string, more ...string) string {
	t.Helper()
	var args, env []string
	for _, a := range more {
		if strings.Contains(a, "=") {
			env = append(env, a)
		} else {
			args = append(args, a)
		}
	}
	cmd := exec.CommandContext(t.Context(), name, append([]string{arg}, args...)...)
	var out bytes.Buffer
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = dir, strings.NewReader(in), &out, &out
	cmd.Env = append(os.Environ(), env...)
	err := cmd.Run()
	require.NoError(t, err, out.String())
	return out.String()
}
