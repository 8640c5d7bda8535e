//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// screenWait is how long a screen may take to show what a test waits for, on a
// busy machine.
const screenWait = 2 * time.Minute

// pane is a terminal of tmux in which a shell runs.
type pane struct {
	t      *testing.T
	socket string
	dir    string // a home directory, and that of the host's log
}

// openPane opens a terminal of a size, with a home of its own. The variables are
// further ones of the environment.
func openPane(t *testing.T, width, height int, vars ...string) *pane {
	t.Helper()
	_, err := exec.LookPath("tmux")
	testenv.Need(t, err == nil, "tmux is not installed")
	dir, err := os.MkdirTemp("", "picker") // a socket has a short path
	require.NoError(t, err)
	dir, err = filepath.EvalSymlinks(dir)
	require.NoError(t, err)
	p := &pane{t, filepath.Join(dir, "socket"), dir}
	t.Cleanup(func() {
		_ = exec.Command("tmux", "-S", p.socket, "kill-server").Run() // it may have ended with its shell
		// The picker ends some time after its terminal, and may write until then.
		require.Eventually(t, func() bool { return os.RemoveAll(dir) == nil }, time.Minute, 50*time.Millisecond)
	})
	require.NoError(t, os.Mkdir(filepath.Join(dir, "bin"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "rc"), []byte("PS1='$ '\n"), 0o600))
	cmd := exec.Command("tmux", "-u", "-S", p.socket, "-f", "/dev/null", "new-session", "-d", "-x", strconv.Itoa(width), "-y", strconv.Itoa(height), "sh")
	cmd.Env = append([]string{
		"PATH=" + filepath.Join(dir, "bin") + ":" + os.Getenv("PATH"), "HOME=" + dir, "ENV=" + filepath.Join(dir, "rc"), "LC_ALL=C.UTF-8", "TERM=screen-256color",
		"AMPLIFIER_HOME=" + filepath.Join(dir, "home"), "AMPLIFIER_SESSION_STATE_HOME=" + filepath.Join(dir, "state"), "GORACE=atexit_sleep_ms=0",
	}, vars...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	p.tmux("set-option", "-g", "set-clipboard", "on")
	p.shows("$")
	return p
}

func (p *pane) tmux(args ...string) string {
	p.t.Helper()
	out, err := exec.Command("tmux", append([]string{"-S", p.socket}, args...)...).CombinedOutput()
	require.NoError(p.t, err, "tmux %q: %s", args, out)
	return string(out)
}

// keys presses keys, by tmux's names.
func (p *pane) keys(names ...string) {
	p.t.Helper()
	p.tmux(append([]string{"send-keys", "--"}, names...)...)
}

// shows waits until the terminal shows all texts, also where it breaks their lines
// between words, and returns the screen.
func (p *pane) shows(texts ...string) string {
	p.t.Helper()
	return p.until(func(screen string) bool {
		words := strings.Join(strings.Fields(screen), " ")
		for _, text := range texts {
			if !strings.Contains(screen, text) && !strings.Contains(words, text) {
				return false
			}
		}
		return true
	}, texts)
}

// until waits for a screen.
func (p *pane) until(ok func(screen string) bool, what any) string {
	p.t.Helper()
	screen := ""
	for end := time.Now().Add(screenWait); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if screen = p.tmux("capture-pane", "-p"); ok(screen) {
			return screen
		}
	}
	require.FailNow(p.t, "the screen is another one", "%q is not there:\n%s", what, screen)
	return ""
}

// modes is what the terminal was told: the alternate screen, a visible cursor,
// keys, and reports of the mouse.
func (p *pane) modes() string {
	p.t.Helper()
	return p.tmux("display-message", "-p", "#{alternate_on} #{cursor_flag} #{keypad_cursor_flag} #{keypad_flag} #{mouse_any_flag} #{insert_flag}")
}

// command has the shell run a command, and waits until it has ended.
func (p *pane) command(line string) {
	p.t.Helper()
	done := filepath.Join(p.dir, "done")
	require.NoError(p.t, os.RemoveAll(done))
	p.keys(line+"; : >"+done, "Enter")
	require.Eventually(p.t, func() bool {
		_, err := os.Stat(done)
		return err == nil
	}, screenWait, 20*time.Millisecond, "%s\n%s", line, p.tmux("capture-pane", "-p"))
}

// whole returns a function that requires the terminal to be as it is now.
func (p *pane) whole() func() {
	p.t.Helper()
	settings := func() string {
		p.command("stty -g >" + filepath.Join(p.dir, "stty"))
		return p.read("stty")
	}
	before, modes := settings(), p.modes()
	return func() {
		p.t.Helper()
		p.until(func(string) bool { return p.modes() == modes }, "the modes "+modes)
		require.Equal(p.t, before, settings())
	}
}

func (p *pane) read(name string) string {
	p.t.Helper()
	if !filepath.IsAbs(name) {
		name = filepath.Join(p.dir, name)
	}
	b, err := os.ReadFile(name)
	require.NoError(p.t, err)
	return string(b)
}

// host makes a program that resumes sessions. It notes where and how it was
// started, and then runs the lines.
func (p *pane) host(lines string) {
	p.t.Helper()
	script := "#!/bin/sh\necho \"$(pwd -P): $*\" >>" + filepath.Join(p.dir, "log") + "\n" + lines + "\n"
	require.NoError(p.t, os.WriteFile(filepath.Join(p.dir, "bin", "amplifier"), []byte(script), 0o700)) //nolint:gosec // it is run
}

// session stores a session, and returns the directory in which it was held.
func (p *pane) session(project, id, prompt string, old time.Duration) string {
	p.t.Helper()
	work := filepath.Join(p.dir, project)
	require.NoError(p.t, os.MkdirAll(work, 0o700))
	dir := filepath.Join(p.dir, "home", "projects", sessionstore.ProjectSlug(work), "sessions", id)
	require.NoError(p.t, os.MkdirAll(dir, 0o700))
	rows := fmt.Sprintf("{\"role\": \"user\", \"content\": %q}\n{\"role\": \"assistant\", \"content\": \"It is done.\"}\n", prompt)
	rows += "{\"role\": \"user\", \"content\": \"And then?\"}\n{\"role\": \"assistant\", \"content\": \"Nothing more.\"}\n"
	md := fmt.Sprintf(`{"session_id": %q, "created": "2026-11-18T12:00:00+00:00", "model": "some-model", "working_dir": %q}`, id, work)
	at := time.Now().Add(-old)
	for name, text := range map[string]string{"transcript.jsonl": rows, "metadata.json": md} {
		require.NoError(p.t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
		require.NoError(p.t, os.Chtimes(filepath.Join(dir, name), at, at))
	}
	require.NoError(p.t, os.Chtimes(dir, at, at))
	return work
}

// some stores sessions of which the titles are wide, run from right to left, or
// hold what a terminal obeys.
func (p *pane) some() {
	p.session("weather", "11111111-0000-4000-8000-000000000001", "Write a report about Lisbon", 2*time.Hour)
	p.session("weather", "11111111-0000-4000-8000-000000000002", strings.Repeat("日本語のタイトル", 20), 3*time.Hour)
	p.session("weather", "11111111-0000-4000-8000-000000000003", "שלום \u202eevil\u202c e\u0301 👩\u200d👧 ❤\ufe0f end", 30*time.Hour)
	p.session("pool", "22222222-0000-4000-8000-000000000001", "Fix the connection pool", 400*24*time.Hour)
}
