package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/amplifier-go/sessionstorage/examples/sessions/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends what waits, as for the reader of a pipe
	code := cli.Run(ctx, cli.Process{Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr})
	stop()
	os.Exit(code)
}
