package hybrid

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/cosmos"
	"github.com/amplifier-go/sessionstorage/internal/test/cosmostest"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// TestMemoryOfLongLine sends and fetches a line of 100 MB, or 4 MB, in processes of
// their own. The line is held once to be sent; to be fetched it is held once
// more until the file was checked. What the collector leaves lying is kept
// small by it running often.
func TestMemoryOfLongLine(t *testing.T) {
	t.Parallel()
	line, rest := 100<<20, 80<<20
	if !testenv.Long() {
		line = 4 << 20
	}
	c := newCloud(t, nil)
	work := c.serve(t, c)
	work.Tidy = true
	a, b := c.device(t, "a"), c.device(t, "b")
	a.say("s", "one")
	a.put("s", "transcript.jsonl", noise(line)+"\n")
	sent := work.by("a", "sync").finish(t, a.Dir())
	fetched := work.by("b", "pull s").finish(t, b.Dir())
	require.True(t, a.file("s", "transcript.jsonl") == b.file("s", "transcript.jsonl"))
	t.Logf("memory of the process that sent: %d MB, that fetched: %d MB", sent>>20, fetched>>20)
	require.Less(t, sent, uint64(line+line/10+rest))
	require.Less(t, fetched, uint64(2*line+line/10+rest))
}

// TestInFlight sends and fetches a line of 100 MB and fifty of 3 MB, or less, over a line
// on which every request takes its time, so that as many are under way as may
// be: a session has 8 MB in flight at most.
func TestInFlight(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCloud(t, nil)
		g := &gauge{next: c.Transport()}
		cred, err := azcosmos.NewKeyCredential(c.Key())
		require.NoError(t, err)
		client, err := azcosmos.NewClientWithKey(c.Endpoint(), cred, &azcosmos.ClientOptions{
			ClientOptions: policy.ClientOptions{Transport: g},
		})
		require.NoError(t, err)
		defer client.Close()
		container, err := client.NewContainer(testDatabase, testContainer)
		require.NoError(t, err)
		through := func(o *Options) { o.Remote = cosmos.New(container) }
		a, b := c.device(t, "a", through), c.device(t, "b", through)
		c.Inject(cosmostest.Data(func(cosmostest.Request) cosmostest.Fault { return cosmostest.Delay(50 * time.Millisecond) }))

		size, lines := 100<<20, 50
		if !testenv.Long() {
			size, lines = 4<<20, 2
		}
		long := noise(size)
		many := strings.Builder{}
		for i := range lines {
			fmt.Fprintf(&many, "%d %s\n", i, long[i<<20:(i+3)<<20])
		}
		for id, text := range map[string]string{"long": long + "\n", "many": many.String()} {
			a.say(id, "one")
			a.put(id, "transcript.jsonl", text)
			a.put(id, "events.jsonl", text[len(text)-size/10:])
			g.most = 0
			begun := time.Now()
			a.sync(id)
			sent := time.Since(begun)
			require.Greater(t, g.most, int64(2<<20), "they were under way at the same time")
			require.LessOrEqual(t, g.most, int64(8<<20), "sent")
			t.Logf("%s: sent in %v at 50 ms a request, %.1f MB at once", id, sent, float64(g.most)/(1<<20))
			g.most, begun = 0, time.Now()
			b.pull(id)
			require.LessOrEqual(t, g.most, int64(8<<20), "fetched")
			t.Logf("%s: fetched in %v, %.1f MB at once", id, time.Since(begun), float64(g.most)/(1<<20))
			require.True(t, b.file(id, "transcript.jsonl") == text)
		}
	})
}

// gauge tells how many bytes of requests and answers were under way at once.
type gauge struct {
	next policy.Transporter

	mu        sync.Mutex // guards what follows
	now, most int64
}

func (g *gauge) add(n int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.now += n
	g.most = max(g.most, g.now)
}

func (g *gauge) Do(r *http.Request) (*http.Response, error) {
	sent := max(0, r.ContentLength)
	g.add(sent)
	answer, err := g.next.Do(r)
	g.add(-sent)
	if err == nil {
		got := max(0, answer.ContentLength)
		g.add(got)
		answer.Body = &measured{answer.Body, func() { g.add(-got) }}
	}
	return answer, err
}

// measured tells when an answer was read, which takes its time.
type measured struct {
	io.ReadCloser
	done func()
}

func (m *measured) Close() error {
	m.done()
	m.done = func() {}
	return m.ReadCloser.Close()
}

func (m *measured) Read(p []byte) (int, error) {
	time.Sleep(time.Millisecond)
	n, err := m.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		m.done()
		m.done = func() {}
	}
	return n, err
}
