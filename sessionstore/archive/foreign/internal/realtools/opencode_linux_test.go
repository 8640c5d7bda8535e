package realtools

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign"
	"github.com/amplifier-go/sessionstorage/sessionstore/projects"
)

// openCodePinned is the version of opencode that each run proves.
const openCodePinned = "1.18.33"

// openCode is opencode with a home, and a server of it.
type openCode struct {
	*lab
	bin, user string
	url       string
	client    *http.Client
	cmd       *exec.Cmd
}

// TestRealOpenCode lets opencode write sessions, imports them, and lets it go on with exports.
func TestRealOpenCode(t *testing.T) {
	testenv.Soak(t, "it installs opencode")
	for name, version := range map[string]string{"pinned": openCodePinned, "newest": npm(t, t.TempDir(), "view", "opencode-ai", "version")} {
		if name == "newest" && !newer("opencode "+version, "opencode "+openCodePinned) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			c := newOpenCode(t, newLab(t, programs{}), installOpenCode(t, name, version))
			p := openProjects(t)
			wrote := c.written(t)
			found, err := foreign.Find(t.Context(), foreign.OpenCode, &foreign.FindOptions{Home: c.home()})
			require.NoError(t, err)
			require.Len(t, found, len(wrote))
			byID := map[string]foreign.History{}
			for _, h := range found {
				byID[h.ID] = h
			}
			for _, want := range wrote {
				t.Run("import of a "+want.about, func(t *testing.T) {
					h := byID[want.id]
					require.NotEmpty(t, h.Path)
					compare(t, p, h, want)
				})
			}
			for _, k := range own(t, p, c.work)[:4] {
				t.Run("export of "+k.name, func(t *testing.T) { c.goOn(t, p, k) })
			}
			fmt.Printf("real tools: proven with opencode %s: %d sessions\n", version, len(wrote))
		})
	}
}

// installOpenCode installs opencode and returns the program.
func installOpenCode(t *testing.T, name, version string) string {
	t.Helper()
	arch := map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]
	if arch == "" {
		notProven(t, "npm has no opencode for this machine")
	}
	dir := claim(t, name+"-opencode")
	installPackages(t, dir, nil, "opencode-linux-"+arch+"@"+version)
	return filepath.Join(dir, "node_modules", "opencode-linux-"+arch, "bin", "opencode")
}

func newOpenCode(t *testing.T, l *lab, bin string) *openCode {
	t.Helper()
	own := *l // with a model of its own, which refuses
	own.model = newModel(t, l.net)
	own.model.strict = true
	c := &openCode{lab: &own, bin: bin, user: t.TempDir()}
	require.NoError(t, exec.CommandContext(t.Context(), "git", "init", "-q", c.work).Run())
	config := object{
		"autoupdate": false, "share": "disabled", "model": "made-up/made-up", "small_model": "made-up/made-up", "permission": "allow",
		"provider": object{"made-up": object{
			"npm": "@ai-sdk/anthropic", "options": object{"baseURL": c.model.url + "/v1", "apiKey": "x"},
			"models": object{"made-up": object{"name": "Made up", "attachment": true, "tool_call": true, "modalities": object{"input": []string{"text", "image"}, "output": []string{"text"}}, "limit": object{"context": 2_000_000, "output": 4096}}},
		}},
	}
	raw, err := json.Marshal(config)
	require.NoError(t, err)
	dir := filepath.Join(c.user, ".config", "opencode")
	require.NoError(t, os.MkdirAll(dir, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "opencode.json"), raw, 0o600))
	c.client = &http.Client{Transport: &http.Transport{DialContext: func(_ context.Context, network, address string) (conn net.Conn, err error) {
		err = c.net.do(func() (err error) {
			conn, err = net.Dial(network, address)
			return err
		})
		return conn, err
	}}}
	return c
}

func (c *openCode) home() string { return filepath.Join(c.user, ".local", "share", "opencode") }

// command returns a command of opencode.
func (c *openCode) command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := limited(t)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, c.bin, args...)
	cmd.Dir = c.work
	cmd.Env = []string{"HOME=" + c.user, "PATH=" + os.Getenv("PATH"), "OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_DEFAULT_PLUGINS=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1"}
	return cmd
}

