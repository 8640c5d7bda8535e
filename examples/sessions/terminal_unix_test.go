//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/creack/pty"
	"github.com/rogpeppe/go-internal/testscript"
)

// terminal runs a program on a terminal of a width, and puts what it shows on
// stdout. It may fail: what it shows tells.
func terminal(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: term WIDTH PROGRAM ARG...")
	}
	width, err := strconv.ParseUint(args[0], 10, 16)
	ts.Check(err)
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute) // of a program that hangs
	defer cancel()
	cmd := exec.CommandContext(ctx, lookPath(ts, args[1]), args[2:]...)
	cmd.Dir = ts.MkAbs(".")
	for _, name := range []string{"PATH", "HOME", "AMPLIFIER_HOME", "AMPLIFIER_SESSION_STATE_HOME", "TERM", "PAGER", "LESS", "NO_COLOR", "COLUMNS", "TMPDIR", "GORACE", "TZ", "COSMOS_KEY", "SESSIONS_REMOTE"} {
		cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name))
	}
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 40, Cols: uint16(width)})
	ts.Check(err)
	if text := ts.Getenv("typed"); text != "" {
		_, err := io.WriteString(tty, text)
		ts.Check(err)
		ts.Setenv("typed", "")
	}
	var shown bytes.Buffer
	_, err = io.Copy(&shown, tty)
	if !errors.Is(err, os.ErrClosed) && err != nil && !strings.Contains(err.Error(), "input/output error") {
		ts.Fatalf("read the terminal: %v", err)
	}
	var failed *exec.ExitError
	if err := cmd.Wait(); err != nil && !errors.As(err, &failed) {
		ts.Fatalf("%v", err)
	}
	ts.Check(tty.Close())
	lines := bytes.ReplaceAll(shown.Bytes(), []byte("\r\n"), []byte("\n"))
	_, err = ts.Stdout().Write(wiped.ReplaceAll(lines, nil))
	ts.Check(err)
}

// wiped are the bars of progress, which a program shows and takes away again
// when it needs a while.
var wiped = regexp.MustCompile(`\r\x1b\[K([a-z]+ing [━─0-9/ ]+…?)?`)

// lookPath finds a program as the script does.
func lookPath(ts *testscript.TestScript, name string) string {
	for _, dir := range filepath.SplitList(ts.Getenv("PATH")) {
		path := filepath.Join(dir, name)
		if fi, err := os.Stat(path); err == nil && fi.Mode()&0o111 != 0 {
			return path
		}
	}
	ts.Fatalf("%s is not there", name)
	return ""
}
