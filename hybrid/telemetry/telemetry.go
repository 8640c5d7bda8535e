package telemetry

import (
	"context"
	"errors"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	mnoop "go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/trace"
	tnoop "go.opentelemetry.io/otel/trace/noop"

	"github.com/amplifier-go/sessionstorage/hybrid"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// scope is the name under which spans and metrics are made.
const scope = "github.com/amplifier-go/sessionstorage/hybrid/telemetry"

// Telemetry is an observer of stores. Its methods may be called by many
// goroutines.
type Telemetry struct {
	tracer trace.Tracer
	instruments
	gauge metric.Registration

	mu      sync.Mutex        // guards backlog
	backlog map[string]string // states of the sessions that are not in step
}

var (
	_ sessionstore.Observer = (*Telemetry)(nil)
	_ hybrid.Observer       = (*Telemetry)(nil)
)

// New makes the instruments. A provider that is nil gets nothing. Close ends
// the telemetry; the providers stay the caller's.
func New(spans trace.TracerProvider, metrics metric.MeterProvider) (*Telemetry, error) {
	if spans == nil {
		spans = tnoop.NewTracerProvider()
	}
	if metrics == nil {
		metrics = mnoop.NewMeterProvider()
	}
	t := &Telemetry{tracer: spans.Tracer(scope), backlog: map[string]string{}}
	meter := metrics.Meter(scope)
	backlog, err := t.make(meter)
	if err != nil {
		return nil, err
	}
	t.gauge, err = meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		for state, n := range t.waiting() {
			o.ObserveInt64(backlog, n, metric.WithAttributes(attribute.String("state", state)))
		}
		return nil
	}, backlog)
	return t, err
}

// Close ends the reports of the backlog. Stores that still have the telemetry may go on
// using it.
func (t *Telemetry) Close() error { return t.gauge.Unregister() }

// Store returns a copy of o, which may be nil, for a store that t observes. An Observer of o
// is called too.
func (t *Telemetry) Store(o *sessionstore.Options) *sessionstore.Options {
	out := sessionstore.Options{}
	if o != nil {
		out = *o
	}
	if out.Observer = t; o != nil && o.Observer != nil {
		out.Observer = storeObservers{t, o.Observer}
	}
	return &out
}

// Hybrid returns a copy of o, which may be nil, for a store whose files and copying t
// observes. An OnStatus and Observers of o are called too.
func (t *Telemetry) Hybrid(o *hybrid.Options) *hybrid.Options {
	out := hybrid.Options{}
	if o != nil {
		out = *o
	}
	if out.Store, out.Observer = t.Store(out.Store), t; o != nil && o.Observer != nil {
		out.Observer = hybridObservers{t, o.Observer}
	}
	place, then := out.Project+"\x00", out.OnStatus
	out.OnStatus = func(s hybrid.Status) {
		t.status(place+s.SessionID, s)
		if then != nil {
			then(s)
		}
	}
	return &out
}

// Called makes a span and a measurement of a call of a store.
func (t *Telemetry) Called(ctx context.Context, c sessionstore.Call) {
	end := time.Now()
	t.duration.Record(ctx, end.Sub(c.Start).Seconds(), metric.WithAttributes(
		attribute.String("op", c.Op), attribute.Bool("error", c.Err != nil)))
	if c.Recovered {
		t.recoveries.Add(ctx, 1)
	}
	span := t.span(ctx, "sessionstorage "+c.Op, c.Start, attribute.String("session", c.Session))
	if c.Recovered {
		span.SetAttributes(attribute.Bool("recovered", true))
	}
	finish(span, end, c.Err)
}

// Wrote counts bytes that were written to a file.
func (t *Telemetry) Wrote(bytes int) { t.written.Add(context.Background(), int64(bytes)) }

// Synced counts a sync of a file or directory.
func (t *Telemetry) Synced() { t.syncs.Add(context.Background(), 1) }

// SessionSynced makes a span and measurements of a sync of a session.
func (t *Telemetry) SessionSynced(ctx context.Context, v hybrid.SessionSync) {
	end := time.Now()
	t.sessionSyncs.Record(ctx, end.Sub(v.Start).Seconds(), metric.WithAttributes(
		attribute.Stringer("state", v.State), attribute.Stringer("did", v.Did), attribute.Bool("error", v.Err != nil)))
	t.sent.Add(ctx, v.Bytes)
	t.segments.Add(ctx, int64(v.Segments))
	name := "sessionstorage sync"
	if v.Pull {
		name = "sessionstorage pull"
	}
	span := t.span(ctx, name, v.Start,
		attribute.String("session", v.Session), attribute.Stringer("state", v.State), attribute.Stringer("did", v.Did),
		attribute.Int("segments", v.Segments), attribute.Int64("bytes", v.Bytes),
		attribute.Int("requests", v.Requests), attribute.Float64("request_units", v.RequestUnits))
	finish(span, end, v.Err)
}

// Requested counts a request to the remote.
func (t *Telemetry) Requested(ctx context.Context, r hybrid.Request) {
	t.requests.Add(ctx, 1, metric.WithAttributes(attribute.Int("http.response.status_code", r.Status)))
	t.units.Add(ctx, r.RequestUnits)
}

func (t *Telemetry) span(ctx context.Context, name string, start time.Time, attributes ...attribute.KeyValue) trace.Span {
	_, span := t.tracer.Start(ctx, name, trace.WithTimestamp(start), trace.WithAttributes(attributes...))
	return span
}

func finish(span trace.Span, end time.Time, err error) {
	if err != nil {
		span.SetStatus(codes.Error, err.Error())
	}
	span.End(trace.WithTimestamp(end))
}

// status records whether a session is in step.
func (t *Telemetry) status(session string, s hybrid.Status) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch s.State {
	case hybrid.Pending, hybrid.Deferred, hybrid.Blocked, hybrid.Behind:
		t.backlog[session] = s.State.String()
	default:
		if s.Err == nil || errors.Is(s.Err, hybrid.ErrRemoved) {
			delete(t.backlog, session)
		} else {
			t.backlog[session] = s.State.String()
		}
	}
}

// waiting counts the sessions that are not in step, by state. Each state is in the
// result, so that a state without sessions reads zero.
func (t *Telemetry) waiting() map[string]int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := map[string]int64{}
	for _, state := range []hybrid.State{hybrid.Pending, hybrid.Deferred, hybrid.Blocked, hybrid.Behind} {
		n[state.String()] = 0
	}
	for _, state := range t.backlog {
		n[state]++
	}
	return n
}
