package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// TestRelease tags a release in a clone, makes the binaries of the tool, serves the modules
// as a proxy does, installs the tool from there into an empty module cache, and builds and
// runs programs of another module with the library, and with the importers.
func TestRelease(t *testing.T) {
	t.Parallel()
	top, err := filepath.Abs(root)
	require.NoError(t, err)
	testenv.Soak(t, "it asks for every module")
	testenv.Need(t, exec.Command("git", "-C", top, "rev-parse", "HEAD").Run() == nil, "this is no checkout of git")
	dir := newHome(t)
	clone := filepath.Join(dir, "clone")
	env := append(surroundings(t, ""), "GIT_CONFIG_COUNT=3",
		"GIT_CONFIG_KEY_0=user.name", "GIT_CONFIG_VALUE_0=Ada",
		"GIT_CONFIG_KEY_1=user.email", "GIT_CONFIG_VALUE_1=ada@example.com",
		"GIT_CONFIG_KEY_2=safe.directory", "GIT_CONFIG_VALUE_2=*")
	const release = "v0.0.7-test"
	tags := shell(t, dir, "git clone --quiet --no-hardlinks '"+top+"' clone; cd clone; .ci/release "+release+" ../binaries 2>/dev/null", env...)
	require.Contains(t, tags, "examples/sessions/"+release+"\n")
	require.Empty(t, shell(t, clone, "git checkout --quiet "+release+"; grep -rl '^replace' "+strings.Join(released(tags, release), " ")+" || true", env...))

	require.Len(t, strings.Fields(shell(t, filepath.Join(dir, "binaries"), "sha256sum --check SHA256SUMS | grep OK", env...)), 2*len(binaries))
	for _, platform := range binaries {
		require.FileExists(t, filepath.Join(dir, "binaries", "sessions-"+release+"-"+platform))
	}
	if runtime.GOOS == "linux" && runtime.GOARCH == "amd64" {
		require.Contains(t, shell(t, dir, "binaries/sessions-"+release+"-linux-amd64 --version", env...), "sessions "+release+",")
	}

	// What the proxy serves is what Go itself packs of the tags.
	served := filepath.Join(dir, "served")
	modules := "file://" + filepath.ToSlash(filepath.Join(goEnv(t, "GOMODCACHE"), "cache", "download")) + "," + goEnv(t, "GOPROXY")
	packing := append(env, "GOPROXY="+modules, "GOPRIVATE="+module, "GOMODCACHE="+served, "GOFLAGS=-modcacherw",
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=url.file://"+clone+".insteadOf", "GIT_CONFIG_VALUE_0=https://"+module)
	for _, path := range []string{"", "/sessionstore/archive/foreign", "/hybrid/postgres", "/hybrid/s3", "/examples/viewer", "/examples/sessions"} {
		shell(t, dir, "go mod download "+module+path+"@"+release, packing...)
	}
	installing := append(env, "GOPROXY=file://"+filepath.ToSlash(filepath.Join(served, "cache", "download"))+","+modules,
		"GONOSUMDB="+module, "GOMODCACHE="+filepath.Join(dir, "empty"), "GOFLAGS=-modcacherw -trimpath", "GOBIN="+filepath.Join(dir, "bin"))
	shell(t, dir, "go install "+module+"/examples/sessions@"+release, installing...)
	require.Contains(t, shell(t, dir, filepath.Join(dir, "bin", "sessions")+" --help", env...), "Commands:")

	own := filepath.Join(dir, "own")
	require.NoError(t, os.Mkdir(own, 0o700))
	program := pages(t)[0].blocks("go")[0].code
	require.NoError(t, os.WriteFile(filepath.Join(own, "main.go"), []byte(program), 0o600))
	installing = append(installing, "GOMODCACHE="+filepath.Join(dir, "other"))
	shell(t, own, "go mod init example.com/own; go get "+module+"@"+release+"; go mod tidy", installing...)
	require.Equal(t, "user: Will it rain tomorrow?\n", shell(t, own, "go run .", installing...))
	const importers = "/sessionstore/archive/foreign"
	require.NotContains(t, shell(t, own, "go mod graph", installing...), importers)
	program = "package main\n\nimport \"" + module + importers + "\"\n\nfunc main() { println(foreign.Claude) }\n"
	require.NoError(t, os.WriteFile(filepath.Join(own, "main.go"), []byte(program), 0o600))
	shell(t, own, "go get "+module+importers+"@"+release, installing...)
	require.Equal(t, "claude\n", shell(t, own, "go run .", installing...))
}

// binaries are the platforms of the tool's binaries, as their names have them.
var binaries = []string{"linux-amd64", "linux-arm64", "darwin-amd64", "darwin-arm64", "windows-amd64.exe"}

// released returns the go.mod of each module that the tags are for.
func released(tags, release string) (files []string) {
	for _, tag := range strings.Fields(tags) {
		files = append(files, filepath.Join(strings.TrimSuffix(tag, release), "go.mod"))
	}
	return files
}
