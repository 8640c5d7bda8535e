package conformance

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

func TestMain(m *testing.M) {
	testenv.InMemory()
	testenv.Main(m, nil)
}

// building is held while the tool is built.
var building sync.Mutex

// builtTool returns the path of the command-line tool: that of the flag -tool, or of a program
// that it builds once in a run of the test, in the test's folder for state.
func builtTool() (string, error) {
	if *tool != "" {
		return *tool, nil
	}
	building.Lock()
	defer building.Unlock()
	path := filepath.Join(os.Getenv("AMPLIFIER_SESSION_STATE_HOME"), "built", "sessions.exe")
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	cmd := exec.Command("go", "build", "-o", path, ".")
	cmd.Dir = filepath.Join("..", "..", "..", "examples", "sessions")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the tool: %w\n%s", err, out)
	}
	return path, nil
}
