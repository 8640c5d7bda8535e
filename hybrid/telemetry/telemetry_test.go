package telemetry

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/amplifier-go/sessionstorage/hybrid"
	"github.com/amplifier-go/sessionstorage/hybrid/cosmos"
	"github.com/amplifier-go/sessionstorage/internal/test/cosmostest"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// telling is a telemetry whose spans and metrics stay in memory.
type telling struct {
	*Telemetry
	spans  *tracetest.InMemoryExporter
	reader *metric.ManualReader
	traces *trace.TracerProvider
}

func newTelling(t *testing.T) *telling {
	out := &telling{spans: tracetest.NewInMemoryExporter(), reader: metric.NewManualReader()}
	out.traces = trace.NewTracerProvider(trace.WithSyncer(out.spans))
	tel, err := New(out.traces, metric.NewMeterProvider(metric.WithReader(out.reader)))
	require.NoError(t, err)
	out.Telemetry = tel
	t.Cleanup(func() { require.NoError(t, tel.Close()) })
	return out
}

// sum returns the sum, or the count, of the data points of a metric that have
// an attribute, or of all.
func (g *telling) sum(t *testing.T, name string, want ...attribute.KeyValue) float64 {
	t.Helper()
	var all metricdata.ResourceMetrics
	require.NoError(t, g.reader.Collect(t.Context(), &all))
	sum, found := 0.0, false
	add := func(set attribute.Set, v float64) {
		for _, kv := range want {
			if got, ok := set.Value(kv.Key); !ok || got != kv.Value {
				return
			}
		}
		sum += v
	}
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			if m.Name != name {
				continue
			}
			found = true
			switch data := m.Data.(type) {
			case metricdata.Sum[int64]:
				for _, p := range data.DataPoints {
					add(p.Attributes, float64(p.Value))
				}
			case metricdata.Sum[float64]:
				for _, p := range data.DataPoints {
					add(p.Attributes, p.Value)
				}
			case metricdata.Gauge[int64]:
				for _, p := range data.DataPoints {
					add(p.Attributes, float64(p.Value))
				}
			case metricdata.Histogram[float64]:
				for _, p := range data.DataPoints {
					add(p.Attributes, float64(p.Count))
				}
			}
		}
	}
	require.True(t, found, name)
	return sum
}

func say(t *testing.T, st *sessionstore.Store, id string) {
	m, err := sessionstore.Text("user", "the secret word", time.Now())
	require.NoError(t, err)
	require.NoError(t, st.Append(t.Context(), id, m))
}

// heard is an observer of a program.
type heard struct{ calls, writes, syncs, sessions, requests atomic.Int64 }

func (h *heard) Called(context.Context, sessionstore.Call)         { h.calls.Add(1) }
func (h *heard) Wrote(int)                                         { h.writes.Add(1) }
func (h *heard) Synced()                                           { h.syncs.Add(1) }
func (h *heard) SessionSynced(context.Context, hybrid.SessionSync) { h.sessions.Add(1) }
func (h *heard) Requested(context.Context, hybrid.Request)         { h.requests.Add(1) }

// TestObserversOfTheProgram: the observers that the options had go on to be called.
func TestObserversOfTheProgram(t *testing.T) {
	t.Parallel()
	g := newTelling(t)
	own := &heard{}
	s, err := hybrid.Open(t.Context(), t.TempDir(), g.Hybrid(&hybrid.Options{
		Store: &sessionstore.Options{Observer: own}, Observer: own,
		Remote: account(t), Project: "p", User: "u", Device: "d", Manual: true,
	}))
	require.NoError(t, err)
	say(t, s.Store, "s")
	_, err = s.Sync(t.Context())
	require.NoError(t, err)
	require.NoError(t, s.Close())
	for name, n := range map[string]*atomic.Int64{
		"calls": &own.calls, "writes": &own.writes, "syncs": &own.syncs, "sessions": &own.sessions, "requests": &own.requests,
	} {
		require.Positive(t, n.Load(), name)
	}
	require.Positive(t, g.sum(t, "sessionstorage.store.syncs"))
	require.Positive(t, g.sum(t, "sessionstorage.sync.requests"))
}

func TestStore(t *testing.T) {
	t.Parallel()
	g := newTelling(t)
	dir := t.TempDir()
	st, err := sessionstore.Open(dir, g.Store(nil))
	require.NoError(t, err)
	defer func() { require.NoError(t, st.Close()) }()
	say(t, st, "s")
	require.Positive(t, g.sum(t, "sessionstorage.store.written"))
	require.Positive(t, g.sum(t, "sessionstorage.store.syncs"))
	say(t, st, "s")
	require.InDelta(t, 2, g.sum(t, "sessionstorage.store.duration", attribute.String("op", "append to"), attribute.Bool("error", false)), 0)

	ctx, parent := g.traces.Tracer("test").Start(t.Context(), "request")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "s", "transcript.jsonl"), []byte("{\n"), 0o600))
	_, err = st.Load(ctx, "s")
	require.NoError(t, err)
	_, err = st.Load(ctx, "none")
	require.ErrorIs(t, err, sessionstore.ErrNotFound)
	parent.End()
	require.InDelta(t, 1, g.sum(t, "sessionstorage.store.recoveries"), 0)
	require.InDelta(t, 1, g.sum(t, "sessionstorage.store.duration", attribute.String("op", "load"), attribute.Bool("error", true)), 0)

	spans := g.spans.GetSpans()
	require.Len(t, spans, 5)
	require.Equal(t, "sessionstorage append to", spans[0].Name)
	require.Contains(t, spans[0].Attributes, attribute.String("session", "s"))
	for _, span := range spans[2:4] {
		require.Equal(t, "sessionstorage load", span.Name)
		require.Equal(t, parent.SpanContext().SpanID(), span.Parent.SpanID())
		require.False(t, span.EndTime.Before(span.StartTime))
	}
	require.Contains(t, spans[2].Attributes, attribute.Bool("recovered", true))
	require.Equal(t, codes.Unset, spans[2].Status.Code)
	require.Equal(t, codes.Error, spans[3].Status.Code)
}

