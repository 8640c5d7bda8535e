package conversation_test

import (
	"fmt"
	"log"
	"time"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice/conversation"
)

func Example() {
	at := time.Date(2026, 8, 1, 10, 30, 0, 0, time.UTC)
	question, err1 := sessionstore.Text("user", "Will it rain?", at)
	call, err2 := sessionstore.ToolCallMessage("I look it up.", at, sessionstore.ToolCall{ID: "c1", Name: "forecast", Arguments: []byte(`{"city": "Graz"}`)})
	result, err3 := sessionstore.ToolResult("c1", "forecast", "Sunshine, all of the day.", at)
	answer, err4 := sessionstore.Text("assistant", "No.", at)
	for _, err := range []error{err1, err2, err3, err4} {
		if err != nil {
			log.Fatal(err)
		}
	}
	view, err := conversation.New([]sessionstore.Message{question, call, result, answer})
	if err != nil {
		log.Fatal(err)
	}
	for _, m := range view.Messages(0, view.Len(), conversation.Limits{Tool: 8}) {
		if m.Elsewhere {
			continue // its call shows the result
		}
		fmt.Printf("%d. %s: %s\n", m.Turn, m.Role, m.Text.Text)
		for _, c := range m.Calls {
			fmt.Printf("   %s: %q of %d bytes\n", c.Name, c.Result.Text.Text, c.Result.Text.Size)
		}
	}
	// Output:
	// 1. user: Will it rain?
	// 1. assistant: I look it up.
	//    forecast: "Sunshine" of 25 bytes
	// 1. assistant: No.
}
