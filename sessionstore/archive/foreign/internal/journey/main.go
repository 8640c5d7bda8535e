// Journey imports a small history and writes which functions that reached.
//
// Its test builds it with counters of coverage, and limits their number: who reads an import
// reads that many. The counters are cleared just before, so what prepares the import does not
// count.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime/coverage"

	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign"
	"github.com/amplifier-go/sessionstorage/sessionstore/projects"
)

func main() {
	if err := run(context.Background(), os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run imports the history of Claude Code in dir/home, for the first time or "again", and
// writes the counters of the last import to out.
func run(ctx context.Context, name, dir, out string) error {
	p, err := projects.Open(filepath.Join(dir, "projects"), nil)
	if err != nil {
		return err
	}
	all, err := foreign.Find(ctx, foreign.Claude, &foreign.FindOptions{Home: filepath.Join(dir, "home")})
	if err != nil {
		return err
	}
	if name == "again" {
		if _, err := foreign.Import(ctx, p, all[0], nil); err != nil {
			return err
		}
	}
	if err := coverage.ClearCounters(); err != nil {
		return err
	}
	report, err := foreign.Import(ctx, p, all[0], nil)
	if err != nil {
		return err
	}
	if got := report.Sessions[0].Action == foreign.Unchanged; got != (name == "again") {
		return fmt.Errorf("unchanged is %t", got)
	}
	if err := coverage.WriteMetaDir(out); err != nil {
		return err
	}
	if err := coverage.WriteCountersDir(out); err != nil {
		return err
	}
	return p.Close()
}
