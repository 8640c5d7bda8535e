package docs

import (
	"bytes"
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid"
	"github.com/amplifier-go/sessionstorage/internal/cosmostest"
	"github.com/amplifier-go/sessionstorage/internal/testenv"
)

// TestCommands runs the commands of the pages.
func TestCommands(t *testing.T) {
	t.Parallel()
	for _, p := range pages(t) {
		for i, b := range p.blocks("sh") {
			if b.kind == "slow" && !testenv.Thorough() {
				continue
			}
			t.Run(fmt.Sprint(p.path, " ", i+1), func(t *testing.T) {
				t.Parallel()
				top, err := filepath.Abs(root)
				require.NoError(t, err)
				if b.kind == "serve" {
					serve(t, top, b.code)
					return
				}
				env := surroundings(t, b.kind)
				if b.kind == "get" {
					env, top = append(env, published(t, top)...), newModule(t)
				}
				shell(t, top, b.code, env...)
			})
		}
	}
}

// allTests is the one command that is not run: this test is part of it.
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
// Go, so that not everything is built and fetched again.
func surroundings(t *testing.T, kind string) []string {
	t.Helper()
	home := newHome(t)
	env := []string{
		"HOME=" + home, "TMPDIR=" + home, "USER=ada", "PATH=" + os.Getenv("PATH"), "GOFLAGS=" + os.Getenv("GOFLAGS"), "GOWORK=off",
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
		require.NoError(t, memory.CreateContainer(hybrid.DefaultDatabase, hybrid.DefaultContainer, ""))
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
	rm role.json
	;;
"assignment create") [[ "$*" == *"--scope /dbs/"*"--principal-id somebody" ]] ;;
*) exit 1 ;;
esac
`

func goEnv(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "env", name).Output()
	require.NoError(t, err)
	return strings.TrimSpace(string(out))
}

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
