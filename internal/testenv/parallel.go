package testenv

import (
	"flag"
	"fmt"
	"os"
	"strconv"
)

// RunAtOnce lets at least n parallel tests of this program run at once, for tests
// that mostly wait for a disk, a clock or another process. The flag -parallel says
// otherwise; on another system by an emulator, and for fuzzing, nothing changes. It is
// for TestMain, before the tests run.
func RunAtOnce(n int) error {
	if !flag.Parsed() {
		flag.Parse()
	}
	given := os.Getenv("EMULATOR") != "" || flag.Lookup("test.fuzz").Value.String() != ""
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if given {
		return nil
	}
	parallel := flag.Lookup("test.parallel")
	now, err := strconv.Atoi(parallel.Value.String())
	if err != nil {
		return fmt.Errorf("read the flag -parallel: %w", err)
	}
	return parallel.Value.Set(strconv.Itoa(max(now, n)))
}
