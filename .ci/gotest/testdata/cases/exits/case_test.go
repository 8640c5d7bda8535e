package exits

import (
	"os"
	"testing"

	"cases/runs"
)

func TestExits(t *testing.T) {
	if runs.First("exits") {
		os.Exit(3)
	}
}

func TestSound(t *testing.T) {}
