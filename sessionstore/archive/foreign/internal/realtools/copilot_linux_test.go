package realtools

import (
	"bufio"
	"bytes"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign"
)

// copilotPackage is the GitHub Copilot CLI on npm, copilotPinned the version that each run proves, and
// copilotSDK the library that drives it.
const copilotPackage, copilotPinned, copilotSDK = "@github/copilot", "1.0.102", "@github/copilot-sdk@1.0.14"

// TestRealCopilot proves imports and exports with the GitHub Copilot CLI, with the pinned version and
// the newest one. The model refuses what the provider refuses.
func TestRealCopilot(t *testing.T) {
	testenv.Soak(t, "it installs the GitHub Copilot CLI")
	t.Run("pinned", func(t *testing.T) { prove(t, installCopilot(t, "pinned-copilot", copilotPinned), newCopilot) })
	t.Run("newest", func(t *testing.T) {
		v := npm(t, t.TempDir(), "view", copilotPackage, "version")
		if !newer("GitHub Copilot CLI "+v, "GitHub Copilot CLI "+copilotPinned) {
			t.Skip("the pinned version is the newest: " + v)
		}
		prove(t, installCopilot(t, "newest-copilot", v), newCopilot)
	})
}

// installCopilot installs the tool, its SDK, and the node that this needs.
func installCopilot(t *testing.T, name, version string) programs {
	t.Helper()
	arch := map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]
	if arch == "" {
		notProven(t, "npm has no node for this machine")
	}
	dir := claim(t, name)
	installPackages(t, dir, nil, copilotPackage+"@"+version, copilotSDK, "node-linux-"+arch+"@22")
	modules := filepath.Join(dir, "node_modules")
	return programs{
		versions: versions{copilot: version}, node: filepath.Join(modules, "node-linux-"+arch, "bin", "node"), modules: modules,
		copilotBin: program(t, modules, copilotPackage+"-linux-"+arch, "copilot"),
	}
}

// copilotTool is the GitHub Copilot CLI with a home.
type copilotTool struct {
	*lab
	user    string // the home directory of its user
	running *sdk
}

func newCopilot(t *testing.T, l *lab) tool {
	t.Helper()
	own := *l // with a model of its own, which refuses
	own.model = newModel(t, l.net)
	own.model.strict = true
	return &copilotTool{lab: &own, user: t.TempDir()}
}

func (c *copilotTool) name() foreign.Tool { return foreign.Copilot }
func (c *copilotTool) home() string       { return filepath.Join(c.user, ".copilot") }
func (c *copilotTool) asks() *model       { return c.model }

func (c *copilotTool) place(t *testing.T, file string) string {
	t.Helper()
	path := filepath.Join(c.home(), "session-state", file)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	return path
}

// command returns a command with a word for the model.
func (c *copilotTool) command(t *testing.T, program string, args ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := limited(t)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = c.work
	cmd.Env = []string{
		"HOME=" + c.user, "PATH=" + os.Getenv("PATH"), "MODULES=" + c.modules, "COPILOT=" + c.copilotBin, "COPILOT_OFFLINE=true", "COPILOT_AUTO_UPDATE=false",
		"COPILOT_MODEL=made-up", "COPILOT_PROVIDER_MAX_PROMPT_TOKENS=2000000", "COPILOT_PROVIDER_TYPE=anthropic", "COPILOT_PROVIDER_BASE_URL=" + c.model.url, "COPILOT_PROVIDER_API_KEY=x",
	}
	return cmd
}

// prompted returns the tool with a prompt in a session.
func (c *copilotTool) prompted(t *testing.T, id, prompt string) *exec.Cmd {
	t.Helper()
	return c.command(t, c.copilotBin, append(foreign.Copilot.Resume(id), "--allow-all-tools", "--silent", "-p", prompt)...)
}

func (c *copilotTool) goOn(t *testing.T, id, prompt string) string {
	t.Helper()
	cmd := c.prompted(t, id, prompt)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	require.NoError(t, c.net.start(cmd))
	require.NoError(t, cmd.Wait(), "%s %s", out.Bytes(), errs.Bytes())
	return strings.TrimSpace(out.String())
}

//go:embed testdata/copilot.mjs
var copilotScript string

// sdk is a running script that drives the tool.
type sdk struct {
	t   *testing.T
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// serve starts the script where none runs.
func (c *copilotTool) serve(t *testing.T) *sdk {
	t.Helper()
	if c.running != nil {
		return c.running
	}
	path := filepath.Join(c.user, "copilot.mjs")
	require.NoError(t, os.WriteFile(path, []byte(copilotScript), 0o600))
	cmd := c.command(t, c.node, path)
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, c.net.start(cmd))
	c.running = &sdk{t, cmd, in, bufio.NewReader(out)}
	return c.running
}

// stop ends the script, and the tool with it.
func (c *copilotTool) stop() {
	if c.running != nil {
		_ = c.running.in.Close()
		_ = c.running.cmd.Wait()
		c.running = nil
	}
}

// call lets the script do a command, and reads the answer into v unless it is nil.
func (s *sdk) call(command string, args object, v any) {
	s.t.Helper()
	row := object{"command": command}
	for name, value := range args {
		row[name] = value
	}
	raw, err := json.Marshal(row)
	require.NoError(s.t, err)
	_, err = s.in.Write(append(raw, '\n'))
	require.NoError(s.t, err)
	line, err := s.out.ReadBytes('\n')
	require.NoError(s.t, err)
	var answer struct {
		Value json.RawMessage
		Error string
	}
	require.NoError(s.t, json.Unmarshal(line, &answer), "%s", line)
	require.Empty(s.t, answer.Error, command)
	if v != nil {
		require.NoError(s.t, json.Unmarshal(answer.Value, v))
	}
}

