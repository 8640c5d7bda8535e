package workflow_test

import (
	"context"
	"fmt"
	"os"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/workflow"
)

// A workflow is interrupted after its first phase, and resumed.
func Example() {
	if err := resume(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// next: write
	// user: Which birds sing at night?
	// assistant: Nightingales.
}

func resume(ctx context.Context) (err error) {
	dir, err := os.MkdirTemp("", "workflow-")
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
	log := workflow.New(st, workflow.Manifest{Name: "article", Phases: []string{"research", "write"}})
	question, answer := "Which birds sing at night?", "Nightingales."
	for _, p := range []workflow.PhaseOutput{
		{SessionID: &id, PhaseID: "research", PhaseName: "Research", Status: "running", UserInput: &question},
		{SessionID: &id, PhaseID: "research", PhaseName: "Research", Status: "completed", Output: &answer},
	} {
		if err := log.Emit(ctx, p); err != nil {
			return err
		}
	}
	resumed, err := log.Resume(ctx, id)
	if err != nil {
		return err
	}
	fmt.Println("next:", resumed.NextPhaseID)
	for _, m := range resumed.Context.History {
		fmt.Printf("%s: %s\n", m.Role, m.Content)
	}
	return nil
}
