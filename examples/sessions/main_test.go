package main

import (
	"os"
	"path/filepath"
	"testing"
	_ "time/tzdata" // where a machine has no zones

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

func TestMain(m *testing.M) {
	testscript.Main(apart{m}, programs)
}

// apart are the tests, which share nothing with the tools of the user that runs them. What they
// start as a process has the home that they give it.
type apart struct{ *testing.M }

// Run runs them.
func (m apart) Run() int {
	state, err := os.MkdirTemp("", "test-state-")
	if err == nil {
		err = testenv.Apart(state)
	}
	if err != nil {
		panic(err)
	}
	code := m.M.Run()
	_ = os.RemoveAll(state)
	return code
}

// programs are what a test can run as a process, by its name.
var programs = map[string]func(){"sessions": main}

// TestScripts runs the tool as a process. The scripts' words besides
// testscript's own:
//
//	exits N PROGRAM ARG...      runs it, and it must end with that exit code
//	term WIDTH PROGRAM ARG...   runs it on a terminal so wide; stdout is all that it shows
//	typed TEXT                  what is typed on the terminal of the next term
//	fits WIDTH                  no line of stdout is wider
//	age DURATION FILE...        the file's time is so long ago
//	old DIRECTORY...            they and all that is in them are two days old
//	valid result COMMAND        stdout is an answer of COMMAND with --json
//	valid lines COMMAND         every line of stdout is one
//	valid error COMMAND         stdout is an error with --json
//	cloud                       an account that SESSIONS_REMOTE and COSMOS_KEY name
//
// The working directory of a script is a project: $here is its directory of
// sessions, and $root that of all projects. Files below projects/here belong
// to it.
//
// With -short, which the race detector is used with, one in ten of the scripts runs: it
// makes every one of some hundred processes slow, and most have one goroutine.
func TestScripts(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/script/*.txtar")
	require.NoError(t, err)
	files = testenv.Some(t, len(files)/testenv.Share(10, 1, 1), files...)
	testscript.Run(t, testscript.Params{
		Files:               files,
		Setup:               setUp,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits": exits,
			"term":  terminal,
			"typed": typed,
			"fits":  fits,
			"age":   age,
			"old":   old,
			"cloud": cloud,
			"valid": valid,
		},
	})
}

// setUp gives a script a home of its own.
func setUp(env *testscript.Env) error {
	work, err := filepath.EvalSymlinks(env.WorkDir)
	if err != nil {
		return err
	}
	root := filepath.Join(work, "projects")
	here := filepath.Join(root, sessionstore.ProjectSlug(work))
	if err := os.MkdirAll(root, 0o700); err != nil {
		return err
	}
	given := filepath.Join(root, "here")
	if _, err := os.Stat(given); err == nil {
		if err := os.Rename(given, here); err != nil {
			return err
		}
	}
	env.Setenv("AMPLIFIER_HOME", work)
	env.Setenv("AMPLIFIER_SESSION_STATE_HOME", filepath.Join(work, "state"))
	env.Setenv("HOME", work)
	env.Setenv("TERM", "xterm")
	env.Setenv("PAGER", "cat")
	env.Setenv("GORACE", "atexit_sleep_ms=0") // else each process under the race detector sleeps for a second
	env.Setenv("root", root)
	env.Setenv("project", filepath.Base(here))
	env.Setenv("here", filepath.Join(here, "sessions"))
	return nil
}
