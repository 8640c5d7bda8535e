//go:build unix

package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// shells are those that have a script of completion: how each starts without the files of the user,
// and what it then reads.
var shells = map[string]struct {
	args  []string
	setup string
	clear string // key that takes back what is on the line
}{
	"bash": {[]string{"--norc", "--noprofile", "-i"}, "PS1='ready> '; bind 'set bell-style none'; bind 'set enable-bracketed-paste off'; bind 'set completion-query-items 0'; bind 'set page-completions off'; source <(sessions completion bash)", "\x15"},
	"zsh":  {[]string{"-f", "-i"}, "PS1='ready> '; LISTMAX=10000; unset zle_bracketed_paste; unsetopt prompt_sp beep; autoload -U compinit; compinit -D; source <(sessions completion zsh)", "\x15"},
	"fish": {[]string{"--no-config", "-i"}, "function fish_prompt; echo -n 'ready> '; end; set -g fish_greeting; set -g fish_autosuggestion_enabled 0; sessions completion fish | source", "\x03"},
}

// hostile are ids, names of projects and names of remotes that a shell would act on, each with
// something in front so that no two are the same.
func hostile() (all []string) {
	marks := []string{
		"'", `"`, ";", "$(touch pwned)", "`touch pwned`", "*", "?", "[a-z]", "~", "~root", "!", "!!", "!touch", "\n", "\ntouch pwned\n", "\t", "\r", "\x01", "\x07", "\x1b[31m", "\x1b]0;x\a", "\x7f",
		"-rf", "--help", "--force", " ", "  ", "#", "# x", "&", "&touch pwned&", "|", "|touch pwned", "<in", ">pwned", ">>pwned", "{a,b}", "{1..3}", "=ls", "=", "a=~", ":", ":~", "$HOME", "${HOME}", "$'x'", "$((1))",
		"\u202e", "\u2066x\u2069", "\u200f", "\u2028", "\u0085", "\ufeff", "é", "日本", "👩‍👩‍👧", "(", ")", "()", "(e:touch pwned:)", "^a^b", "%", "%1", "@", ",", "+", ".", "..", "]", "}", "touch pwned", ";touch pwned;",
		"'touch pwned'", `";touch pwned;"`, "';touch pwned;'", "a'b\"c", "$(touch pwned", "`touch pwned", "&&touch pwned", "||touch pwned", "x;touch pwned #",
	}
	for i, mark := range marks {
		all = append(all, mark, fmt.Sprintf("s%d%s", i, mark), fmt.Sprintf("%se%d", mark, i))
	}
	return slices.DeleteFunc(all, func(s string) bool { return strings.TrimFunc(s, unicode.IsSpace) == "" || strings.HasPrefix(s, ".") })
}

// written reports whether a shell completes a string: no control character, and nothing that a
// terminal hides, is in it, and fish does not expand it.
func written(s string) bool {
	return !strings.HasPrefix(s, "~") && !strings.Contains(s, "=~") && utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool {
		return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029' || r == '\ufeff'
	})
}

// typist is a shell on a terminal. The program sessions of its PATH completes as the tool does, of the
// projects in the directory now, and else records its arguments.
type typist struct {
	t        *testing.T
	dir, cwd string
	what     string // that it completes
	tty      *os.File

	mu    sync.Mutex // guards shown
	shown bytes.Buffer
}

func startShell(t *testing.T, shell string) *typist {
	t.Helper()
	path, err := exec.LookPath(shell)
	testenv.Need(t, err == nil, shell+" is not installed")
	self, err := os.Executable()
	require.NoError(t, err)
	s := &typist{t: t, dir: t.TempDir()}
	s.cwd = filepath.Join(s.dir, "cwd")
	require.NoError(t, os.Mkdir(s.cwd, 0o700))
	bin := filepath.Join(s.dir, "bin")
	require.NoError(t, os.Mkdir(bin, 0o700))
	require.NoError(t, os.Symlink(self, filepath.Join(s.dir, "sessions")))
	script := "#!/bin/sh\ncase $1 in complete|completion) exec '" + s.dir + "/sessions' \"$@\";; esac\nprintf '%s\\0' \"$@\" >'" + s.dir + "/writing'\nmv '" + s.dir + "/writing' '" + s.dir + "/args'\n"
	require.NoError(t, os.WriteFile(filepath.Join(bin, "sessions"), []byte(script), 0o700))
	cmd := exec.Command(path, shells[shell].args...)
	cmd.Dir = s.cwd
	cmd.Env = []string{
		"PATH=" + bin + ":" + os.Getenv("PATH"), "HOME=" + s.dir, "ZDOTDIR=" + s.dir, "XDG_CONFIG_HOME=" + s.dir, "XDG_DATA_HOME=" + s.dir, "LC_ALL=C.UTF-8", "TERM=xterm", "GORACE=atexit_sleep_ms=0",
		"AMPLIFIER_HOME=" + filepath.Join(s.dir, "now"), "AMPLIFIER_SESSION_STATE_HOME=" + filepath.Join(s.dir, "state"),
	}
	s.tty, err = pty.StartWithSize(cmd, &pty.Winsize{Rows: 1000, Cols: 300})
	require.NoError(t, err)
	read := make(chan struct{})
	go func() {
		defer close(read)
		_, _ = io.Copy(s, s.tty) // until the shell ends
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = s.tty.Close()
		<-read
	})
	s.at("none", filepath.Join(s.dir, "none"))
	s.press(shells[shell].setup + "; sessions loaded\r")
	require.Equal(t, []string{"loaded"}, s.args())
	return s
}

