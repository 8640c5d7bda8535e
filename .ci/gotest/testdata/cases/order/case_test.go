package order

import "testing"

var prepared bool

func TestDepends(t *testing.T) {
	if !prepared {
		t.Fatal("TestPrepares has to run before")
	}
}

func TestPrepares(t *testing.T) { prepared = true }
