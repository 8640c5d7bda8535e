package sessionstore_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// exampleStore opens a store with one session in a temporary directory.
func exampleStore(ctx context.Context, id string) (*sessionstore.Store, func()) {
	dir, err := os.MkdirTemp("", "example-")
	check(err)
	store, err := sessionstore.Open(dir, nil)
	check(err)
	question, err := sessionstore.Text("user", "Will it rain?", time.Unix(1_800_000_000, 0))
	check(err)
	answer, err := sessionstore.Text("assistant", "No.", time.Unix(1_800_000_001, 0))
	check(err)
	md, err := sessionstore.NewMetadata(map[string]any{"name": "Weather", "turn_count": 1})
	check(err)
	check(store.Save(ctx, id, []sessionstore.Message{question, answer}, md))
	return store, func() {
		check(store.Close())
		check(os.RemoveAll(dir))
	}
}

func ExampleStore_Save() {
	ctx, id := context.Background(), sessionstore.NewID()
	store, done := exampleStore(ctx, id) // sessionstore.Open("", nil) opens ~/.amplifier/projects/<project>/sessions
	defer done()

	session, err := store.Load(ctx, id)
	check(err)
	question, err := sessionstore.Text("user", "And tomorrow?", time.Now())
	check(err)
	session.Messages = append(session.Messages, question)
	check(store.Save(ctx, id, session.Messages, session.Metadata))
	fmt.Println(len(session.Messages), "messages in", session.Metadata.Text("name"))
	// Output: 3 messages in Weather
}

func ExampleKeyID() {
	ctx := context.Background()
	store, done := exampleStore(ctx, "s1")
	defer done()
	message, err := sessionstore.Text("user", "Hello.", time.Unix(1_800_000_002, 0))
	check(err)
	id := sessionstore.KeyID("agent:main:telegram:42") // the key itself cannot be an id on Windows
	check(store.Append(ctx, id, message))
	fmt.Println(id)
	// Output: agent-main-telegram-42-2b8334beeb494e3a5b916894996ac613
}

func ExampleStore_AppendStored() {
	ctx := context.Background()
	store, done := exampleStore(ctx, "s1")
	defer done()
	rules, err := sessionstore.Text("system", "Be brief.", time.Unix(1_800_000_002, 0))
	check(err)
	question, err := sessionstore.Text("user", "Will it snow?", time.Unix(1_800_000_003, 0))
	check(err)
	numbers, err := store.AppendStored(ctx, "s1", rules, question)
	fmt.Println(numbers, err)
	// Output: [0 3] <nil>
}

func ExampleStore_UpdateMetadata() {
	ctx, id := context.Background(), sessionstore.NewID()
	store, done := exampleStore(ctx, id)
	defer done()

	md, err := store.UpdateMetadata(ctx, id, func(md *sessionstore.Metadata) error {
		turns, _ := md.Int("turn_count")
		md.Delete("working_dir")
		return md.Set("turn_count", turns+1)
	})
	check(err)
	turns, _ := md.Int("turn_count")
	_, ok := md.Lookup("working_dir")
	fmt.Println(md.Text("name"), turns, ok)
	// Output: Weather 2 false
}

func ExampleStore_Messages() {
	ctx, id := context.Background(), sessionstore.NewID()
	store, done := exampleStore(ctx, id)
	defer done()

	for m, err := range store.Messages(ctx, id) {
		check(err)
		at, _ := m.Timestamp()
		fmt.Println(at.UTC().Format(time.TimeOnly), m.Role()+":", m.Content())
	}
	// Output:
	// 08:00:00 user: Will it rain?
	// 08:00:01 assistant: No.
}

func ExampleMessage_With() {
	m, err := sessionstore.ParseMessage([]byte(`{"role": "user", "content": "Hi", "n": 1.0}`))
	check(err)
	m, err = m.With("pinned", true)
	check(err)
	fmt.Printf("%s\n", m.AppendTo(nil))
	// Output: {"role": "user", "content": "Hi", "n": 1.0, "pinned": true}
}

func ExampleToolCallMessage() {
	at := time.Date(2026, 11, 18, 9, 0, 0, 0, time.UTC)
	call := sessionstore.ToolCall{ID: "call_1", Name: "bash", Arguments: []byte(`{"command": "date"}`)}
	asked, err := sessionstore.ToolCallMessage("I look at the clock.", at, call)
	if err != nil {
		log.Fatal(err)
	}
	answered, err := sessionstore.ToolResult(call.ID, call.Name, "Wed 18 Nov", at)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s\n%s\n", asked.AppendTo(nil), answered.AppendTo(nil))
	// Output:
	// {"role": "assistant", "content": "I look at the clock.", "tool_calls": [{"id": "call_1", "tool": "bash", "arguments": {"command": "date"}}], "metadata": {"timestamp": "2026-11-18T09:00:00.000+00:00"}}
	// {"role": "tool", "name": "bash", "tool_call_id": "call_1", "content": "Wed 18 Nov", "metadata": {"timestamp": "2026-11-18T09:00:00.000+00:00"}}
}
