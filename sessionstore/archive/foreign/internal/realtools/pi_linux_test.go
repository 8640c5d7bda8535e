package realtools

import (
	"bufio"
	"bytes"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign"
)

// piPackage is pi on npm, and piPinned the version that each run proves.
const piPackage, piPinned = "@earendil-works/pi-coding-agent", "1.6.0"

// TestRealPi proves imports and exports with pi, with the pinned version and the newest one. The
// model refuses what the provider refuses.
func TestRealPi(t *testing.T) {
	testenv.Soak(t, "it installs pi")
	t.Run("pinned", func(t *testing.T) { prove(t, installPi(t, "pinned-pi", piPinned), newPi) })
	t.Run("newest", func(t *testing.T) {
		v := npm(t, t.TempDir(), "view", piPackage, "version")
		if !newer("pi "+v, "pi "+piPinned) {
			t.Skip("the pinned version is the newest: " + v)
		}
		prove(t, installPi(t, "newest-pi", v), newPi)
	})
}

// installPi installs pi, and the node that it needs.
func installPi(t *testing.T, name, version string) programs {
	t.Helper()
	arch := map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]
	if arch == "" {
		notProven(t, "npm has no node for this machine")
	}
	dir := claim(t, name)
	installPackages(t, dir, nil, piPackage+"@"+version, "node-linux-"+arch+"@22")
	modules := filepath.Join(dir, "node_modules")
	return programs{
		versions: versions{pi: version}, node: filepath.Join(modules, "node-linux-"+arch, "bin", "node"), modules: modules,
		piBin: filepath.Join(modules, piPackage, "dist", "bundle", "cli.js"),
	}
}

// piTool is pi with a home.
type piTool struct {
	*lab
	user string // the home directory of its user
}

//go:embed testdata/back.ts
var back string

func newPi(t *testing.T, l *lab) tool {
	t.Helper()
	own := *l // with a model of its own, which refuses
	own.model = newModel(t, l.net)
	own.model.strict = true
	c := &piTool{&own, t.TempDir()}
	dir := filepath.Dir(c.place(t, "x"))
	require.NoError(t, os.MkdirAll(dir, 0o700))
	models := object{"providers": object{"made-up": object{
		"baseUrl": own.model.url, "apiKey": "x", "api": "anthropic-messages",
		"models": []any{object{"id": "made-up", "name": "Made up", "reasoning": false, "input": []string{"text", "image"}, "contextWindow": 2_000_000, "maxTokens": 4096}},
	}}}
	for name, v := range map[string]any{"models.json": models, "settings.json": object{"defaultProvider": "made-up", "defaultModel": "made-up", "compaction": object{"keepRecentTokens": 30}}} {
		raw, err := json.Marshal(v)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(c.home(), name), raw, 0o600))
	}
	require.NoError(t, os.WriteFile(filepath.Join(c.user, "back.ts"), []byte(back), 0o600))
	return c
}

func (c *piTool) name() foreign.Tool { return foreign.Pi }
func (c *piTool) home() string       { return filepath.Join(c.user, ".pi", "agent") }
func (c *piTool) stop()              {}
func (c *piTool) asks() *model       { return c.model }

func (c *piTool) place(t *testing.T, file string) string {
	t.Helper()
	return filepath.Join(c.home(), "sessions", "--"+strings.ReplaceAll(c.work[1:], "/", "-")+"--", file)
}

// command returns a command of node, with a word for the model.
func (c *piTool) command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := limited(t)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, c.node, args...)
	cmd.Dir = c.work
	cmd.Env = []string{"HOME=" + c.user, "PATH=" + os.Getenv("PATH"), "PI_OFFLINE=1", "PI_TELEMETRY=0", "PI_SKIP_VERSION_CHECK=1", "MODULES=" + c.modules}
	return cmd
}

