package workflow_test

import (
	"context"
	"fmt"
	"os"
	"strings"

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
func ExampleWorkflow_Subscribe() {
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

// A panel shows the phases of a workflow, and reads the prompts of one of them.
func ExampleWorkflow_Phases() {
	if err := follow(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// research: running
	// 0 changed
	// research: completed, 12 bytes
	// asked: Which birds
}

func follow(ctx context.Context) error {
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
	log := workflow.New(st)
	prompt, output := "Which birds"+strings.Repeat(" and which birds", 10_000), "Nightingales"
	if _, err := log.SavePhaseOutput(ctx, id, workflow.PhaseOutput{PhaseID: "research", Status: "running", UserInput: &prompt}); err != nil {
		return err
	}
	begun, err := log.Phases(ctx, id, 0)
	if err != nil {
		return err
	}
	fmt.Printf("%s: %s\n", begun.Records[0].PhaseID, begun.Records[0].Status)
	same, err := log.Phases(ctx, id, begun.Read)
	if err != nil {
		return err
	}
	fmt.Printf("%d changed\n", len(same.Records))
	if _, err := log.SavePhaseOutput(ctx, id, workflow.PhaseOutput{PhaseID: "research", Status: "completed", Output: &output}); err != nil {
		return err
	}
	done, err := log.Phases(ctx, id, same.Read)
	if err != nil {
		return err
	}
	changed := done.Records[0]
	fmt.Printf("%s: %s, %d bytes\n", changed.PhaseID, changed.Status, changed.OutputSize)
	whole, err := log.Phase(ctx, id, changed.ID)
	if err != nil {
		return err
	}
	fmt.Println("asked:", (*whole.UserInput)[:len("Which birds")])
	return nil
}
