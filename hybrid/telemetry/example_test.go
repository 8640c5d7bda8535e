package telemetry_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"time"

	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/amplifier-go/sessionstorage/hybrid/telemetry"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// A store whose calls are spans; a program would send them to its collector.
func Example() {
	dir, err := os.MkdirTemp("", "sessions")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	spans := tracetest.NewInMemoryExporter()
	t, err := telemetry.New(trace.NewTracerProvider(trace.WithSyncer(spans)), nil)
	if err != nil {
		log.Fatal(err)
	}
	store, err := sessionstore.Open(dir, t.Store(nil))
	if err != nil {
		log.Fatal(err)
	}
	hello, err := sessionstore.Text("user", "hello", time.Time{})
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	if err := store.Append(ctx, "greeting", hello); err != nil {
		log.Fatal(err)
	}
	if _, err := store.Load(ctx, "greeting"); err != nil {
		log.Fatal(err)
	}
	if err := errors.Join(store.Close(), t.Close()); err != nil {
		log.Fatal(err)
	}
	for _, span := range spans.GetSpans() {
		fmt.Println(span.Name, span.Status.Code)
	}
	// Output:
	// sessionstorage append to Unset
	// sessionstorage load Unset
}
