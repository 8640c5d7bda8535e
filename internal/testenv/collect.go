package testenv

import (
	"flag"
	"os"
	"runtime/debug"
)

// CollectLess lets the heap of this program grow to five times of what is in use
// before the garbage collector runs, instead of twice. Heaps of tests are small, so
// it would run many times a second and take a fifth of their time. The variable GOGC
// says otherwise; nothing changes for benchmarks. It is for TestMain, before the
// tests run. What a test starts as a process of its own is not concerned.
func CollectLess() {
	if !flag.Parsed() {
		flag.Parse()
	}
	if os.Getenv("GOGC") == "" && flag.Lookup("test.bench").Value.String() == "" {
		debug.SetGCPercent(400)
	}
}
