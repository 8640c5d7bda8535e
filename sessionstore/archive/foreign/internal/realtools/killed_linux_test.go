package realtools

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign"
)

// killsOfTool is how often each tool is killed.
const killsOfTool = 12

// TestKilled kills the tools with SIGKILL at random moments: in an answer that comes in pieces,
// in a call, and in calls at once, of which some have a result. Once the session is rescued, the
// tool goes on, and the model, which refuses what the providers refuse, takes all that was said.
func TestKilled(t *testing.T) {
	testenv.Soak(t, "it installs Codex and Claude Code")
	l := newLab(t, install(t, "pinned", pinned))
	l.model.strict = true
	seed := testenv.Seed(t)
	t.Logf("seed %d", seed)
	proven, mended, dead := atomic.Int32{}, atomic.Int32{}, atomic.Int32{}
	t.Run("tools", func(t *testing.T) {
		for _, start := range []func(*testing.T, *lab) tool{newClaude, newCodex} {
			from := start(t, l)
			written := base(t, from)
			for n := range killsOfTool {
				t.Run(fmt.Sprintf("%s %d", from.name(), n), func(t *testing.T) {
					t.Parallel()
					k := kill{n: n, rand: rand.New(rand.NewPCG(seed, uint64(n)))}
					faults, why := k.survive(t, start(t, l), written)
					proven.Add(1)
					mended.Add(int32(min(1, faults)))
					if why != "" {
						dead.Add(1)
					}
				})
			}
		}
	})
	if n := proven.Load(); !t.Failed() && n > 0 {
		fmt.Printf("real tools: proven with %s: %d of %d sessions went on after kill -9; %d had faults, %d were dead before they were rescued\n", pinned, n, 2*killsOfTool, mended.Load(), dead.Load())
	}
}

// kill is one kill of a tool at a random moment.
type kill struct {
	n    int
	rand *rand.Rand
}

// survive lets a tool go on with a session, kills it, rescues the session, and lets the tool go
// on. It returns the number of faults, and why the tool could not go on before, "" where it could.
func (k kill) survive(t *testing.T, to tool, f file) (faults int, why string) {
	path := to.place(t, f.name)
	require.NoError(t, os.WriteFile(path, whole(f.lines), 0o600))
	prompt := fmt.Sprintf("Killed %s %d.", to.name(), k.n)
	says := k.during(t, to, f, path, prompt)
	broken, err := os.ReadFile(path)
	require.NoError(t, err)

	why = tried(t, to, f, wreck{tool: to.name()}, "Going on with dead "+prompt)
	t.Logf("before: %q", why)
	to.stop()
	require.NoError(t, os.RemoveAll(path))
	require.NoError(t, os.WriteFile(path, broken, 0o600)) // without what the tool added

	all := []foreign.Rescued{}
	for r, err := range foreign.Rescue(t.Context(), openProjects(t), to.name(), &foreign.RescueOptions{Home: to.home(), File: path}) {
		require.NoError(t, err)
		all = append(all, r)
	}
	require.Len(t, all, 1)
	for _, fault := range all[0].Faults {
		t.Log("fault:", fault)
	}
	require.True(t, all[0].Mended())
	require.False(t, why != "" && len(all[0].Faults) == 0, "a dead session is called sound")
	id := all[0].NewID
	if len(all[0].Faults) == 0 {
		id = f.id
	}
	now, err := os.ReadFile(path)
	require.NoError(t, err)
	require.True(t, bytes.Equal(broken, now), "the session changed")

	require.True(t, slices.Contains(to.list(t), id), "the tool does not list it")
	onward := "Going on with rescued " + prompt
	answered := to.goOn(t, id, onward)
	request, ok := to.asks().asked(onward)
	require.True(t, ok, "the model was not asked")
	require.Empty(t, request.refused)
	require.Contains(t, answered, "Made-up answer")
	for _, text := range says {
		for line := range bytes.Lines(broken) { // of Codex, a line for people may be written before the one for the model
			if bytes.Contains(line, []byte(text)) && (to.name() == foreign.Claude || bytes.Contains(line, []byte(`"response_item"`))) {
				f.said = append(slices.Clip(f.said), said{"", text})
				break
			}
		}
	}
	missing := slices.DeleteFunc(without(f.said, nil), func(s said) bool {
		return slices.ContainsFunc(request.said, func(r said) bool { return strings.Contains(r.text, s.text) })
	})
	require.Empty(t, missing, "the request lacks")
	return len(all[0].Faults), why
}

