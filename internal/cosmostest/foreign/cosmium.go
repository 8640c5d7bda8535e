package foreign

import (
	"crypto/rand"
	"encoding/base64"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/amplifier-go/sessionstorage/internal/testenv"
)

const (
	module         = "github.com/amplifier-go/sessionstorage"
	cosmiumVersion = "v0.1.20"
)

// Cosmium builds and starts github.com/pikami/cosmium. It listens on all
// addresses, so its key is a random one, which it does check.
func Cosmium(t testing.TB) Account {
	t.Helper()
	testenv.Soak(t, "it needs an emulator")
	tool, err := exec.LookPath("go")
	testenv.Need(t, err == nil, "the go command is not installed")
	env := []string{"GOFLAGS=-mod=readonly", "GOWORK=off", "GOOS=", "GOARCH=", "CGO_ENABLED=0"}
	binary := "cosmium"
	if runtime.GOOS == "windows" {
		binary += ".exe"
	}
	dir := installed(t, "cosmium-"+cosmiumVersion, func(dir string) {
		root := strings.TrimSpace(run(t, "", env, tool, "list", "-m", "-f", "{{.Dir}}", module))
		run(t, filepath.Join(root, "internal", "cosmostest", "cosmium"), env,
			tool, "build", "-o", filepath.Join(dir, binary), "github.com/pikami/cosmium/cmd/server")
	})
	var random [64]byte
	_, _ = rand.Read(random[:])
	key, port := base64.StdEncoding.EncodeToString(random[:]), freePort(t)
	start(t, "", filepath.Join(dir, binary),
		"-DisableTls", "-Host", "127.0.0.1", "-Port", port, "-AccountKey", key, "-LogLevel", "silent")
	a := Account{Name: "cosmium", Endpoint: "http://127.0.0.1:" + port + "/", Key: key, Client: newClient(t, nil)}
	await(t, a.Client, a.Endpoint)
	return a
}
