package skips

import "testing"

func TestSkips(t *testing.T) { t.Skip("no reason of the gate") }
func TestSoak(t *testing.T)  { t.Skip("soak: it takes an hour") }
func TestFlaky(t *testing.T) { t.Skip("flaky: see the list") }
