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

// A panel watches what an agent says.
func ExampleLog_Subscribe() {
	log := workflow.New(nil)
	panel := log.Subscribe()
	question, answer := "Which birds sing at night?", "Nightingales."
	for _, p := range []workflow.PhaseOutput{
		{PhaseID: "research", Status: "running", UserInput: &question},
		{PhaseID: "research", Status: "completed", UserInput: &question, Output: &answer},
	} {
		if err := log.Emit(context.Background(), p); err != nil { // not saved: it has no session
			fmt.Println(err)
		}
	}
	if err := panel.Close(); err != nil {
		fmt.Println(err)
	}
	for p := range panel.Payloads() {
		fmt.Println(p.PhaseID, p.Status, "asked:", p.UserInput != nil, "answered:", p.Output != nil)
	}
	// Output:
	// research running asked: true answered: false
	// research completed asked: false answered: true
}

func ExampleReconstructContextTokens() {
	input, output := "Which birds sing at night?", "Nightingales."
	record := workflow.PhaseRecord{Status: "completed", UserInput: &input, Output: &output}
	history := workflow.ReconstructContextTokens([]workflow.PhaseRecord{record, record, record}, 25, nil)
	fmt.Println(len(history), "messages fit")
	// Output: 4 messages fit
}
