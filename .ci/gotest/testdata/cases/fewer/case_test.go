package fewer

import (
	"os"
	"testing"

	"cases/runs"
)

func TestMain(m *testing.M) {
	if runs.First("fewer") {
		os.Exit(m.Run())
	}
	os.Exit(0)
}

func TestFewer(t *testing.T) { t.Fatal("the first run fails") }
