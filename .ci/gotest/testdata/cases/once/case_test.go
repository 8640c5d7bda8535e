package once

import (
	"testing"

	"cases/runs"
)

func TestSound(t *testing.T) {}

func TestOnce(t *testing.T) {
	if runs.First("once") {
		t.Fatal("the first run fails")
	}
}
