// Command fakecosmos serves an empty Azure Cosmos DB account in memory on a
// loopback address, until it is interrupted.
//
//	go run ./internal/cosmostest/fakecosmos [-port N] [-key BASE64] [-throughput RU] [-ranges N] [-feed-page N]
//
// It prints one line, "listening http://127.0.0.1:N/ key BASE64", when it is
// ready. Port 0 is any free one.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/cosmostest"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "fakecosmos:", err)
		os.Exit(1)
	}
}

// run serves until ctx ends.
func run(ctx context.Context, args []string, out io.Writer) error {
	var o cosmostest.Options
	flags := flag.NewFlagSet("fakecosmos", flag.ContinueOnError)
	port := flags.Int("port", 0, "port on 127.0.0.1; 0 is any free one")
	flags.StringVar(&o.Key, "key", "", "account key in base64; 64 zero bytes when empty")
	flags.Float64Var(&o.Throughput, "throughput", 0, "request units that a container serves in a second; 0 is no limit")
	if err := flags.Parse(args); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(*port)))
	if err != nil {
		return err
	}
	account := cosmostest.New(&o)
	server := &http.Server{Handler: account, ReadHeaderTimeout: 10 * time.Second}
	fmt.Fprintf(out, "listening http://%s/ key %s\n", listener.Addr(), account.Key())
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	closing := server.Close()
	if err := <-done; !errors.Is(err, http.ErrServerClosed) {
		return errors.Join(err, closing)
	}
	return closing
}
