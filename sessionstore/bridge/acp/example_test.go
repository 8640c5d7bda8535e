package acp_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"regexp"

	proto "github.com/coder/acp-go-sdk"

	"github.com/amplifier-go/sessionstorage/sessionstore/bridge/acp"
	"github.com/amplifier-go/sessionstorage/sessionstore/projects"
)

// parrot is the whole of an agent.
type parrot struct{ acp.Sessions }

func (p *parrot) Prompt(ctx context.Context, t *acp.Turn) (proto.StopReason, error) {
	return proto.StopReasonEndTurn, t.Say("You said " + t.Prompt.Content())
}

// An editor starts the agent and writes requests to its standard input, a line each.
func Example() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	all, err := projects.Open(dir, nil) // "" is the directory of the user's projects
	if err != nil {
		log.Fatal(err)
	}
	defer all.Close()
	in, requests := io.Pipe()
	answers, out := io.Pipe()
	served := make(chan error, 1)
	go func() {
		served <- acp.Serve(context.Background(), &parrot{acp.Sessions{Projects: all}}, in, out) // os.Stdin, os.Stdout
	}()

	lines := bufio.NewScanner(answers)
	fmt.Fprintf(requests, `{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":%q,"mcpServers":[]}}`+"\n", dir)
	lines.Scan()
	id := regexp.MustCompile(`[0-9a-f-]{36}`).FindString(lines.Text())
	fmt.Fprintf(requests, `{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":%q,"prompt":[{"type":"text","text":"Hello"}]}}`+"\n", id)
	for range 3 { // the title, the answer, the end
		lines.Scan()
		fmt.Println(regexp.MustCompile(`"(title|text)":"[^"]*"|"result":.*`).FindString(lines.Text()))
	}
	requests.Close()
	if err := <-served; err != nil {
		log.Fatal(err)
	}
	// Output:
	// "title":"Hello"
	// "text":"You said Hello"
	// "result":{"stopReason":"end_turn"}}
}
