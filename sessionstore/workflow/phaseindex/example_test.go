package phaseindex_test

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/workflow"
	"github.com/amplifier-go/sessionstorage/sessionstore/workflow/phaseindex"
)

// A panel shows how a workflow stands, and reads the prompts of one phase.
func Example() {
	if err := show(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// research: running
	// 0 changed
	// research: completed, 12 bytes
	// asked: Which birds
}

func show(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "phaseindex-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	st, err := sessionstore.Open(dir, nil)
	if err != nil {
		return err
	}
	defer st.Close()
	id := sessionstore.NewID()
	if err := st.Create(ctx, id, sessionstore.Metadata{}); err != nil {
		return err
	}
	log := workflow.New(st)
	prompt, output := "Which birds"+strings.Repeat(" and which birds", 10_000), "Nightingales"
	if _, err := log.SavePhaseOutput(ctx, id, workflow.PhaseOutput{PhaseID: "research", Status: "running", UserInput: &prompt}); err != nil {
		return err
	}
	index := phaseindex.New(st, id)
	begun, err := index.Records(ctx, 0)
	if err != nil {
		return err
	}
	fmt.Printf("%s: %s\n", begun.Records[0].PhaseID, begun.Records[0].Status)
	same, err := index.Records(ctx, begun.Read)
	if err != nil {
		return err
	}
	fmt.Printf("%d changed\n", len(same.Records))
	if _, err := log.SavePhaseOutput(ctx, id, workflow.PhaseOutput{PhaseID: "research", Status: "completed", Output: &output}); err != nil {
		return err
	}
	done, err := index.Records(ctx, same.Read)
	if err != nil {
		return err
	}
	changed := done.Records[0]
	fmt.Printf("%s: %s, %d bytes\n", changed.PhaseID, changed.Status, changed.OutputSize)
	whole, err := index.Record(ctx, changed.ID)
	if err != nil {
		return err
	}
	fmt.Println("asked:", (*whole.UserInput)[:len("Which birds")])
	return nil
}