// run runs node to its end and returns its output.
func (c *piTool) run(t *testing.T, args ...string) []byte {
	t.Helper()
	cmd := c.command(t, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	require.NoError(t, c.net.start(cmd))
	require.NoError(t, cmd.Wait(), "%q: %s %s", args, out.Bytes(), errs.Bytes())
	return out.Bytes()
}

var workedIn = regexp.MustCompile(`"cwd":"(?:[^"\\]|\\.)*"`)

// goOn resumes a session, which has to be of the working directory.
func (c *piTool) goOn(t *testing.T, id, prompt string) string {
	t.Helper()
	found, err := filepath.Glob(c.place(t, "*_"+id+".jsonl"))
	require.NoError(t, err)
	require.Len(t, found, 1)
	raw, err := os.ReadFile(found[0])
	require.NoError(t, err)
	head, rest, _ := bytes.Cut(raw, []byte("\n"))
	head = workedIn.ReplaceAll(head, []byte(`"cwd":"`+c.work+`"`))
	require.NoError(t, os.WriteFile(found[0], slices.Concat(head, []byte("\n"), rest), 0o600))
	args := append([]string{c.piBin}, foreign.Pi.Resume(id)...)
	return strings.TrimSpace(string(c.run(t, append(args, "-p", prompt)...)))
}

// piScript asks the SDK of pi.
//
//go:embed testdata/pi.mjs
var piScript string

// ask runs the script and reads its answer into v.
func (c *piTool) ask(t *testing.T, v any, args ...string) {
	t.Helper()
	path := filepath.Join(c.user, "pi.mjs")
	require.NoError(t, os.WriteFile(path, []byte(piScript), 0o600))
	out := c.run(t, append([]string{path}, args...)...)
	require.NoError(t, json.Unmarshal(out, v), "%s", out)
}

func (c *piTool) list(t *testing.T) (ids []string) {
	t.Helper()
	c.ask(t, &ids)
	return ids
}

func (c *piTool) read(t *testing.T, ids []string) (all [][]said) {
	t.Helper()
	var sessions [][]item
	c.ask(t, &sessions, ids...)
	for _, rows := range sessions {
		var texts []said
		for _, row := range rows {
			if row.Role == "user" || row.Role == "assistant" {
				texts = append(texts, row.said()...)
			}
		}
		all = append(all, texts)
	}
	return all
}

// rpc is a running pi.
type rpc struct {
	t   *testing.T
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
	n   int
}

// serve starts pi.
func (c *piTool) serve(t *testing.T, args ...string) *rpc {
	t.Helper()
	cmd := c.command(t, append([]string{c.piBin, "--mode", "rpc", "-e", filepath.Join(c.user, "back.ts")}, args...)...)
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, c.net.start(cmd))
	return &rpc{t, cmd, in, bufio.NewReader(out), 0}
}

// piEvent is a line of pi.
type piEvent struct {
	Type, ID, Error string
	Success         bool
	Data            json.RawMessage
	Messages        []item
}

func (r *rpc) next(until func(piEvent) bool) (e piEvent) {
	r.t.Helper()
	for {
		line, err := r.out.ReadBytes('\n')
		require.NoError(r.t, err)
		e = piEvent{}
		if json.Unmarshal(line, &e) == nil && until(e) {
			return e
		}
	}
}

// send sends a command, and call waits for its response, too.
func (r *rpc) send(command object) string {
	r.t.Helper()
	r.n++
	command["id"] = fmt.Sprint(r.n)
	raw, err := json.Marshal(command)
	require.NoError(r.t, err)
	_, err = r.in.Write(append(raw, '\n'))
	require.NoError(r.t, err)
	return fmt.Sprint(r.n)
}

func (r *rpc) call(command object, v any) {
	r.t.Helper()
	id := r.send(command)
	e := r.next(func(e piEvent) bool { return e.Type == "response" && e.ID == id })
	require.True(r.t, e.Success, "%v: %s", command, e.Error)
	if v != nil {
		require.NoError(r.t, json.Unmarshal(e.Data, v))
	}
}