// account is an account inside of the process.
func account(t *testing.T) *cosmos.Remote {
	srv := cosmostest.New(nil)
	require.NoError(t, srv.CreateContainer(cosmos.DefaultDatabase, cosmos.DefaultContainer, ""))
	c, err := cosmos.Connect(t.Context(), cosmos.Config{Endpoint: srv.Endpoint(), Key: srv.Key()}, nil,
		&azcosmos.ClientOptions{ClientOptions: policy.ClientOptions{Transport: srv.Transport()}})
	require.NoError(t, err)
	return c
}

func TestSync(t *testing.T) {
	t.Parallel()
	g := newTelling(t)
	heard := 0
	st, err := hybrid.Open(t.Context(), t.TempDir(), g.Hybrid(&hybrid.Options{
		Remote: account(t), Project: "demo", User: "ada", Device: "laptop", Manual: true,
		OnStatus: func(hybrid.Status) { heard++ },
	}))
	require.NoError(t, err)
	defer func() { require.NoError(t, st.Close()) }()
	say(t, st.Store, "a")
	say(t, st.Store, "b")
	result, err := st.Sync(t.Context())
	require.NoError(t, err)
	require.Equal(t, 2, heard)

	require.InDelta(t, result.Requests, g.sum(t, "sessionstorage.sync.requests"), 0)
	require.InDelta(t, result.RequestUnits, g.sum(t, "sessionstorage.sync.request_units"), 1e-6)
	require.InDelta(t, result.Bytes, g.sum(t, "sessionstorage.sync.sent"), 0)
	require.InDelta(t, result.Segments, g.sum(t, "sessionstorage.sync.segments"), 0)
	require.InDelta(t, 2, g.sum(t, "sessionstorage.sync.duration", attribute.Stringer("did", hybrid.Pushed)), 0)
	require.Zero(t, g.sum(t, "sessionstorage.sync.backlog"))
	_, err = st.Pull(t.Context(), "a")
	require.NoError(t, err)
	named := map[string]int{}
	for _, span := range g.spans.GetSpans() {
		named[span.Name]++
		for _, kv := range span.Attributes {
			require.False(t, strings.Contains(kv.Value.String(), "secret"), span.Name)
		}
	}
	require.Equal(t, 2, named["sessionstorage sync"])
	require.Equal(t, 1, named["sessionstorage pull"])
}

func TestBacklog(t *testing.T) {
	t.Parallel()
	g := newTelling(t)
	o := g.Hybrid(&hybrid.Options{Project: "demo"})
	tell := func(id string, state hybrid.State, err error) {
		o.OnStatus(hybrid.Status{SessionID: id, State: state, Err: err})
	}
	tell("a", hybrid.Pending, nil)
	tell("b", hybrid.Blocked, hybrid.ErrBlocked)
	tell("c", hybrid.UpToDate, errors.New("x"))
	tell("d", hybrid.UpToDate, nil)
	tell("e", hybrid.Removed, hybrid.ErrRemoved)
	require.InDelta(t, 3, g.sum(t, "sessionstorage.sync.backlog"), 0)
	require.InDelta(t, 1, g.sum(t, "sessionstorage.sync.backlog", attribute.Stringer("state", hybrid.Blocked)), 0)
	other := g.Hybrid(&hybrid.Options{Project: "other"})
	other.OnStatus(hybrid.Status{SessionID: "a", State: hybrid.Pending})
	require.InDelta(t, 2, g.sum(t, "sessionstorage.sync.backlog", attribute.Stringer("state", hybrid.Pending)), 0)
	for _, id := range []string{"a", "b", "c"} {
		tell(id, hybrid.UpToDate, nil)
	}
	require.InDelta(t, 1, g.sum(t, "sessionstorage.sync.backlog"), 0)
}

// Without providers nothing is told and nothing fails.
func TestNoProviders(t *testing.T) {
	t.Parallel()
	g, err := New(nil, nil)
	require.NoError(t, err)
	st, err := sessionstore.Open(t.TempDir(), g.Store(&sessionstore.Options{Durability: sessionstore.Relaxed}))
	require.NoError(t, err)
	say(t, st, "s")
	require.NoError(t, st.Close())
	g.SessionSynced(context.Background(), hybrid.SessionSync{Err: hybrid.ErrBlocked})
	g.Requested(context.Background(), hybrid.Request{})
	require.NoError(t, g.Close())
}

// The page of the package names the metrics that there are.
func TestPageNamesTheMetrics(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	made, err := os.ReadFile("instruments.go")
	require.NoError(t, err)
	name := regexp.MustCompile(`sessionstorage\.(store|sync)\.\w+`)
	told := name.FindAllString(string(page), -1)
	require.Len(t, told, 10)
	require.ElementsMatch(t, told, name.FindAllString(string(made), -1))
}
