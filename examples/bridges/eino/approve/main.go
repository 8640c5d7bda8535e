//go:build !386 && !arm

// Approve runs a graph of eino that waits for an approval: the first run asks,
// and leaves its checkpoint in the session; a later run with -yes goes on there,
// and removes the checkpoint.
//
//	go run ./approve DIR SESSION TARGET
//	go run ./approve DIR SESSION -yes
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/cloudwego/eino/compose"

	"github.com/amplifier-go/sessionstorage/examples/bridges/eino"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

func main() {
	if err := run(context.Background(), os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "approve:", err)
		os.Exit(1)
	}
}

// checkPoint is the id of the graph's checkpoint in the session.
const checkPoint = "deploy"

func run(ctx context.Context, args []string, out io.Writer) (err error) {
	if len(args) != 3 {
		return errors.New("usage: approve DIR SESSION TARGET, or -yes as TARGET")
	}
	store, err := sessionstore.Open(args[0], nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	checkPoints := eino.New(store, args[1])
	if args[2] == "-yes" {
		_, waits, err := checkPoints.Get(ctx, checkPoint)
		if err != nil {
			return err
		}
		if !waits {
			return errors.New("nothing waits for an approval")
		}
	}
	graph, err := newGraph(ctx, checkPoints)
	if err != nil {
		return err
	}
	done, err := graph.Invoke(ctx, args[2], compose.WithCheckPointID(checkPoint))
	if waits, ok := compose.ExtractInterruptInfo(err); ok {
		question := waits.InterruptContexts[0]
		if args[2] != "-yes" {
			fmt.Fprintln(out, question.Info)
			return nil
		}
		done, err = graph.Invoke(compose.Resume(ctx, question.ID), "", compose.WithCheckPointID(checkPoint))
	}
	if err != nil {
		return err
	}
	fmt.Fprintln(out, done)
	return checkPoints.Delete(ctx, checkPoint)
}

// newGraph returns a graph of one step, which interrupts the run to ask.
func newGraph(ctx context.Context, checkPoints *eino.CheckPoints) (compose.Runnable[string, string], error) {
	g := compose.NewGraph[string, string]()
	deploy := func(ctx context.Context, target string) (string, error) {
		interrupted, _, asked := compose.GetInterruptState[string](ctx)
		if !interrupted {
			return "", compose.StatefulInterrupt(ctx, "Deploy to "+target+"?", target)
		}
		if resumed, _, _ := compose.GetResumeContext[any](ctx); !resumed {
			return "", compose.StatefulInterrupt(ctx, "Deploy to "+asked+"?", asked)
		}
		return "Deployed to " + asked + ".", nil
	}
	err := errors.Join(g.AddLambdaNode("deploy", compose.InvokableLambda(deploy)), g.AddEdge(compose.START, "deploy"), g.AddEdge("deploy", compose.END))
	if err != nil {
		return nil, err
	}
	return g.Compile(ctx, compose.WithCheckPointStore(checkPoints))
}
