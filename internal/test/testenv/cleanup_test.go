package testenv

import (
	"runtime"
	"testing"
	"weak"
)

// TestCleanupKeepsNothing: what a test's cleanup reached is free once the test has ended,
// though the test itself stays.
func TestCleanupKeepsNothing(t *testing.T) {
	var ended *testing.T
	var large weak.Pointer[[1 << 20]byte]
	ran := 0
	t.Run("a test", func(t *testing.T) {
		ended = t
		held := new([1 << 20]byte)
		large = weak.Make(held)
		Cleanup(t, func() { held[0]++; ran++ })
		Cleanup(t, func() { held[1]++; ran++ })
	})
	runtime.GC()
	if large.Value() != nil {
		t.Error("the ended test still holds it")
	}
	if ran != 2 {
		t.Errorf("%d functions ran, not 2", ran)
	}
	runtime.KeepAlive(ended)
}
