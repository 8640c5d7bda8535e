package s3

import (
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// cost is requests by their kind, and bytes of their bodies and of answers.
type cost struct{ puts, gets, lists, deletes, up, down int }

// counter is a transport that counts.
type counter struct {
	listed chan struct{} // gets a value for each list, where it has room

	mu sync.Mutex
	n  cost
}

func (c *counter) Do(req *http.Request) (*http.Response, error) {
	answer, err := http.DefaultClient.Do(req)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n.up += max(0, int(req.ContentLength))
	switch {
	case req.Method == http.MethodPut:
		c.n.puts++
	case req.Method == http.MethodDelete:
		c.n.deletes++
	case req.URL.Query().Has("list-type"):
		c.n.lists++
		select {
		case c.listed <- struct{}{}:
		default:
		}
	default:
		c.n.gets++
	}
	if err == nil {
		answer.Body = &counted{answer.Body, c}
	}
	return answer, err
}

type counted struct {
	io.ReadCloser
	to *counter
}

func (b *counted) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.to.mu.Lock()
	defer b.to.mu.Unlock()
	b.to.n.down += n
	return n, err
}

// spent returns the cost since the last call.
func (c *counter) spent() cost {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.n
	c.n = cost{}
	return n
}

// device opens a store whose requests are counted.
func device(t *testing.T, s *server, root, name string, set func(*hybrid.Options)) (*hybrid.Store, *counter) {
	t.Helper()
	c := &counter{listed: make(chan struct{}, 100)}
	r, err := Open(t.Context(), s.place(prefix(t)), s.config(c))
	require.NoError(t, err)
	o := hybrid.Options{Remote: r, Project: "costs", User: "ada", Device: name, Manual: true}
	if set != nil {
		set(&o)
	}
	st, err := hybrid.Open(t.Context(), filepath.Join(root, name), &o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, st.Close()) })
	return st, c
}

// say appends a turn of 4 KB.
func say(t *testing.T, st *hybrid.Store, id string, n int) {
	t.Helper()
	text := ""
	for i := 0; len(text) < 2<<10; i++ {
		text += fmt.Sprintf("%x ", uint32(n*7919+i)*2654435761)
	}
	ask, err := sessionstore.Text("user", text, time.Now())
	require.NoError(t, err)
	answer, err := sessionstore.Text("assistant", text, time.Now())
	require.NoError(t, err)
	require.NoError(t, st.Append(t.Context(), id, ask, answer))
}

// TestCosts holds the table of the package's documentation.
func TestCosts(t *testing.T) {
	t.Parallel()
	s, root := &server{address: serve(t, gofakes3)}, t.TempDir()
	a, spent := device(t, s, root, "a", nil)
	sync := func(ids ...string) {
		t.Helper()
		_, err := a.Sync(t.Context(), ids...)
		require.NoError(t, err)
	}
	is := func(c *counter, want cost) {
		t.Helper()
		got := c.spent()
		require.LessOrEqual(t, got.up, want.up)
		require.LessOrEqual(t, got.down, want.down)
		require.LessOrEqual(t, want.up/2, got.up, "the table says more than it is")
		require.LessOrEqual(t, want.down/2, got.down, "the table says more than it is")
		got.up, got.down = want.up, want.down
		require.Equal(t, want, got)
	}
	say(t, a, "long", 0)
	sync("long")
	is(spent, cost{puts: 5 + 3, gets: 1, deletes: 2, up: 3000, down: 800}) // with the probe
	for i := range 299 {
		say(t, a, "long", i+1)
		sync("long")
		if i == 0 || i == 298 {
			is(spent, cost{puts: 3, gets: 1, up: 3000})
		}
		spent.spent()
	}
	_, err := a.Refresh(t.Context(), "long")
	require.NoError(t, err)
	is(spent, cost{gets: 1})
	b, fresh := device(t, s, root, "b", nil)
	_, err = b.Pull(t.Context(), "long")
	require.NoError(t, err)
	is(fresh, cost{lists: 1, gets: 1 + 2*300, down: 1_100_000})
	for i := range 99 {
		say(t, a, fmt.Sprint("s-", i), i)
	}
	sync()
	c, fresh := device(t, s, root, "c", nil)
	_, err = c.Remote(t.Context())
	require.NoError(t, err)
	is(fresh, cost{lists: 1, gets: 100, down: 60_000})
}

// TestIdleCosts is a store that runs while nothing changes.
func TestIdleCosts(t *testing.T) {
	t.Parallel()
	s, root := &server{address: serve(t, gofakes3)}, t.TempDir()
	a, _ := device(t, s, root, "a", nil)
	for i := range 3 {
		say(t, a, fmt.Sprint("s-", i), i)
	}
	_, err := a.Sync(t.Context())
	require.NoError(t, err)
	b, _ := device(t, s, root, "b", nil)
	_, err = b.Pull(t.Context())
	require.NoError(t, err)
	require.NoError(t, b.Close())
	_, idle := device(t, s, root, "b", func(o *hybrid.Options) { o.Manual, o.Background.Interval = false, time.Second })
	<-idle.listed
	idle.spent()
	quiet := cost{}
	for range 60 { // until it knows all that was written
		<-idle.listed // the last list may be under way, the one before is over
		if quiet = idle.spent(); quiet == (cost{lists: 1, down: quiet.down}) {
			break
		}
	}
	require.Equal(t, cost{lists: 1, down: quiet.down}, quiet)
	for range 3 {
		<-idle.listed
	}
	quiet = idle.spent()
	require.Equal(t, cost{lists: 3, down: quiet.down}, quiet)
	require.Less(t, quiet.down, 4*3*400, "lists of three names")
}

// TestCostOfAHandover has two devices take turns, each turn in a process of its own: the sync of
// a turn makes the requests that the table of the package's documentation has.
func TestCostOfAHandover(t *testing.T) {
	t.Parallel()
	s, root := &server{address: serve(t, gofakes3)}, t.TempDir()
	for turn := range 6 {
		st, spent := device(t, s, root, []string{"a", "b"}[turn%2], nil)
		if turn > 0 {
			_, err := st.Refresh(t.Context(), "s")
			require.NoError(t, err)
		}
		say(t, st, "s", turn)
		spent.spent()
		_, err := st.Sync(t.Context(), "s")
		require.NoError(t, err)
		got, want := spent.spent(), cost{puts: 3, gets: 1}
		if turn < 2 { // each device finds out once whether the bucket keeps to conditions
			want.puts, want.deletes = want.puts+5, 2
		}
		want.up, want.down = got.up, got.down
		require.Equal(t, want, got, "turn %d", turn)
		require.NoError(t, st.Close())
	}
}
