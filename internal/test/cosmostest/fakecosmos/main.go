// Command fakecosmos serves an empty Azure Cosmos DB account in memory on a loopback
// address, until it is interrupted. It prints one line when it is ready:
//
//	listening http://127.0.0.1:N/ key BASE64
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/test/cosmostest"
)

func main() {
	port := flag.Int("port", 0, "port on 127.0.0.1; 0 is any free one")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *port); err != nil {
		fmt.Fprintln(os.Stderr, "fakecosmos:", err)
		os.Exit(1)
	}
}

// run serves until ctx ends.
func run(ctx context.Context, port int) error {
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return err
	}
	account := cosmostest.New(nil)
	server := &http.Server{Handler: account, ReadHeaderTimeout: 10 * time.Second}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	fmt.Printf("listening http://%s/ key %s\n", listener.Addr(), account.Key())
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
