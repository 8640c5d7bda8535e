package slice_test

import (
	"fmt"
	"log"

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