// during gives a tool a prompt and kills it at a moment of its turn, and returns what was said in
// it.
func (k kill) during(t *testing.T, to tool, f file, path, prompt string) (says []string) {
	m, calls := to.asks(), k.n%3
	says = []string{prompt}
	if calls == 0 {
		pieces := k.rand.IntN(4)
		sent := m.cutting(prompt, pieces, k.rand.IntN(3))
		end := k.begin(t, to, f, prompt)
		awaited(t, sent)
		for i := range pieces {
			says = append(says, piece(prompt, i))
		}
		wanted := prompt
		if to.name() == foreign.Codex { // Claude Code writes no piece of an answer that has not ended
			wanted = says[len(says)-1]
		}
		until(t, func() bool { return has(path, wanted) })
		end()
		return says
	}
	var pipes []string
	var all []call
	for i := range calls {
		pipes = append(pipes, filepath.Join(t.TempDir(), fmt.Sprint("pipe", i)))
		require.NoError(t, unix.Mkfifo(pipes[i], 0o600))
		name, arguments := "Bash", object{"command": "cat " + pipes[i], "description": "Reads a pipe"}
		if to.name() == foreign.Codex {
			name, arguments = "exec_command", object{"cmd": "cat " + pipes[i], "yield_time_ms": 30000}
		}
		all = append(all, call{name, arguments})
	}
	m.calling(prompt, all[0].name, all[0].arguments, all[1:]...)
	end := k.begin(t, to, f, prompt)
	ends := k.rand.IntN(calls) // so many calls have their result
	for i, pipe := range pipes {
		w := k.opened(t, pipe) // once the call reads it
		if i < ends {
			require.NoError(t, w.Close())
		} else {
			defer w.Close()
			break
		}
	}
	until(t, func() bool { return has(path, prompt) && has(path, "cat "+pipes[0]) })
	end()
	return says
}

// begin gives a tool a prompt, and returns what kills it.
func (k kill) begin(t *testing.T, to tool, f file, prompt string) (end func()) {
	t.Helper()
	switch c := to.(type) {
	case *claudeCode:
		cmd := exec.Command(c.claudeBin, "-p", prompt, "--output-format", "json", "--resume", f.id, "--allowedTools", "Bash")
		cmd.Dir, cmd.Env = c.work, c.env()
		require.NoError(t, c.net.start(cmd))
		return func() {
			require.NoError(t, cmd.Process.Kill())
			require.ErrorContains(t, cmd.Wait(), "killed")
		}
	case *codexTool:
		s := c.server(t)
		s.call("thread/resume", object{"threadId": f.id}, nil)
		s.call("turn/start", object{"threadId": f.id, "input": []any{object{"type": "text", "text": prompt}}}, nil)
		return func() {
			require.NoError(t, s.pid.Kill())
			c.stop()
		}
	}
	return nil
}

// opened opens a pipe for writing once a call reads it.
func (k kill) opened(t *testing.T, pipe string) (w *os.File) {
	t.Helper()
	until(t, func() bool {
		var err error
		w, err = os.OpenFile(pipe, os.O_WRONLY|unix.O_NONBLOCK, 0)
		return err == nil
	})
	return w
}

func has(path, text string) bool {
	data, err := os.ReadFile(path)
	return err == nil && bytes.Contains(data, []byte(text))
}

func awaited(t *testing.T, c <-chan struct{}) {
	t.Helper()
	ctx, cancel := limited(t)
	defer cancel()
	select {
	case <-c:
	case <-ctx.Done():
		require.NoError(t, ctx.Err(), "the model was not asked")
	}
}

// until waits until a tool has done something.
func until(t *testing.T, done func() bool) {
	t.Helper()
	require.Eventually(t, done, callLimit, 5*time.Millisecond)
}