// say gives pi a prompt, and adds it and the answer to a talk.
func (r *rpc) say(k *talk, prompt string, images ...any) {
	r.t.Helper()
	r.call(object{"type": "prompt", "message": prompt, "images": images}, nil)
	e := r.next(func(e piEvent) bool { return e.Type == "agent_end" })
	answers := e.Messages[len(e.Messages)-1].said()
	require.Len(r.t, answers, 1)
	*k = append(*k, said{"user", prompt})
	if len(images) > 0 {
		*k = append(*k, said{"user", image(pixel)})
	}
	*k = append(*k, answers[0])
}

func (r *rpc) id() string {
	r.t.Helper()
	var state struct{ SessionID string }
	r.call(object{"type": "get_state"}, &state)
	return state.SessionID
}

// end ends pi.
func (r *rpc) end() {
	_ = r.in.Close()
	_ = r.cmd.Wait()
}

// written lets pi write sessions: three turns with a name, a fork, a rewind, a compaction, parallel
// calls of which one fails, pictures in a prompt and in a result, a resume with a command of the
// shell, and a prompt in whose answer pi is killed.
func (c *piTool) written(t *testing.T) (all []history) {
	t.Helper()
	r := c.serve(t)
	begin := func() *talk {
		r.end()
		r = c.serve(t)
		return &talk{}
	}
	alpha := &talk{}
	r.say(alpha, "alpha one")
	r.say(alpha, "alpha two")
	r.say(alpha, "alpha three")
	r.call(object{"type": "set_session_name", "name": "A made-up name"}, nil)
	origin := r.id()
	all = append(all, history{about: "session", id: origin, said: *alpha, name: "A made-up name"})
	var forks struct {
		Messages []struct{ EntryID, Text string }
	}
	r.call(object{"type": "get_fork_messages"}, &forks)
	r.call(object{"type": "fork", "entryId": forks.Messages[1].EntryID}, nil)
	beta := talk(slices.Clone((*alpha)[:2]))
	r.say(&beta, "beta one")
	all = append(all, history{about: "fork", id: r.id(), said: beta, parent: origin})

	gamma := begin()
	r.say(gamma, "gamma one")
	hidden := slices.Clone(*gamma)
	r.say(&hidden, "gamma two")
	r.say(&hidden, "gamma three")
	r.call(object{"type": "prompt", "message": "/back gamma two"}, nil)
	r.say(gamma, "gamma four")
	all = append(all, history{about: "rewind", id: r.id(), said: *gamma, branch: hidden})

	eta := begin()
	for _, prompt := range []string{"eta one", "eta two", "eta three"} {
		r.say(eta, prompt+strings.Repeat(" made-up", 20))
	}
	r.call(object{"type": "compact"}, nil)
	r.say(eta, "eta four")
	all = append(all, history{about: "compaction", id: r.id(), said: *eta})

	picture, err := base64.StdEncoding.DecodeString(pixel)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(c.work, "made-up.png"), picture, 0o600))
	c.model.calling("theta one", "bash", object{"command": "echo made up"}, call{"bash", object{"command": "echo failed; exit 3"}}, call{"read", object{"path": "made-up.png"}})
	theta := begin()
	r.say(theta, "theta one")
	all = append(all, history{about: "calls", id: r.id(), said: *theta, results: []string{"made up\n", "failed\n\n\nCommand exited with code 3", "Read image file [image/png]"}})

	iota := begin()
	r.say(iota, "iota one", object{"type": "image", "data": pixel, "mimeType": "image/png"})
	id := r.id()
	r.end()
	r = c.serve(t, "--session", id)
	r.call(object{"type": "bash", "command": "echo made up"}, nil)
	r.say(iota, "iota two")
	all = append(all, history{about: "picture and a resume", id: id, said: *iota})

	kappa := begin()
	r.say(kappa, "kappa one")
	id = r.id()
	asked := c.model.holding("kappa two")
	r.send(object{"type": "prompt", "message": "kappa two"})
	<-asked
	require.NoError(t, r.cmd.Process.Kill())
	r.end()
	r = c.serve(t, "--session", id)
	k := *kappa
	r.say(&k, "kappa three")
	k[2].text = "kappa two\n\n" + k[2].text
	all = append(all, history{about: "kill", id: id, said: k})
	r.end()
	return all
}
