package foreign_test

import (
	"context"
	"fmt"
	"os"

	"github.com/amplifier-go/sessionstorage/sessionstore/projects"

	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign"
)

func ExampleImport() {
	dir, err := os.MkdirTemp("", "projects")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	p, err := projects.Open(dir, nil)
	if err != nil {
		panic(err)
	}
	defer p.Close()

	ctx := context.Background()
	all, err := foreign.Find(ctx, foreign.Claude, &foreign.FindOptions{Home: "testdata/claude"})
	if err != nil {
		panic(err)
	}
	for _, h := range all[:2] {
		report, err := foreign.Import(ctx, p, h, nil)
		if err != nil {
			panic(err)
		}
		for _, s := range report.Sessions {
			fmt.Println(report.Project, s.Kind, s.Action, s.Messages)
		}
	}
	// Output:
	// -home-ana-site conversation created 4
	// -home-ana-site agent created 2
	// -home-ana-site agent created 2
	// -home-ana-site agent created 4
	// -home-ana-site conversation created 8
	// -home-ana-site branch created 6
}
