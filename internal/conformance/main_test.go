package conformance

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/amplifier-go/sessionstorage/internal/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m, nil) }

// buildTool builds the command-line tool, which is a module of its own, and
// returns the path of the program. It lies in the folder for state, which
// [testenv.Main] removes.
var buildTool = sync.OnceValues(func() (string, error) {
	path := filepath.Join(os.Getenv("AMPLIFIER_SESSION_STATE_HOME"), "built", "sessions.exe")
	cmd := exec.Command("go", "build", "-o", path, ".")
	cmd.Dir = filepath.Join("..", "..", "examples", "sessions")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the tool: %w\n%s", err, out)
	}
	return path, nil
})
