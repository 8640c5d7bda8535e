package panics

import (
	"testing"

	"cases/runs"
)

func TestPanics(t *testing.T) {
	if runs.First("panics") {
		panic("the first run ends here")
	}
}

func TestSound(t *testing.T) {}