// Write takes what the shell shows.
func (s *typist) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shown.Write(b)
}

// at makes a directory of projects the one that is completed from now on.
func (s *typist) at(what, home string) {
	s.t.Helper()
	s.what = fmt.Sprintf("%q", what)
	now := filepath.Join(s.dir, "now")
	if err := os.Remove(now); err != nil {
		require.ErrorIs(s.t, err, os.ErrNotExist)
	}
	require.NoError(s.t, os.Symlink(home, now))
}

func (s *typist) press(keys string) {
	s.t.Helper()
	_, err := io.WriteString(s.tty, keys)
	require.NoError(s.t, err)
}

// args waits until the shell has run sessions, and returns its arguments.
func (s *typist) args() []string {
	s.t.Helper()
	name := filepath.Join(s.dir, "args")
	for end := time.Now().Add(screenWait); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		text, err := os.ReadFile(name)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		require.NoError(s.t, err)
		require.NoError(s.t, os.Remove(name))
		return strings.Split(strings.TrimSuffix(string(text), "\x00"), "\x00")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	require.FailNow(s.t, "the shell ran nothing", "%s, %q", s.what, s.shown.String()[max(0, s.shown.Len()-3000):])
	return nil
}

// unharmed requires that nothing else was run.
func (s *typist) unharmed(what any) {
	s.t.Helper()
	entries, err := os.ReadDir(s.cwd)
	require.NoError(s.t, err)
	require.Empty(s.t, entries, "%q ran something", what)
}

// hostileHome makes a directory of projects: the names of the projects, and of each the ids of its sessions.
func hostileHome(t *testing.T, projects map[string][]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, ids := range projects {
		for _, id := range ids {
			at := filepath.Join(dir, "projects", name, "sessions", id)
			require.NoError(t, os.MkdirAll(at, 0o700))
			require.NoError(t, os.WriteFile(filepath.Join(at, "transcript.jsonl"), []byte("{\"role\": \"user\", \"content\": \"hello\"}\n"), 0o600))
			md, err := sessionstore.NewMetadata(map[string]string{"session_id": id, "name": id})
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(filepath.Join(at, "metadata.json"), md.AppendTo(nil), 0o600))
		}
	}
	return dir
}

// TestCompletionInShells presses TAB behind commands, where ids of sessions and names of projects are
// what a shell would act on. Nothing is run or expanded: the program gets the string as one argument,
// or it was not completed.
func TestCompletionInShells(t *testing.T) {
	t.Parallel()
	for shell := range shells {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			s := startShell(t, shell)
			for _, id := range testenv.Some(t, 60, hostile()...) {
				want := []string{"show"}
				if written(id) && !strings.HasPrefix(id, "-") {
					want = append(want, id)
				}
				s.at(id, hostileHome(t, map[string][]string{"-p": {id}}))
				s.press("sessions show \t\r")
				require.Equal(t, want, s.args(), "%q", id)
				s.unharmed(id)
			}
			for _, name := range testenv.Some(t, 30, hostile()...) {
				s.at(name, hostileHome(t, map[string][]string{name: {"x"}}))
				for _, flag := range []string{"--project ", "--project="} {
					s.press("sessions list " + flag + "\t\r")
					got := strings.Join(s.args(), " ")
					want := "list " + flag
					if written(name) {
						want += name
					}
					require.Equal(t, strings.TrimSuffix(want, " "), strings.TrimSuffix(got, " "), "%q", name)
				}
				s.unharmed(name)
			}
		})
	}
}

// TestCompletionOfManyInShells presses TAB where several ids begin alike: what the shell puts on
// the line is the beginning of one of them, and its lists do nothing to the terminal.
func TestCompletionOfManyInShells(t *testing.T) {
	t.Parallel()
	for shell := range shells {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			s := startShell(t, shell)
			for _, id := range testenv.Some(t, 20, hostile()...) {
				if strings.HasPrefix(id, "-") {
					continue
				}
				ids := []string{id + ";1", id + ";2", id + " 3"}
				s.at(id, hostileHome(t, map[string][]string{"-p": ids}))
				s.press("sessions show \t\r")
				got := s.args()
				require.True(t, slices.ContainsFunc(ids, func(id string) bool { return strings.HasPrefix(id, cmp.Or(append(got, "")[1], "")) }) && len(got) <= 2, "%q: %q", id, got)
				s.unharmed(id)
			}
			s.at("all", hostileHome(t, map[string][]string{"-p": hostile()}))
			s.mu.Lock()
			s.shown.Reset()
			s.mu.Unlock()
			s.press("sessions show \t\t" + shells[shell].clear + "sessions end\r")
			require.Equal(t, []string{"end"}, s.args())
			s.unharmed("all")
			s.mu.Lock()
			defer s.mu.Unlock()
			for _, bad := range []string{"\x1b]0;x", "\u202e", "\x01"} {
				require.NotContains(t, s.shown.String(), bad)
			}
		})
	}
}
