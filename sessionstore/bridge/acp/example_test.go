package acp_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"regexp"
	"sync"

	proto "github.com/coder/acp-go-sdk"

	"github.com/amplifier-go/sessionstorage/hybrid"
	"github.com/amplifier-go/sessionstorage/hybrid/hybridtest"
	"github.com/amplifier-go/sessionstorage/sessionstore"
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

// A store with a remote sends the sessions to the user's other devices.
func ExampleSessions_open() {
	ctx, remote := context.Background(), hybridtest.New() // as cosmos.Connect or dir.Open return one
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	all, err := projects.Open(dir, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer all.Close()
	var mu sync.Mutex
	stores := map[string]*hybrid.Store{}
	p := &parrot{acp.Sessions{Projects: all, Open: func(dir string) (_ *sessionstore.Store, err error) {
		mu.Lock()
		defer mu.Unlock()
		st := stores[dir]
		if st == nil {
			st, err = hybrid.Open(ctx, dir, &hybrid.Options{Remote: remote, Project: filepath.Base(filepath.Dir(dir)), User: "ada", Device: "laptop"})
			if err != nil {
				return nil, err
			}
			stores[dir] = st
		}
		return st.Store, nil
	}}}
	in, requests := io.Pipe()
	answers, out := io.Pipe()
	served := make(chan error, 1)
	go func() { served <- acp.Serve(ctx, p, in, out) }()
	fmt.Fprintf(requests, `{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":%q,"mcpServers":[]}}`+"\n", dir)
	bufio.NewScanner(answers).Scan()
	requests.Close()
	if err := <-served; err != nil {
		log.Fatal(err)
	}
	for _, st := range stores {
		done, err := st.Sync(ctx)
		fmt.Println(done.Sessions, err, st.Close())
	}
	// Output: 1 <nil> <nil>
}
