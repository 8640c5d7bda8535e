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

// buildTool builds the command-line tool, which is a module of its own, where that was
// not done in this run of the test, and returns the path of the program. It lies in the
// test's folder for state.
func buildTool() (string, error) {
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
