// Chat keeps a conversation of langchaingo in a session: each run adds a message of the
// user, and an answer. In place of a model it counts the messages of the user.
//
//	go run ./chat DIR SESSION TEXT
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/tmc/langchaingo/memory"

	"github.com/amplifier-go/sessionstorage/examples/bridges/langchaingo"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

func main() {
	if err := run(context.Background(), os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "chat:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) (err error) {
	if len(args) != 3 {
		return errors.New("usage: chat DIR SESSION TEXT")
	}
	store, err := sessionstore.Open(args[0], nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	buffer := memory.NewConversationBuffer(memory.WithChatHistory(langchaingo.New(store, args[1])))
	before, err := buffer.LoadMemoryVariables(ctx, nil)
	if err != nil {
		return err
	}
	history, _ := before["history"].(string)
	answer := fmt.Sprintf("That was number %d.", 1+strings.Count("\n"+history, "\nHuman:"))
	fmt.Fprintln(out, answer)
	return buffer.SaveContext(ctx, map[string]any{"input": args[2]}, map[string]any{"output": answer})
}
