package docs

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// TestRelease tags a release in a clone, serves its modules as a proxy does, and
// installs the tool from there into an empty module cache.
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
	tags := shell(t, dir, "git clone --quiet --no-hardlinks '"+top+"' clone; cd clone; .ci/release "+release+" 2>/dev/null", env...)
	require.Contains(t, tags, "examples/sessions/"+release+"\n")
	require.Empty(t, shell(t, clone, "git checkout --quiet "+release+"; grep -rl '^replace' "+strings.Join(released(tags, release), " ")+" || true", env...))

	// What the proxy serves is what Go itself packs of the tags.
	served := filepath.Join(dir, "served")
	modules := "file://" + filepath.ToSlash(filepath.Join(goEnv(t, "GOMODCACHE"), "cache", "download")) + "," + goEnv(t, "GOPROXY")
	packing := append(env, "GOPROXY="+modules, "GOPRIVATE="+module, "GOMODCACHE="+served, "GOFLAGS=-modcacherw",
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=url.file://"+clone+".insteadOf", "GIT_CONFIG_VALUE_0=https://"+module)
	for _, path := range []string{"", "/examples/viewer", "/examples/sessions"} {
		shell(t, dir, "go mod download "+module+path+"@"+release, packing...)
	}
	installing := append(env, "GOPROXY=file://"+filepath.ToSlash(filepath.Join(served, "cache", "download"))+","+modules,
		"GONOSUMDB="+module, "GOMODCACHE="+filepath.Join(dir, "empty"), "GOFLAGS=-modcacherw -trimpath", "GOBIN="+filepath.Join(dir, "bin"))
	shell(t, dir, "go install "+module+"/examples/sessions@"+release, installing...)
	require.Contains(t, shell(t, dir, filepath.Join(dir, "bin", "sessions")+" --help", env...), "Commands:")
}

// released returns the go.mod of each module that the tags are for.
func released(tags, release string) (files []string) {
	for _, tag := range strings.Fields(tags) {
		files = append(files, filepath.Join(strings.TrimSuffix(tag, release), "go.mod"))
	}
	return files
}
