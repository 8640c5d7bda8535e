package twice

import (
	"testing"

	"cases/runs"
)

func TestTwice(t *testing.T) {
	if runs.First("first") || !runs.First("second") && runs.First("third") {
		t.Fatal("the first and the third run fail")
	}
}
