package slice_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/amplifier-go/sessionstorage/sessionstore/projects"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice"
)

// conversationOf makes messages of lines for the examples.
func conversationOf(lines ...string) (msgs []sessionstore.Message) {
	for _, line := range lines {
		m, err := sessionstore.ParseMessage([]byte(line))
		if err != nil {
			log.Fatal(err)
		}
		msgs = append(msgs, m)
	}
	return msgs
}

func ExampleToTurn() {
	msgs := conversationOf(
		`{"role": "user", "content": "Is it raining?"}`,
		`{"role": "assistant", "content": "No."}`,
		`{"role": "user", "content": "Sure?"}`,
	)
	first, err := slice.ToTurn(msgs, 1, slice.Complete)
	if err != nil {
		log.Fatal(err)
	}
	for _, m := range first {
		fmt.Println(m.Role(), m.Content())
	}
	// Output:
	// user Is it raining?
	// assistant No.
}

func ExampleRepair() {
	msgs := conversationOf(
		`{"role": "user", "content": "Is it raining?"}`,
		`{"role": "assistant", "tool_calls": [{"id": "call_1", "tool": "weather"}]}`,
	)
	d, err := slice.Diagnose(msgs)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(d.Status, d.Modes, d.Orphaned)
	msgs, err = slice.Repair(msgs, d)
	if err != nil {
		log.Fatal(err)
	}
	for _, m := range msgs {
		fmt.Println(m.Role())
	}
	// Output:
	// broken [missing_tool_results] [call_1]
	// user
	// assistant
	// tool
	// assistant
}

func ExampleSummarize() {
	msgs := conversationOf(
		`{"role": "user", "content": "Is it raining?"}`,
		`{"role": "assistant", "content": "No, and it will not."}`,
	)
	s, err := slice.Summarize(msgs, 1, 3)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(s.User, s.Assistant)
	// Output: Is ... No,...
}

func ExampleWindow() {
	msgs := conversationOf(
		`{"role": "user", "content": "One"}`,
		`{"role": "user", "content": "Two"}`,
		`{"role": "user", "content": "Three"}`,
	)
	for _, m := range slice.Window(msgs, 2) {
		fmt.Println(m.Content())
	}
	// Output:
	// Two
	// Three
}

func ExampleTurns() {
	msgs := conversationOf(
		`{"role": "user", "content": "Is it raining?"}`,
		`{"role": "assistant", "content": "No."}`,
		`{"role": "user", "content": "Sure?"}`,
	)
	for turn := range slice.Turns(msgs) {
		fmt.Println(turn.Start, turn.End)
	}
	fmt.Println(slice.CountTurns(msgs))
	// Output:
	// 0 2
	// 2 3
	// 2
}

func ExampleIsRealUser() {
	for _, m := range conversationOf(
		`{"role": "user", "content": "Is it raining?"}`,
		`{"role": "user", "content": "<system-reminder>Be brief.</system-reminder>"}`,
		`{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "call_1", "content": "Sunny."}]}`,
	) {
		fmt.Println(slice.IsRealUser(m))
	}
	// Output:
	// true
	// false
	// false
}

func ExampleOrphanedToolCalls() {
	msgs := conversationOf(
		`{"role": "user", "content": "Is it raining?"}`,
		`{"role": "assistant", "tool_calls": [{"id": "call_1", "tool": "weather"}, {"id": "call_2", "tool": "window"}]}`,
		`{"role": "tool", "tool_call_id": "call_1", "content": "Sunny."}`,
	)
	fmt.Println(slice.OrphanedToolCalls(msgs))
	// Output: [call_2]
}

func ExampleDiagnose() {
	d, err := slice.Diagnose(conversationOf(
		`{"role": "user", "content": "Is it raining?"}`,
		`{"role": "assistant", "tool_calls": [{"id": "call_1", "tool": "weather"}]}`,
		`{"role": "user", "content": "Hello?"}`,
		`{"role": "tool", "tool_call_id": "call_1", "content": "Sunny."}`,
	))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(d.Healthy(), d.Modes, d.Misplaced, d.Action)
	// Output: false [ordering_violation] [call_1] repair
}

// To rewind what is healthy, cut it after a turn with ToTurn.
func ExampleRewind() {
	msgs := conversationOf(
		`{"role": "user", "content": "Is it raining?"}`,
		`{"role": "assistant", "content": "No."}`,
		`{"role": "user", "content": "Sure?"}`,
		`{"role": "assistant", "tool_calls": [{"id": "call_1", "tool": "weather"}]}`,
	)
	d, err := slice.Diagnose(msgs)
	if err != nil {
		log.Fatal(err)
	}
	msgs, err = slice.Rewind(msgs, d)
	if err != nil {
		log.Fatal(err)
	}
	for _, m := range msgs {
		fmt.Println(m.Role(), m.Content())
	}
	// Output:
	// user Is it raining?
	// assistant No.
}

// Sessions that need repair are found by their transcripts.
func ExampleBroken() {
	dir, err := os.MkdirTemp("", "projects")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	all, err := projects.Open(dir, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer all.Close()
	st, err := all.Store("-home-ada")
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	for id, lines := range map[string][]string{
		"whole": {`{"role": "user", "content": "Is it raining?"}`},
		"torn":  {`{"role": "assistant", "tool_calls": [{"id": "call_1", "tool": "weather"}]}`},
	} {
		if err := st.Append(ctx, id, conversationOf(lines...)...); err != nil {
			log.Fatal(err)
		}
	}
	found, err := all.Find(ctx, projects.Query{Match: slice.Broken})
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range found {
		fmt.Println(f.ID)
	}
	// Output: torn
}
