package docs

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sync"
	"testing"
	"time"

	"github.com/amplifier-go/sessionstorage/hybrid/cosmos"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/cosmostest"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// TestCommands runs the commands of the pages, in the default run half of the
// blocks.
func TestCommands(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("runs programs, of which the race detector sees nothing")
	}
	all := commandBlocks(t)
	for _, b := range testenv.Some(t, (len(all)+1)/2, all...) {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			runCommands(t, b.block)
		})
	}
}

// A commandBlock is a block of commands with the name of its test.
type commandBlock struct {
	block
	name string
}

// commandBlocks returns the blocks of all pages. Those of the kind slow are
// among them where nothing is left out: CI runs those tests by themselves.
func commandBlocks(t *testing.T) (all []commandBlock) {
	for _, p := range pages(t) {
		for i, b := range p.blocks("sh") {
			if b.kind != "slow" || testenv.All() {
				all = append(all, commandBlock{b, fmt.Sprint(p.path, " ", i+1)})
			}
		}
	}
	return all
}

// runCommands runs a block as a reader of the page does, at the top of the
// repository or in a module of its own. A block that writes files runs in an
// empty folder: other tests read the repository meanwhile.
func runCommands(t *testing.T, b block) {
	top, err := filepath.Abs(root)
	require.NoError(t, err)
	if b.kind == "serve" {
		serve(t, top, b.code)
		return
	}
	env := surroundings(t, b.kind)
	dir := top
	switch b.kind {
	case "get":
		env, dir = append(env, published(t, top)...), newModule(t)
	case "azure":
		dir = t.TempDir()
	}
	shell(t, dir, b.code, env...)
}

// allTests is the one command that is not run: CI does, by itself.
var allTests = regexp.MustCompile(`(?m)^go test \./\.\.\.$`)

// shell runs commands until one fails, in a folder.
func shell(t *testing.T, dir, commands string, env ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", allTests.ReplaceAllString(commands, ""))
	cmd.Dir, cmd.Env = dir, env
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s\n%s", commands, out)
	return string(out)
}

// surroundings are the variables for commands: an empty home, and the caches of
// Go, so that not everything is built and fetched again. The linker leaves out
// what debuggers need, which takes it less than half of the time.
func surroundings(t *testing.T, kind string) []string {
	t.Helper()
	home := newHome(t)
	env := []string{
		"HOME=" + home, "TMPDIR=" + home, "USER=ada", "GOWORK=off",
		"GOBIN=" + filepath.Join(home, "go"), "PATH=" + filepath.Join(home, "go") + string(filepath.ListSeparator) + os.Getenv("PATH"),
		"GOFLAGS=" + os.Getenv("GOFLAGS") + " -ldflags=-w -buildvcs=false",
		"AMPLIFIER_SESSION_STATE_HOME=" + filepath.Join(home, "state"),
	}
	for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOPROXY", "GOSUMDB", "GONOSUMDB", "GOTOOLCHAIN"} {
		env = append(env, name+"="+goEnv(t, name))
	}
	switch kind {
	case "azure":
		bin := filepath.Join(home, "bin")
		require.NoError(t, os.Mkdir(bin, 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(bin, "az"), []byte(azure), 0o700))
		env = append(env, "PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"), "ACCOUNT=account", "GROUP=group", "PRINCIPAL=somebody")
	case "cloud":
		memory := cosmostest.New(nil)
		require.NoError(t, memory.CreateContainer(cosmos.DefaultDatabase, cosmos.DefaultContainer, ""))
		server := httptest.NewServer(memory)
		t.Cleanup(server.Close)
		env = append(env, "COSMOS_ENDPOINT="+server.URL+"/", "COSMOS_KEY="+memory.Key())
	}
	return env
}

// newHome makes an empty home, but for the choice that Go counts nothing there:
// for that it starts a process that outlives the command, and may write while
// the home is removed.
func newHome(t *testing.T) string {
	t.Helper()
	home := t.TempDir()
	dir := filepath.Join(home, ".config", "go", "telemetry")
	require.NoError(t, os.MkdirAll(dir, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "mode"), []byte("off"), 0o600))
	return home
}

// azure stands in for the command of that name: it wants to know a role by the
// members that the service demands.
const azure = `#!/usr/bin/env bash
set -euo pipefail
[[ "$1 $2 $3" == "cosmosdb sql role" ]]
case "$4 $5" in
"definition create")
	for a; do [[ $a != @* ]] || python3 -c '
import json, sys
role = json.load(open(sys.argv[1]))
assert set(role) == {"RoleName", "Type", "AssignableScopes", "Permissions"}, role
assert all(a.startswith("Microsoft.DocumentDB/databaseAccounts/") for a in role["Permissions"][0]["DataActions"])
' "${a#@}"; done
	;;
"assignment create") [[ "$*" == *"--scope /dbs/"*"--principal-id somebody" ]] ;;
*) exit 1 ;;
esac
`

// goEnv returns a variable of Go's.
func goEnv(t *testing.T, name string) string {
	t.Helper()
	all, err := goEnvironment()
	require.NoError(t, err)
	require.Contains(t, all, name)
	return all[name]
}

// goEnvironment asks for all of them at once: each question takes a process.
var goEnvironment = sync.OnceValues(func() (all map[string]string, err error) {
	out, err := exec.Command("go", "env", "-json").Output()
	if err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	return all, json.Unmarshal(out, &all)
})

var address = regexp.MustCompile(`http://[\w.:\[\]]+`)

// serve runs a program until it has printed where it serves.
func serve(t *testing.T, top, commands string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out := &output{found: make(chan struct{})}
	cmd := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", commands)
	cmd.Dir, cmd.Env = top, surroundings(t, "")
	cmd.Stdout, cmd.Stderr = out, out
	cmd.Cancel = func() error { return endGroup(cmd) }
	ownGroup(cmd)
	cmd.WaitDelay = time.Minute
	require.NoError(t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case <-out.found:
		cancel()
		<-ended
	case err := <-ended:
		require.Fail(t, "it ended by itself", "%s: %v\n%s", commands, err, out.text.String())
	}
}

// output is what a program has printed, and tells once there is an address.
// Only the program's copier writes to it.
type output struct {
	text  bytes.Buffer
	found chan struct{}
	told  bool
}

func (o *output) Write(p []byte) (int, error) {
	o.text.Write(p)
	if !o.told && address.Match(o.text.Bytes()) {
		o.told = true
		close(o.found)
	}
	return len(p), nil
}
