package acp

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	proto "github.com/coder/acp-go-sdk"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore/turn"
)

// acpxVersion is the version of the client that TestAcpx runs.
const acpxVersion = "0.19.1"

// acpx is a client of the protocol from npm, with an agent of [childAgent].
type acpx struct {
	home, work, projects string
	bin, agent           string
}

// command returns a command of acpx.
func (x *acpx) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, x.bin, append([]string{"--agent", x.agent, "--approve-all"}, args...)...)
	cmd.Dir, cmd.Env = x.work, append(os.Environ(), "HOME="+x.home)
	return cmd
}

// run runs a command of acpx to its end and returns what it prints.
func (x *acpx) run(t *testing.T, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	out, err := x.command(ctx, args...).CombinedOutput()
	require.NoError(t, err, "%q: %s", args, out)
	return string(out)
}

// start starts a prompt and returns once its draft holds a text. The result ends with it. A draft of a
// prompt before may be left: acpx ends an agent that does not answer a cancel within 2.5 s.
func (x *acpx) start(t *testing.T, id, prompt, draft string) (out *strings.Builder, ended <-chan error) {
	t.Helper()
	st := stored(t, x.projects, x.work)
	before, err := turn.ReadDraft(t.Context(), st, id)
	require.NoError(t, err)
	out = &strings.Builder{}
	cmd := x.command(t.Context(), "prompt", prompt)
	cmd.Stdout, cmd.Stderr = out, out
	require.NoError(t, cmd.Start())
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	require.Eventually(t, func() bool {
		d, err := turn.ReadDraft(t.Context(), st, id)
		return err == nil && d.Text == draft && d.Prompt > before.Prompt || len(done) > 0
	}, 2*time.Minute, 20*time.Millisecond, "%q", draft)
	if len(done) > 0 {
		require.FailNow(t, "acpx ended before it was killed", "%v: %s", <-done, out)
	}
	return out, done
}

// kill kills the agent that acpx runs.
func (x *acpx) kill(t *testing.T) {
	t.Helper()
	pid, err := os.ReadFile(x.agent + ".pid")
	require.NoError(t, err)
	var n int
	_, err = fmt.Sscan(string(pid), &n)
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(n, syscall.SIGKILL))
}

// TestAcpx lets a client that was not made for this library begin, ask, list, load, cancel
// and resume, with agents that are killed in an answer and in a call.
func TestAcpx(t *testing.T) {
	t.Parallel()
	testenv.Soak(t, "it installs acpx")
	_, err := exec.LookPath("npm")
	testenv.Need(t, err == nil, "npm")
	top, err := os.MkdirTemp("", "acpx-")
	require.NoError(t, err)
	t.Cleanup(func() { // acpx and the last agent may still write
		require.Eventually(t, func() bool { return os.RemoveAll(top) == nil }, time.Minute, 100*time.Millisecond)
	})
	x := &acpx{home: filepath.Join(top, "home"), work: filepath.Join(top, "work"), projects: filepath.Join(top, "projects")}
	for _, dir := range []string{x.home, x.work} {
		require.NoError(t, os.Mkdir(dir, 0o700))
	}
	install := exec.CommandContext(t.Context(), "npm", "install", "--prefix", x.home, "--no-audit", "--no-fund", "acpx@"+acpxVersion)
	out, err := install.CombinedOutput()
	require.NoError(t, err, "%s", out)
	x.bin, x.agent = filepath.Join(x.home, "node_modules", ".bin", "acpx"), filepath.Join(x.home, "agent")
	program, err := os.Executable()
	require.NoError(t, err)
	script := func(name string) {
		require.NoError(t, os.WriteFile(x.agent, []byte("#!/bin/sh\necho $$ >\"$0.pid\"\nexport TESTENV_CHILD=agent TESTENV_CHILD_ARGUMENT="+name+" TESTENV_KILL_AT=0\nexec '"+program+"' '"+x.projects+"'\n"), 0o700))
	}
	script("resumes")

	id := regexp.MustCompile(`[0-9a-f-]{36}`).FindString(x.run(t, "sessions", "new"))
	t.Cleanup(func() { _ = x.command(context.Background(), "sessions", "close").Run() }) // ends the process that acpx leaves, and its agent
	require.Contains(t, x.run(t, "prompt", "first"), "You said first")

	shown, ended := x.start(t, id, "slow", "Half an answer")
	require.Contains(t, x.run(t, "cancel"), "cancel requested")
	require.NoError(t, <-ended)
	require.Contains(t, shown.String(), "[done] cancelled")
	_, ended = x.start(t, id, "slow", "Half an answer")
	x.kill(t)
	require.Error(t, <-ended)
	require.Contains(t, x.run(t, "prompt", "second"), "You said second", "it resumed the session")
	shown, ended = x.start(t, id, "call", "It flies")
	x.kill(t)
	require.Error(t, <-ended)
	require.Contains(t, shown.String(), "launch")
	script("loads") // and cannot resume: acpx loads then
	require.Contains(t, x.run(t, "prompt", "third"), "You said third")
	require.Contains(t, x.run(t, "sessions", "list"), id+"\tfirst\t"+x.work+"\t", "last: it runs an agent of its own, which is in the file then")

	launched, err := os.ReadFile(filepath.Join(x.work, "launched"))
	require.NoError(t, err)
	require.Equal(testenv.Lost(t), "launched\n", string(launched))
	half := []string{"user: slow", "thought: Hm.", "agent: Half an answer"}
	talk := append([]string{"user: first", "agent: You said first"}, append(append(half, half...), "user: second", "agent: You said second", "user: call", "agent: I launch.", "call c: launch map[] pending")...)
	loaded := connect(t, x.projects, &tester{}).load(t, proto.SessionId(id), x.work)
	require.Equal(testenv.Lost(t), talk, loaded[:len(talk)])
	require.Contains(t, loaded[len(talk)], "outcome_unknown")
	require.Equal(testenv.Lost(t), []string{"agent: It flies", "user: third", "agent: You said third"}, loaded[len(talk)+1:])
	fmt.Println("acpx: proven with", acpxVersion)
}