// say gives a prompt, and adds it and the answer to a talk.
func (s *sdk) say(k *talk, prompt string, files ...string) {
	s.t.Helper()
	attachments, answered := []object{}, ""
	for _, path := range files {
		attachments = append(attachments, object{"type": "file", "path": path})
	}
	s.call("say", object{"prompt": prompt, "attachments": attachments}, &answered)
	*k = append(*k, said{"user", prompt})
	for range files {
		*k = append(*k, said{"user", image(pixel)})
	}
	*k = append(*k, said{"assistant", answered})
}

func (c *copilotTool) list(t *testing.T) (ids []string) {
	t.Helper()
	c.serve(t).call("list", nil, &ids)
	return ids
}

func (c *copilotTool) read(t *testing.T, ids []string) (all [][]said) {
	t.Helper()
	for _, id := range ids {
		var rows []struct {
			Role, Content string
			Pictures      []string
			Hidden        bool
		}
		c.serve(t).call("read", object{"id": id}, &rows)
		var texts []said
		for _, row := range rows {
			if row.Hidden {
				continue
			}
			texts = append(texts, said{row.Role, row.Content})
			for _, data := range row.Pictures {
				texts = append(texts, said{row.Role, image(data)})
			}
		}
		all = append(all, texts)
	}
	c.stop()
	return all
}

// written lets the tool write sessions: three turns with a name and a change of the model, a fork, a
// rewind, a compaction, parallel calls of which two fail, a picture in a prompt and in a result, a
// sub-agent with one of its own, a resume, and a prompt in whose answer the tool is killed.
func (c *copilotTool) written(t *testing.T) (all []history) {
	t.Helper()
	s, id := c.serve(t), ""
	begin := func() *talk {
		s.call("create", nil, &id)
		return &talk{}
	}
	add := func(h history) {
		h.id = id
		all = append(all, h)
	}
	alpha := begin()
	s.say(alpha, "alpha one")
	s.say(alpha, "alpha two")
	s.call("model", object{"name": "claude-sonnet-4.5"}, nil)
	s.say(alpha, "alpha three")
	s.call("name", object{"name": "A made-up name"}, nil)
	add(history{about: "session", said: slices.Clone(*alpha), name: "A made-up name"})
	origin, fork := id, ""
	s.call("fork", nil, &fork)
	s.call("resume", object{"id": fork}, &id)
	s.say(alpha, "beta one")
	add(history{about: "fork", said: *alpha, parent: origin})

	gamma := begin()
	s.say(gamma, "gamma one")
	s.say(gamma, "gamma two")
	s.call("rewind", object{"to": 1}, nil)
	*gamma = (*gamma)[:2]
	s.say(gamma, "gamma three")
	add(history{about: "rewind", said: *gamma})

	eta := begin()
	s.say(eta, "eta one")
	s.say(eta, "eta two")
	s.call("compact", nil, nil)
	s.say(eta, "eta three")
	add(history{about: "compaction", said: *eta})

	picture, err := base64.StdEncoding.DecodeString(pixel)
	require.NoError(t, err)
	path := filepath.Join(c.work, "made-up.png")
	require.NoError(t, os.WriteFile(path, picture, 0o600))
	c.model.calling("theta one", "bash", object{"command": "sleep 1; echo made up", "description": "d"}, call{"bash", object{"command": "echo failed; exit 3", "description": "d"}},
		call{"view", object{"path": path}}, call{"view", object{"path": filepath.Join(c.work, "gone")}})
	theta := begin()
	s.say(theta, "theta one")
	sent, ok := c.model.asked("theta one")
	require.True(t, ok)
	require.Len(t, sent.results, 4)
	shells := []string{"0", "1"} // the shell that began first is 0
	if strings.Contains(sent.results[0], "<shellId: 1 ") {
		slices.Reverse(shells)
	}
	add(history{about: "calls", said: *theta, results: []string{
		"made up\n<shellId: " + shells[0] + " completed with exit code 0>", "failed\n<shellId: " + shells[1] + " completed with exit code 3>", "Viewed image file successfully.", "Path does not exist",
	}})

	iota := begin()
	s.say(iota, "iota one", path)
	c.stop()
	s = c.serve(t)
	s.call("resume", object{"id": id}, nil)
	s.say(iota, "iota two")
	add(history{about: "picture and a resume", said: *iota})

	agent := func(name, prompt string) object {
		return object{"agent_type": "general-purpose", "name": name, "description": "A made-up task", "prompt": prompt}
	}
	c.model.calling("lambda one", "task", agent("outer", "mu one"))
	c.model.calling("mu one", "task", agent("inner", "nu one"))
	lambda := begin()
	s.say(lambda, "lambda one")
	request, ok := c.model.asked("lambda one")
	require.True(t, ok)
	require.Len(t, request.results, 1)
	add(history{about: "sub-agent", said: *lambda, results: request.results, agents: 2})

	kappa := begin()
	s.say(kappa, "kappa one")
	c.stop()
	asked := c.model.holding("kappa two")
	cmd := c.prompted(t, id, "kappa two")
	require.NoError(t, c.net.start(cmd))
	<-asked
	require.Eventually(t, func() bool { // else the tool has the prompt in its memory alone
		raw, err := os.ReadFile(c.place(t, id+"/events.jsonl"))
		return err == nil && bytes.Contains(raw, []byte("kappa two"))
	}, callLimit, 10*time.Millisecond)
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	s = c.serve(t)
	s.call("resume", object{"id": id}, nil)
	s.say(kappa, "kappa three")
	(*kappa)[2].text = "kappa two\n\n" + (*kappa)[2].text
	add(history{about: "kill", said: *kappa})
	c.stop()
	return all
}
