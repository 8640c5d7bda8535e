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
	"strings"

	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign"
	"github.com/amplifier-go/sessionstorage/sessionstore/projects"
)

func main() {
	if err := run(context.Background(), os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run imports a history of 8 lines below the directory dir, for the first time or "again",
// and writes the counters of the last import to out.
func run(ctx context.Context, name, dir, out string) error {
	home := filepath.Join(dir, "home")
	if err := write(filepath.Join(home, "projects", "-w", "11111111-1111-4111-8111-111111111111.jsonl")); err != nil {
		return err
	}
	p, err := projects.Open(filepath.Join(dir, "projects"), nil)
	if err != nil {
		return err
	}
	all, err := foreign.Find(ctx, foreign.Claude, &foreign.FindOptions{Home: home})
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

// write writes a history of Claude Code.
func write(path string) error {
	var b strings.Builder
	parent := "null"
	for i := range 8 {
		kind, content := "user", fmt.Sprintf(`"prompt %d"`, i)
		if i%2 == 1 {
			kind, content = "assistant", fmt.Sprintf(`[{"type":"text","text":"answer %d"}],"id":"m%[1]d","model":"a-model","usage":{"input_tokens":5,"output_tokens":7}`, i)
		}
		uuid := fmt.Sprintf(`"%08d-1111-4111-8111-111111111111"`, i)
		fmt.Fprintf(&b, `{"type":%q,"uuid":%s,"parentUuid":%s,"cwd":"/w","timestamp":"2026-04-01T10:00:%02d.000Z","message":{"role":%[1]q,"content":%[5]s}}`+"\n", kind, uuid, parent, i, content)
		parent = uuid
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(b.String()), 0o600)
}
