package main

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/rivo/uniseg"
	"github.com/rogpeppe/go-internal/testscript"
)

// exits runs a program that must end with an exit code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARG...")
	}
	err := ts.Exec(args[1], args[2:]...)
	code, failed := 0, (*exec.ExitError)(nil)
	switch {
	case errors.As(err, &failed):
		code = failed.ExitCode()
	case err != nil:
		ts.Fatalf("%v", err)
	}
	if strconv.Itoa(code) != args[0] {
		ts.Fatalf("exit code %d, not %s", code, args[0])
	}
}

var escapes = regexp.MustCompile("\x1b\\[[0-9;]*[A-Za-z]")

// fits looks at the width of the lines that the last program wrote.
func fits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: fits WIDTH")
	}
	width, err := strconv.Atoi(args[0])
	ts.Check(err)
	for line := range strings.Lines(ts.ReadFile("stdout")) {
		line = escapes.ReplaceAllString(strings.TrimRight(line, "\n"), "")
		if n := uniseg.StringWidth(line); n > width {
			ts.Fatalf("%d columns, not %d: %q", n, width, line)
		}
	}
}

// age makes files older than they are.
func age(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: age DURATION FILE...")
	}
	d, err := time.ParseDuration(args[0])
	ts.Check(err)
	for _, name := range args[1:] {
		at := time.Now().Add(-d)
		ts.Check(os.Chtimes(ts.MkAbs(name), at, at))
	}
}

// old makes all that is in directories two days old, and themselves.
func old(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: old DIRECTORY...")
	}
	at := time.Now().Add(-48 * time.Hour)
	for _, dir := range args {
		ts.Check(filepath.WalkDir(ts.MkAbs(dir), func(path string, _ fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			return os.Chtimes(path, at, at)
		}))
	}
}

// typed keeps what is typed on the next terminal: in the script's environment,
// since a script has no other memory.
func typed(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("usage: typed TEXT")
	}
	ts.Setenv("typed", strings.Join(args, " ")+"\n")
}
