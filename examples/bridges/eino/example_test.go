//go:build !386 && !arm

package eino_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/cloudwego/eino/compose"

	"github.com/amplifier-go/sessionstorage/examples/bridges/eino"
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

	g := compose.NewGraph[string, string]()
	deploy := func(ctx context.Context, target string) (string, error) {
		interrupted, _, asked := compose.GetInterruptState[string](ctx)
		if !interrupted {
			return "", compose.StatefulInterrupt(ctx, "deploy?", target)
		}
		return "deployed to " + asked, nil
	}
	if err := g.AddLambdaNode("deploy", compose.InvokableLambda(deploy)); err != nil {
		log.Fatal(err)
	}
	if err := g.AddEdge(compose.START, "deploy"); err != nil {
		log.Fatal(err)
	}
	if err := g.AddEdge("deploy", compose.END); err != nil {
		log.Fatal(err)
	}
	checkPoints := eino.New(store, "0d5e4f0e-8f0c-4c55-8d3e-9c7b3f1c1e11")
	run, err := g.Compile(ctx, compose.WithCheckPointStore(checkPoints))
	if err != nil {
		log.Fatal(err)
	}

	_, err = run.Invoke(ctx, "staging", compose.WithCheckPointID("first"))
	interrupt, ok := compose.ExtractInterruptInfo(err)
	if !ok {
		log.Fatal(err)
	}
	question := interrupt.InterruptContexts[0]
	fmt.Println(question.Info)

	said := compose.Resume(ctx, question.ID) // yes, maybe days later
	done, err := run.Invoke(said, "", compose.WithCheckPointID("first"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(done)
	// Output:
	// deploy?
	// deployed to staging
}
