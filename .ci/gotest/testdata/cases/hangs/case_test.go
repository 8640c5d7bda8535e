package hangs

import (
	"testing"

	"cases/runs"
)

func TestHangs(t *testing.T) {
	if runs.First("hangs") {
		select {}
	}
}
