package hybrid

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/replica"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// gossip answers some requests with an error that repeats all it was told.
type gossip struct {
	tripwire
	mu    sync.Mutex // guards what follows
	rand  *rand.Rand
	share float64
}

func (g *gossip) Do(r *http.Request) (*http.Response, error) {
	g.mu.Lock()
	bad, what := g.rand.Float64() < g.share, g.rand.IntN(8)
	g.mu.Unlock()
	if !bad || r.URL.Path == "/" || r.URL.Path == "" {
		return g.tripwire.Do(r)
	}
	status := []int{400, 401, 403, 404, 409, 412, 413, 500}[what]
	var told []byte
	if r.Body != nil {
		told, _ = io.ReadAll(r.Body) // what is missing is not repeated
	}
	body := fmt.Sprintf(`{"code": "Bad", "message": %q}`, told)
	return &http.Response{
		StatusCode: status, Status: fmt.Sprint(status, " ", http.StatusText(status)), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body)), Request: r,
	}, nil
}

// ear hears all that is told to people: logs, statuses and errors.
type ear struct {
	mu   sync.Mutex // guards text
	text bytes.Buffer
}

func (e *ear) Write(p []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.text.Write(p)
}

func (e *ear) heard(err error) {
	if err != nil {
		fmt.Fprintf(e, "%v\n", err)
	}
}

func (e *ear) String() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.text.String()
}

// TestNothingIsToldOfContent puts marks into everything that people write, lets
// all kinds of things go wrong, and looks for the marks where they must not be.
func TestNothingIsToldOfContent(t *testing.T) {
	t.Parallel()
	seed := testenv.Seed(t)
	synctest.Test(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(seed, 3))
		secret := func(what string) string { return fmt.Sprintf("%s%08x", what, r.Uint32()) }
		user, project, content, name := secret("USER"), secret("PROJECT"), secret("CONTENT"), secret("NAME")
		session := secret("session")
		c := newCloud(t, nil)
		e := &ear{}
		wires := map[string]*gossip{}
		open := func(device string) *testDevice {
			g := &gossip{rand: rand.New(rand.NewPCG(seed, 4))}
			wires[device] = g
			g.next = c.Transport()
			return c.device(t, device, through(t, c, g), background, func(o *Options) {
				o.User, o.Project = user, project
				o.Logger = slog.New(slog.NewTextHandler(e, &slog.HandlerOptions{Level: slog.LevelDebug}))
				o.OnStatus = func(s Status) { fmt.Fprintf(e, "%+v\n", s) }
			})
		}
		a, b := open("a"), open("b")
		both := []*testDevice{a, b}
		for i := range 25 {
			d := both[r.IntN(2)]
			wires["a"].set(float64(i%4) * 0.2)
			wires["b"].set(float64(i%3) * 0.2)
			mark(t, d, session, content, name, i)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			trouble(ctx, d, session, r, e)
			cancel()
			if i%5 == 0 {
				harmAny(t, c, r)
			}
			time.Sleep(time.Duration(r.IntN(20)) * time.Minute)
		}
		for _, d := range both {
			all, err := d.Status(t.Context())
			e.heard(err)
			fmt.Fprintf(e, "%+v\n", all)
		}
		told := e.String()
		require.Contains(t, told, session, "seed %d: something was told", seed)
		for _, secret := range []string{user, content, name} {
			require.NotContains(t, told, secret, "seed %d", seed)
		}
		docs := c.Docs(testDatabase, testContainer)
		require.NotEmpty(t, docs)
		c.requirePlain(t, []string{user, project, content, name, session}, nil) // so their absence elsewhere proves something
		for _, doc := range docs {
			for _, secret := range []string{user, project, content, name, session} {
				require.NotContains(t, doc.ID+doc.Partition, secret, "seed %d", seed)
			}
		}
	})
}

func (g *gossip) set(share float64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.share = share
}

