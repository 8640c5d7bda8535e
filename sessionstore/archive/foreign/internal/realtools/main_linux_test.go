package realtools

import (
	"os"
	"testing"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

func TestMain(m *testing.M) {
	if err := os.Setenv("CODEX_HOME", "testdata"); err != nil { // exports read there whom the tool asks
		panic(err)
	}
	testenv.Main(m, nil)
}
