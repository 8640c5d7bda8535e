package realtools

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign"
)

// claudeCode is Claude Code with a home.
type claudeCode struct {
	*lab
	user string // the home directory of its user
}

func newClaude(t *testing.T, l *lab) tool {
	t.Helper()
	return &claudeCode{l, t.TempDir()}
}

func (c *claudeCode) name() foreign.Tool { return foreign.Claude }
func (c *claudeCode) home() string       { return filepath.Join(c.user, ".claude") }
func (c *claudeCode) stop()              {}
func (c *claudeCode) asks() *model       { return c.model }

var noLetter = regexp.MustCompile(`[^A-Za-z0-9]`)

func (c *claudeCode) place(t *testing.T, file string) string {
	t.Helper()
	dir := filepath.Join(c.home(), "projects", noLetter.ReplaceAllString(c.work, "-"))
	require.NoError(t, os.MkdirAll(dir, 0o700))
	return filepath.Join(dir, file)
}

// run runs a program of Claude Code to its end and returns its output.
func (c *claudeCode) run(t *testing.T, name string, args ...string) []byte {
	t.Helper()
	ctx, cancel := limited(t)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	var out, errs bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = c.work, &out, &errs
	cmd.Env = c.env()
	require.NoError(t, c.net.start(cmd))
	require.NoError(t, cmd.Wait(), "%s %q: %s %s", name, args, out.Bytes(), errs.Bytes())
	return out.Bytes()
}

// command returns a call of Claude Code.
func (c *claudeCode) command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := limited(t)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, c.claudeBin, args...)
	cmd.Dir, cmd.Env = c.work, c.env()
	return cmd
}

func (c *claudeCode) env() []string {
	return []string{
		"HOME=" + c.user, "PATH=" + os.Getenv("PATH"), "ANTHROPIC_BASE_URL=" + c.model.url, "ANTHROPIC_API_KEY=sk-made-up",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1", "DISABLE_TELEMETRY=1", "MODULES=" + c.modules,
	}
}

// result is what Claude Code says at its end.
type result struct {
	Result  string
	Session string `json:"session_id"`
	IsError bool   `json:"is_error"`
}

// say gives Claude Code a prompt.
func (c *claudeCode) say(t *testing.T, prompt string, args ...string) (r result) {
	t.Helper()
	out := c.run(t, c.claudeBin, append([]string{"-p", prompt, "--output-format", "json"}, args...)...)
	require.NoError(t, json.Unmarshal(out, &r), "%s", out)
	require.False(t, r.IsError, "%s", out)
	return r
}

func (c *claudeCode) goOn(t *testing.T, id, prompt string) string {
	t.Helper()
	r := c.say(t, prompt, "--resume", id)
	require.Equal(t, id, r.Session)
	return r.Result
}

// script asks the Agent SDK.
//
//go:embed testdata/read.mjs
var script string

// ask runs the script and reads its answer into v.
func (c *claudeCode) ask(t *testing.T, v any, args ...string) {
	t.Helper()
	path := filepath.Join(c.user, "read.mjs")
	require.NoError(t, os.WriteFile(path, []byte(script), 0o600))
	out := c.run(t, c.node, append([]string{path}, args...)...)
	require.NoError(t, json.Unmarshal(out, v), "%s", out)
}

func (c *claudeCode) list(t *testing.T) (ids []string) {
	t.Helper()
	c.ask(t, &ids)
	return ids
}

func (c *claudeCode) read(t *testing.T, ids []string) (all [][]said) {
	t.Helper()
	var sessions [][]item
	c.ask(t, &sessions, ids...)
	for _, rows := range sessions {
		var texts []said
		for _, row := range rows {
			texts = append(texts, row.said()...)
		}
		all = append(all, texts)
	}
	return all
}
