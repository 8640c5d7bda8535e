package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// TestNewcomer goes the way of somebody who has nothing but Go: a fresh clone
// of what is committed, an empty home, an empty module cache, and the README's
// commands from top to bottom. Only what the compiler made of the same sources
// is not made again.
func TestNewcomer(t *testing.T) {
	t.Parallel()
	top, err := filepath.Abs(root)
	require.NoError(t, err)
	testenv.Soak(t, "it takes minutes")
	testenv.Need(t, exec.Command("git", "-C", top, "rev-parse", "HEAD").Run() == nil, "this is no checkout of git")
	home := newHome(t)
	clone := filepath.Join(home, "sessionstorage")
	env := surroundings(t, "")
	for i, v := range env {
		if strings.HasPrefix(v, "HOME=") {
			env[i] = "HOME=" + home
		}
		if strings.HasPrefix(v, "GOMODCACHE=") {
			env[i] = "GOMODCACHE=" + filepath.Join(home, "modules")
		}
		if strings.HasPrefix(v, "GOPROXY=") { // what was downloaded before is not asked for again
			env[i] = "GOPROXY=file://" + filepath.ToSlash(filepath.Join(goEnv(t, "GOMODCACHE"), "cache", "download")) + "," + goEnv(t, "GOPROXY")
		}
		if strings.HasPrefix(v, "GOFLAGS=") {
			env[i] = "GOFLAGS=-modcacherw -trimpath" // so that the test can remove it, and other tests need not compile the same again
		}
	}
	shell(t, home, "git -c safe.directory='*' clone --quiet --no-hardlinks '"+top+"' sessionstorage", env...)
	raw, err := os.ReadFile(filepath.Join(clone, "README.md"))
	require.NoError(t, err)
	ran := 0
	for _, b := range (page{"README.md", string(raw)}).blocks("sh") {
		if b.kind == "" {
			shell(t, clone, b.code, env...)
			ran++
		}
	}
	require.Positive(t, ran)
}
