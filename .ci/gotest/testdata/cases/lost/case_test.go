package lost

import (
	"fmt"
	"testing"

	"cases/runs"
)

func TestLost(t *testing.T) {
	if runs.First("lost") {
		fmt.Fprintln(t.Output(), "LOST a row")
		t.Fatal("a row is gone")
	}
}