// mark writes something with marks into each kind of file.
func mark(t *testing.T, d *testDevice, id, content, name string, i int) {
	d.say(id, content+fmt.Sprint(i))
	_, err := d.UpdateMetadata(t.Context(), id, func(md *sessionstore.Metadata) error { return md.Set("name", name+fmt.Sprint(i)) })
	require.NoError(t, err)
	d.appendTo(id, "events.jsonl", `{"event": "x", "data": "`+content+`"}`+"\n")
	d.put(id, "config.md", strings.Repeat(content, 1000))
	switch i % 9 {
	case 3:
		d.put(id, "transcript.jsonl", d.file(id, "transcript.jsonl")+content) // torn
	case 5:
		d.put(id, "metadata.json", content) // damaged
	case 7:
		require.NoError(t, os.WriteFile(filepath.Join(d.Dir(), ".sessionstore", "sync", d.engine.SID(id)+".json"), []byte(content), 0o600))
	}
}

// trouble calls what there is, and listens to what it says.
func trouble(ctx context.Context, d *testDevice, id string, r *rand.Rand, e *ear) {
	_, err := d.Sync(ctx)
	e.heard(err)
	_, err = d.Pull(ctx, id)
	e.heard(err)
	switch r.IntN(6) {
	case 0:
		report, err := d.Check(ctx, id, nil)
		e.heard(err)
		fmt.Fprintf(e, "%+v\n", report)
	case 1:
		report, err := d.Check(ctx, id, &CheckOptions{Mend: true})
		e.heard(err)
		fmt.Fprintf(e, "%+v\n", report)
	case 2:
		_, err := d.Prune(ctx, atOnceOf())
		e.heard(err)
	case 3:
		_, err := d.Status(ctx)
		e.heard(err)
	case 4:
		branches, err := d.Histories(ctx, id)
		e.heard(err)
		if len(branches) > 0 {
			e.heard(d.Restore(ctx, id, branches[0]))
		}
	case 5:
		_, err := d.Remote(ctx)
		e.heard(err)
	}
}

// harmAny damages some document.
func harmAny(t *testing.T, c *cloud, r *rand.Rand) {
	docs := c.Docs(testDatabase, testContainer)
	if len(docs) == 0 {
		return
	}
	d := docs[r.IntN(len(docs))]
	require.NoError(t, c.Edit(testDatabase, testContainer, d.Partition, d.ID, func(body []byte) []byte {
		return []byte(strings.NewReplacer(`"data":"K`, `"data":"L`, `"data":"A`, `"data":"B`, `\"rev\":`, `\"rev\":1`, `"rev":`, `"rev":1`).Replace(string(body)))
	}))
}

// TestPrivateOutlivesTheProcess opens a directory again and again, with globs and
// without.
func TestPrivateOutlivesTheProcess(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	dir := filepath.Join(t.TempDir(), "sessions")
	say := func(want int, edit ...func(*Options)) {
		t.Helper()
		a := c.deviceAt(t, dir, "a", edit...)
		a.say("private-1", "x")
		a.say("open", "x")
		require.Equal(t, want, a.sync().Pushed)
		require.NoError(t, a.Close())
	}
	private := func(globs ...string) func(*Options) { return func(o *Options) { o.Private = globs } }
	say(1, private("private-*"))
	say(1)
	say(1)
	file := filepath.Join(dir, ".sessionstore", "sync", replica.PrivateFile)
	for _, damaged := range []string{"", "{", `{"v":2,"globs":[]}`} {
		require.NoError(t, os.WriteFile(file, []byte(damaged), 0o600))
		say(0) // nothing leaves by mistake
	}
	say(0, private("*"))
	say(0)
	say(1, private("open"))
	say(1)
	say(2, func(o *Options) { o.Private = []string{} })
	say(2)
}

// TestLocalOnlyOutlivesTheProcess does the same with sessions that were named.
func TestLocalOnlyOutlivesTheProcess(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	dir := filepath.Join(t.TempDir(), "sessions")
	a := c.deviceAt(t, dir, "a")
	require.NoError(t, a.KeepLocal(t.Context(), "mine"))
	for range 3 {
		require.NoError(t, a.Close())
		a = c.deviceAt(t, dir, "a")
		a.say("mine", "x")
		require.Zero(t, a.sync().Pushed)
		require.Empty(t, c.documents())
	}
	file := filepath.Join(dir, ".sessionstore", "sync", replica.LocalOnlyFile)
	whole, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, []byte("{"), 0o600))
	require.NoError(t, a.Close())
	a = c.deviceAt(t, dir, "a")
	a.say("other", "x")
	require.Zero(t, a.sync().Pushed, "nothing leaves by mistake")
	require.NoError(t, os.WriteFile(file, whole, 0o600))
	require.Equal(t, 1, a.sync().Pushed)
}
