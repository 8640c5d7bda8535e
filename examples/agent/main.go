// Agent is a small agent that keeps its sessions with this library. It continues or begins
// a session, asks and answers. With -fork it also forks the session. Where COSMOS_ENDPOINT and COSMOS_KEY
// name an account, it receives the changes of other devices and sends its own. It answers
// without a network, too; a later run then sends the turn. With -acp it serves an editor.
//
//	go run -C examples/agent . [-model MODEL] [-id SESSION] [-dir DIR] [-fork] QUESTION
//	go run -C examples/agent . -acp [-model MODEL] [-dir PROJECTS]
//
// MODEL is anthropic:NAME, openai:NAME or gemini:NAME, with the key of the account in
// ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY. The model may list files, when the user
// allows it. Without a QUESTION, the agent goes on with a turn that was interrupted. Without
// -model the answer is made up.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/hybrid"
	"github.com/amplifier-go/sessionstorage/hybrid/cosmos"
	remotedir "github.com/amplifier-go/sessionstorage/hybrid/dir"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice"
)

func main() {
	if err := run(context.Background(), os.Stdout, os.Args[1:]...); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, out io.Writer, args ...string) (err error) {
	flags := flag.NewFlagSet("agent", flag.ExitOnError)
	dir := flags.String("dir", "", "sessions directory (default: that of the working directory)")
	id := flags.String("id", sessionstore.NewID(), "session to go on with (default: a new one)")
	last := flags.Bool("last", false, "go on with the session that changed last")
	fork := flags.Bool("fork", false, "fork the session after the answer, to try something else from there")
	remote := flags.String("remote", "", "dir:PATH, a directory that all devices share, or cosmos://ACCOUNT/DATABASE/CONTAINER, with the key in COSMOS_KEY (default: the account of COSMOS_ENDPOINT, if set)")
	provision := flags.Bool("provision", false, "make the remote dir:PATH first, once: a later run that finds none takes it for a disk that is not mounted")
	named := flags.String("model", "", "model that answers: anthropic:NAME, openai:NAME or gemini:NAME (default: an answer that is made up)")
	editor := flags.Bool("acp", false, "answer an editor on standard input and output; -dir is a directory of projects then")
	if err := flags.Parse(args); err != nil {
		return err
	}
	asks, err := modelOf(*named)
	if err != nil {
		return err
	}
	if *editor {
		return serve(ctx, *dir, asks, os.Stdin, out)
	}
	question := strings.Join(flags.Args(), " ")
	options := &hybrid.Options{User: os.Getenv("USER"), Project: "agent", Redact: hybrid.Secrets()}
	if place, ok := strings.CutPrefix(*remote, "dir:"); ok {
		r, err := share(ctx, place, *provision)
		if err != nil {
			log.Print(err) // a later run sends the turn
		} else {
			defer r.Close()
			options.Remote = r
		}
	} else if config, ok := cosmos.ConfigFromEnv(); ok || *remote != "" {
		if *remote != "" {
			if config, err = cosmos.ConfigFromURL(*remote); err != nil {
				return err
			}
		}
		if options.Remote, err = cosmos.Connect(ctx, config, nil, nil); err != nil {
			return err
		}
	}
	store, err := hybrid.Open(ctx, *dir, options) // without a remote it is a local store
	if err != nil {
		return err
	}
	defer func() {
		closed := store.Close() // sends the rest
		if errors.Is(closed, hybrid.ErrDeferred) {
			log.Print(closed) // it is on the disk, and a later run sends it
			closed = nil
		}
		err = errors.Join(err, closed)
	}()

	if *last {
		latest, err := store.Latest(ctx)
		if err != nil {
			return err
		}
		*id = latest.ID
	}
	if options.Remote != nil {
		_, err := store.Refresh(ctx, *id) // receives the changes of other devices
		if err != nil && !errors.Is(err, sessionstore.ErrNotFound) {
			log.Print(err)
		}
	}
	if err := asks.converse(ctx, out, store.Store, *id, question); err != nil {
		return err
	}
	fmt.Fprintf(out, "\n\ngo on:          agent -id %s\n", *id)
	if *fork {
		forked, err := slice.Fork(ctx, store.Store, *id, nil)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "another answer: agent -id %s\n", forked.ID)
	}
	return nil
}

// share opens a directory that devices share, and makes a remote of a new one if asked to. It
// waits at most 5 seconds for a file server.
func share(ctx context.Context, place string, provision bool) (*remotedir.Remote, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if provision {
		if err := remotedir.Provision(ctx, place); err != nil {
			return nil, err
		}
	}
	return remotedir.Open(ctx, place)
}