// run runs opencode to its end.
func (c *openCode) run(t *testing.T, args ...string) {
	t.Helper()
	cmd := c.command(t, args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	require.NoError(t, c.net.start(cmd))
	require.NoError(t, cmd.Wait(), "%q: %s", args, out.Bytes())
}

// serve starts the server.
func (c *openCode) serve(t *testing.T) {
	t.Helper()
	l := c.net.listen(t)
	_, port, err := net.SplitHostPort(l.Addr().String())
	require.NoError(t, errors.Join(err, l.Close()))
	run := c.command(t, "serve", "--port", port, "--hostname", "127.0.0.1")
	c.cmd = exec.CommandContext(t.Context(), run.Path, run.Args[1:]...) // it answers many calls
	c.cmd.Dir, c.cmd.Env = run.Dir, run.Env
	out, err := c.cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, c.net.start(c.cmd))
	c.url = "http://127.0.0.1:" + port
	said := make([]byte, 1<<16)
	for n := 0; !strings.Contains(string(said[:n]), "listening"); {
		k, err := out.Read(said[n:])
		require.NoError(t, err)
		n += k
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
}

// kill kills the server.
func (c *openCode) kill() {
	_ = c.cmd.Process.Kill()
	_ = c.cmd.Wait()
}

// call calls the server.
func (c *openCode) call(t *testing.T, method, path string, body, answer any) {
	t.Helper()
	raw, err := json.Marshal(body)
	require.NoError(t, err)
	r, err := http.NewRequestWithContext(t.Context(), method, c.url+path+"?directory="+c.work, bytes.NewReader(raw))
	require.NoError(t, err)
	r.Header.Set("Content-Type", "application/json")
	w, err := c.client.Do(r)
	require.NoError(t, err)
	defer w.Body.Close()
	got, err := io.ReadAll(w.Body)
	require.NoError(t, err)
	require.Less(t, w.StatusCode, 300, "%s %s: %s", method, path, got)
	if answer != nil {
		require.NoError(t, json.Unmarshal(got, answer), "%s", got)
	}
}

func (c *openCode) begin(t *testing.T) string {
	t.Helper()
	var s struct{ ID string }
	c.call(t, "POST", "/session", object{}, &s)
	return s.ID
}

// say gives a session a prompt, and adds it and the answer to a talk. It returns the id of the
// answer.
func (c *openCode) say(t *testing.T, id string, k *talk, prompt string, files ...any) string {
	t.Helper()
	var got struct {
		Info  struct{ ID, ParentID string }
		Parts []struct{ Type, Text string }
	}
	c.call(t, "POST", "/session/"+id+"/message", object{"parts": append([]any{object{"type": "text", "text": prompt}}, files...)}, &got)
	*k = append(*k, said{"user", prompt})
	if len(files) > 0 {
		*k = append(*k, said{"user", image(pixel)})
	}
	for _, p := range got.Parts {
		if p.Type == "text" && p.Text != "" {
			*k = append(*k, said{"assistant", p.Text})
		}
	}
	return got.Info.ParentID
}

// written lets opencode write sessions: turns with a name, a fork, a revert with a turn behind it,
// a compaction, parallel calls of which one fails, a picture, a sub-agent, and a prompt in whose
// answer opencode is killed.
func (c *openCode) written(t *testing.T) (all []history) {
	t.Helper()
	c.serve(t)
	var alpha, gamma, eta, theta, iota, kappa, lambda talk
	origin := c.begin(t)
	c.say(t, origin, &alpha, "alpha one")
	c.say(t, origin, &alpha, "alpha two")
	c.call(t, "PATCH", "/session/"+origin, object{"title": "A made-up name"}, nil)
	all = append(all, history{about: "session", id: origin, said: alpha, name: "A made-up name"})

	var fork struct{ ID string }
	c.call(t, "POST", "/session/"+origin+"/fork", object{}, &fork)
	beta := append(talk{}, alpha...)
	c.say(t, fork.ID, &beta, "beta one")
	all = append(all, history{about: "fork", id: fork.ID, said: beta, parent: origin})

	id := c.begin(t)
	c.say(t, id, &gamma, "gamma one")
	back := c.say(t, id, &talk{}, "gamma two")
	c.call(t, "POST", "/session/"+id+"/revert", object{"messageID": back}, nil)
	c.say(t, id, &gamma, "gamma three")
	all = append(all, history{about: "revert", id: id, said: gamma})

	id = c.begin(t)
	c.say(t, id, &eta, "eta one")
	c.say(t, id, &eta, "eta two")
	c.call(t, "POST", "/session/"+id+"/summarize", object{"providerID": "made-up", "modelID": "made-up"}, nil)
	c.say(t, id, &eta, "eta three")
	all = append(all, history{about: "compaction", id: id, said: eta})

	require.NoError(t, os.WriteFile(filepath.Join(c.work, "made-up.txt"), []byte("A made-up line.\n"), 0o600))
	c.model.calling("theta one", "bash", object{"command": "echo made up", "description": "x"}, call{"bash", object{"command": "echo failed; exit 3", "description": "x"}})
	id = c.begin(t)
	c.say(t, id, &theta, "theta one")
	all = append(all, history{about: "calls", id: id, said: theta, results: []string{"made up\n", "failed\n"}})

	id = c.begin(t)
	c.say(t, id, &iota, "iota one", object{"type": "file", "mime": "image/png", "filename": "a.png", "url": "data:image/png;base64," + pixel})
	all = append(all, history{about: "picture", id: id, said: iota})

	c.model.calling("lambda one", "task", object{"description": "sub", "prompt": "Do what was made up.", "subagent_type": "general"})
	id = c.begin(t)
	c.say(t, id, &lambda, "lambda one")
	all = append(all, history{about: "sub-agent", id: id, said: lambda, results: c.model.received(t, "lambda one"), agents: 1})

	id = c.begin(t)
	c.say(t, id, &kappa, "kappa one")
	asked := c.model.holding("kappa two")
	c.call(t, "POST", "/session/"+id+"/prompt_async", object{"parts": []any{object{"type": "text", "text": "kappa two"}}}, nil)
	<-asked
	c.kill()
	c.serve(t)
	before := len(kappa)
	c.say(t, id, &kappa, "kappa three")
	kappa[before].text = "kappa two\n\nkappa three"
	all = append(all, history{about: "kill", id: id, said: kappa})
	c.kill()
	return all
}

// goOn lets opencode import a session and go on with it, with the model that it used last, and
// brings the turn home.
func (c *openCode) goOn(t *testing.T, p *projects.Projects, k kept) {
	t.Helper()
	t.Setenv("XDG_DATA_HOME", filepath.Dir(c.home()))
	file := filepath.Join(t.TempDir(), "export.json")
	done, err := foreign.ExportFile(t.Context(), k.st, k.id, foreign.OpenCode, file, nil)
	require.NoError(t, err)
	before, prompt := spoken(stored(t, k)), "And there, "+k.name+"?"
	c.run(t, foreign.OpenCode.Takes(file)...)
	c.serve(t)
	var got struct{ Parts []struct{ Type, Text string } }
	c.call(t, "POST", "/session/"+done.ID+"/message", object{"parts": []any{object{"type": "text", "text": prompt}}}, &got) // as "opencode run -s" without -m
	c.kill()
	there := []said{{"user", prompt}}
	for _, part := range got.Parts {
		if part.Type == "text" {
			there = append(there, said{"assistant", part.Text})
		}
	}
	c.run(t, foreign.OpenCode.Takes(file)...) // once more, which doubles nothing
	request, ok := c.model.asked(prompt)
	require.True(t, ok)
	for _, s := range before {
		require.Contains(t, request.said, s)
	}
	found, err := foreign.Find(t.Context(), foreign.OpenCode, &foreign.FindOptions{Home: c.home()})
	require.NoError(t, err)
	i := slices.IndexFunc(found, func(h foreign.History) bool { return h.ID == done.ID })
	require.GreaterOrEqual(t, i, 0)
	report, err := foreign.Import(t.Context(), p, found[i], nil)
	require.NoError(t, err)
	require.Equal(t, 1, report.Home[k.id])
	require.Equal(t, append(before, there...), spoken(stored(t, k)))
}
