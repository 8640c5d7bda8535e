package langchaingo_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/tmc/langchaingo/memory"

	"github.com/amplifier-go/sessionstorage/examples/bridges/langchaingo"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

func Example() {
	dir, err := os.MkdirTemp("", "sessions")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	store, err := sessionstore.Open(dir, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()

	history := langchaingo.New(store, "0d5e4f0e-8f0c-4c55-8d3e-9c7b3f1c1e11")
	buffer := memory.NewConversationBuffer(memory.WithChatHistory(history))
	err = buffer.SaveContext(ctx, map[string]any{"in": "Rain tomorrow?"}, map[string]any{"out": "No."})
	if err != nil {
		log.Fatal(err)
	}
	for row, err := range store.Messages(ctx, "0d5e4f0e-8f0c-4c55-8d3e-9c7b3f1c1e11") {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(row.Role()+":", row.Content())
	}
	// Output:
	// user: Rain tomorrow?
	// assistant: No.
}
