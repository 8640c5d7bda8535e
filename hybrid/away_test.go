package hybrid

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/cosmos"
	"github.com/amplifier-go/sessionstorage/internal/test/cosmostest"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// network leads to an account, as long as it is good, by connections of net/http that need
// no sockets.
type network struct {
	account *cosmostest.Server
	server  http.Server
	client  http.Client
	accept  chan net.Conn
	done    chan struct{}

	mu     sync.Mutex // guards what follows
	is     string
	dialed int
	open   []net.Conn
}

const (
	good    = "good"
	refuses = "refuses" // nothing listens
	mute    = "mute"    // what listens takes all and never answers
	closes  = "closes"  // what listens closes each connection
)

var noNetworks = []string{refuses, mute, closes}

func newNetwork(t *testing.T, o *cosmostest.Options) *network {
	t.Helper()
	n := &network{account: cosmostest.New(o), accept: make(chan net.Conn), done: make(chan struct{}), is: good}
	require.NoError(t, n.account.CreateContainer(cosmos.DefaultDatabase, cosmos.DefaultContainer, ""))
	n.server.Handler = n.account
	n.client.Transport = &http.Transport{DialContext: n.dial, MaxIdleConnsPerHost: 100}
	var serving sync.WaitGroup
	serving.Go(func() { _ = n.server.Serve(n) }) // until it is closed
	testenv.Cleanup(t, func() {
		n.becomes(good)
		n.client.CloseIdleConnections()
		require.NoError(t, n.server.Close())
		serving.Wait()
	})
	return n
}

// becomes ends all connections; the next ones find the network so.
func (n *network) becomes(is string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, c := range n.open {
		_ = c.Close() // it may be closed
	}
	n.is, n.dialed, n.open = is, 0, nil
}

// connections returns how many there were since the network became what it is.
func (n *network) connections() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.dialed
}

func (n *network) dial(context.Context, string, string) (net.Conn, error) {
	n.mu.Lock()
	is := n.is
	n.dialed++
	here, there := net.Pipe()
	n.open = append(n.open, here, there)
	n.mu.Unlock()
	switch is {
	case refuses:
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	case mute:
		go func() { _, _ = io.Copy(io.Discard, there) }()
	case closes:
		go func() {
			_, _ = there.Read(make([]byte, 1))
			_ = there.Close()
		}()
	default:
		n.accept <- there
	}
	return here, nil
}

// Accept, Close and Addr make the network a [net.Listener] for its server.
func (n *network) Accept() (net.Conn, error) {
	select {
	case c := <-n.accept:
		return c, nil
	case <-n.done:
		return nil, net.ErrClosed
	}
}

func (n *network) Close() error {
	close(n.done)
	return nil
}

func (n *network) Addr() net.Addr { return &net.TCPAddr{} }

// container is what Connect returns. It makes no connection.
func (n *network) container(t *testing.T, regions ...string) *cosmos.Remote {
	t.Helper()
	before, start := n.connections(), time.Now()
	o := &azcosmos.ClientOptions{ClientOptions: policy.ClientOptions{Transport: &n.client}, PreferredRegions: regions}
	container, err := cosmos.Connect(t.Context(), cosmos.Config{Endpoint: "http://account.test/", Key: n.account.Key()}, nil, o)
	require.NoError(t, err)
	require.Equal(t, before, n.connections())
	require.Zero(t, time.Since(start))
	return container
}

// device opens a store at dir, or at a directory of its own for "".
func (n *network) device(t *testing.T, dir string, edit ...func(*Options)) *testDevice {
	t.Helper()
	if dir == "" {
		dir = filepath.Join(t.TempDir(), "sessions")
	}
	c := &cloud{Server: n.account, through: n.container(t)}
	return c.deviceAt(t, dir, "", append(edit, func(o *Options) { o.Device = filepath.Base(filepath.Dir(dir)) })...)
}

// takes requires a call to take a time of the bubble, and returns its error.
func takes(t *testing.T, want time.Duration, call func() error) error {
	t.Helper()
	start := time.Now()
	err := call()
	require.Equal(t, want, time.Since(start), "%v", err)
	return err
}

// TestNoNetworkNoWait takes a turn as an agent does, where the account cannot be reached: no
// call waits for longer than Limits.FirstAnswer, and no later one at all.
func TestNoNetworkNoWait(t *testing.T) {
	t.Parallel()
	for _, is := range noNetworks {
		for name, manual := range map[string]bool{"manual": true, "background": false} {
			for _, wait := range []time.Duration{0, time.Second} {
				t.Run(fmt.Sprint(is, " ", name, " ", wait), func(t *testing.T) {
					t.Parallel()
					synctest.Test(t, func(t *testing.T) {
						n := newNetwork(t, nil)
						n.becomes(is)
						a := n.device(t, "", func(o *Options) { o.Manual, o.Limits = manual, &Limits{FirstAnswer: wait} })
						first := time.Duration(0)
						if is == mute {
							if first = wait; wait == 0 {
								first = 5 * time.Second
							}
						}
						long, cancel := context.WithTimeout(t.Context(), time.Hour)
						defer cancel()
						require.ErrorIs(t, takes(t, first, func() error { _, err := a.Refresh(long, "s"); return err }), ErrUnreachable)
						require.NoError(t, takes(t, 0, func() error { return a.Append(t.Context(), "s", a.message("one")) }))
						for call, do := range boundedCalls {
							if call == "Close" || call == "Shutdown" || call == "Status" {
								continue
							}
							for _, ctx := range []context.Context{t.Context(), long} {
								require.ErrorIs(t, takes(t, 0, func() error { return do(ctx, a.Store) }), ErrUnreachable, call)
							}
						}
						err := takes(t, 0, a.Close)
						require.Equal(t, !manual, errors.Is(err, ErrDeferred), "%v", err)
						require.LessOrEqual(t, n.connections(), 2)

						n.becomes(good)
						a = n.device(t, a.Dir())
						require.Equal(t, []string{"one"}, a.texts("s"))
						a.sync()
						b := n.device(t, "")
						b.pull()
						require.Equal(t, []string{"one"}, b.texts("s"))
					})
				})
			}
		}
	}
}

// TestSyncWithoutNetwork begins with a Sync, of all sessions or of one, with and without a
// deadline, before and after the account has answered.
func TestSyncWithoutNetwork(t *testing.T) {
	t.Parallel()
	for _, is := range noNetworks {
		for _, sessions := range []int{1, 20} {
			for _, before := range []bool{false, true} {
				t.Run(fmt.Sprint(is, " ", sessions, " ", before), func(t *testing.T) {
					t.Parallel()
					synctest.Test(t, func(t *testing.T) {
						n := newNetwork(t, nil)
						a := n.device(t, "")
						for i := range sessions {
							a.say(fmt.Sprint("s", i), "one")
						}
						if before {
							a.sync()
						}
						n.becomes(is)
						longest := time.Duration(0)
						switch {
						case is == mute:
							longest = 5 * time.Second
						case is == closes && before: // connections break now and then
							longest = 4 * time.Second
						}
						start := time.Now()
						_, err := a.Sync(t.Context())
						require.ErrorIs(t, err, ErrUnreachable)
						require.LessOrEqual(t, time.Since(start), longest)
						require.LessOrEqual(t, n.connections(), 4)
						n.becomes(is)
						for range 3 {
							require.ErrorIs(t, takes(t, 0, func() error { _, err := a.Sync(t.Context()); return err }), ErrUnreachable)
							require.ErrorIs(t, takes(t, 0, func() error { _, err := a.Refresh(t.Context(), "s0"); return err }), ErrUnreachable)
							time.Sleep(9 * time.Second)
						}
						require.Zero(t, n.connections())
						n.becomes(good)
						time.Sleep(4 * time.Second) // half a minute after it was found out
						a.sync()
						require.Equal(t, UpToDate, a.state("s0").State)
					})
				})
			}
		}
	}
}

// TestCallerWaitsForLess gives a call two seconds of its own: after that the account is
// known to be away, too.
func TestCallerWaitsForLess(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork(t, nil)
		n.becomes(mute)
		a := n.device(t, "")
		a.say("s", "one")
		for call, do := range map[string]func(context.Context) error{
			"sync":    func(ctx context.Context) error { _, err := a.Sync(ctx); return err },
			"refresh": func(ctx context.Context) error { _, err := a.Refresh(ctx, "s"); return err },
		} {
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			err := takes(t, 2*time.Second, func() error { return do(ctx) })
			cancel()
			require.ErrorIs(t, err, ErrUnreachable, call)
			require.ErrorIs(t, err, context.DeadlineExceeded, call)
			require.ErrorIs(t, takes(t, 0, func() error { return do(t.Context()) }), ErrUnreachable, call)
			time.Sleep(30 * time.Second)
		}
	})
}

// TestBackgroundComesBack takes the network away for a time. What was written meanwhile is
// sent when it is back, by the background alone, within a minute.
func TestBackgroundComesBack(t *testing.T) {
	t.Parallel()
	for _, is := range noNetworks {
		for _, away := range []time.Duration{time.Minute, testenv.Share(time.Hour, time.Hour, 10*time.Hour)} {
			t.Run(fmt.Sprint(is, " ", away), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					n := newNetwork(t, nil)
					a := n.device(t, "", background, func(o *Options) { o.Background.Interval = 24 * time.Hour })
					a.say("s0", "one")
					time.Sleep(time.Minute)
					require.Equal(t, UpToDate, a.state("s0").State)
					n.becomes(is)
					for i := range 2 * maxSyncs {
						a.say(fmt.Sprint("s", i), "more")
					}
					time.Sleep(away)
					require.LessOrEqual(t, n.connections(), 8+int(away/awayFor), "one finds out whether it is back")
					require.Contains(t, []State{Pending, Deferred}, a.state("s0").State)
					n.becomes(good)
					time.Sleep(time.Minute + time.Second)
					for i := range 2 * maxSyncs {
						require.Equal(t, UpToDate, a.state(fmt.Sprint("s", i)).State)
					}
				})
			})
		}
	}
}

// awayFor is for how long an account is taken to be away.
const awayFor = 30 * time.Second

// TestMuteRequestsEnd lets some requests hang, as many as the background makes at once, while
// the account answers all others. They end, and the background goes on.
func TestMuteRequestsEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork(t, nil)
		a := n.device(t, "", background, func(o *Options) { o.Background.Interval = time.Second })
		a.say("first", "one")
		time.Sleep(2 * time.Second)
		hang := 0
		n.account.Inject(cosmostest.Data(func(cosmostest.Request) cosmostest.Fault {
			if hang++; hang <= maxSyncs {
				return cosmostest.Delay(1000 * time.Hour)
			}
			return cosmostest.Fault{}
		}))
		for i := range maxSyncs {
			a.say(fmt.Sprint("hangs", i), "one")
		}
		time.Sleep(time.Second)
		a.say("later", "one")
		time.Sleep(90 * time.Second)
		all, err := a.Status(t.Context())
		require.NoError(t, err)
		require.Len(t, all, maxSyncs+2)
		for _, s := range all {
			require.Equal(t, UpToDate, s.State, s.SessionID)
		}
	})
}

// TestRefreshWaitsForNoTransfer has an account whose answers come byte by byte, for minutes:
// Limits.FirstAnswer is for the first answer alone. Where the bytes stop, the call ends after half
// a minute.
func TestRefreshWaitsForNoTransfer(t *testing.T) {
	t.Parallel()
	for name, ends := range map[string]bool{"byte by byte": false, "hangs amid the answer": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c := newCloud(t, nil)
				c.device(t, "a").saveNew("s", "one")
				a := c.device(t, "a")
				a.saveNew("s", "one")
				a.sync()
				slow := &failingNetwork{server: c.Transport(), bad: badNetworks[name]}
				container, err := cosmos.Connect(t.Context(), cosmos.Config{Endpoint: c.Endpoint(), Key: c.Key()}, nil, &azcosmos.ClientOptions{ClientOptions: policy.ClientOptions{Transport: slow}})
				require.NoError(t, err)
				b := c.device(t, "b", func(o *Options) { o.Remote = container })
				start := time.Now()
				_, err = b.Refresh(t.Context(), "s")
				if ends {
					require.ErrorIs(t, err, ErrUnreachable)
					require.LessOrEqual(t, time.Since(start), 31*time.Second)
					require.ErrorIs(t, takes(t, 0, func() error { _, err := b.Refresh(t.Context(), "s"); return err }), ErrUnreachable)
					return
				}
				require.NoError(t, err)
				require.Greater(t, time.Since(start), 2*time.Minute)
				require.Equal(t, []string{"one"}, b.texts("s"))
			})
		})
	}
}

// requestCount counts what the library tells of requests and syncs.
type requestCount struct {
	mu     sync.Mutex // guards what follows
	told   int
	synced []string // sessions
}

func (r *requestCount) SessionSynced(_ context.Context, v SessionSync) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.synced = append(r.synced, v.Session)
}

func (r *requestCount) Requested(context.Context, Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.told++
}

// TestEachRequestIsTold lets requests fail in all ways, and counts those that the account gets
// and those of which the library tells. The SDK, and net/http, would repeat some of them.
func TestEachRequestIsTold(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]cosmostest.Fault{
		"none": {}, "408": cosmostest.Refuse(408, 0), "410": cosmostest.Refuse(410, 0), "412": cosmostest.Refuse(412, 0),
		"429": cosmostest.Refuse(429, 0), "449": cosmostest.Refuse(449, 0), "500": cosmostest.Refuse(500, 0), "502": cosmostest.Refuse(502, 0),
		"503": cosmostest.Refuse(503, 0), "504": cosmostest.Refuse(504, 0), "404 1002": {Status: 404, SubStatus: 1002},
		"403 3": {Status: 403, SubStatus: 3}, "403 1008": {Status: 403, SubStatus: 1008}, "401": cosmostest.Refuse(401, 0),
		"drop": cosmostest.Drop(), "lose": cosmostest.LoseAnswer(),
	} {
		for _, regions := range [][]string{nil, {"West Europe"}} {
			t.Run(fmt.Sprint(name, regions), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					got := 0
					n := newNetwork(t, &cosmostest.Options{Observe: func(cosmostest.Record) { got++ }})
					got = 0
					count := &requestCount{}
					c := &cloud{Server: n.account, through: n.container(t, regions...)}
					a := c.device(t, "a", func(o *Options) { o.Observer = count })
					a.say("s", "one")
					counted := a.sync().Requests
					check := func() {
						synctest.Wait()
						require.Equal(t, got, count.told)
						if regions == nil { // for those the SDK asks beside the calls
							require.Equal(t, got, counted)
						}
					}
					check()
					for range 3 {
						n.account.Inject(cosmostest.Data(func(cosmostest.Request) cosmostest.Fault { return fault }))
						a.say("s", "more")
						r, _ := a.Sync(t.Context(), "s")
						counted += r.Requests
						check()
						n.account.Inject(nil)
						time.Sleep(20 * time.Minute) // also the SDK asks the account again
						counted += a.sync().Requests
						check()
					}
				})
			})
		}
	}
}

// TestCloseOfANewDevice closes stores while hundreds of sessions of the cloud have not come
// yet: none of them waits on this device.
func TestCloseOfANewDevice(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const sessions = 60
		n := newNetwork(t, nil)
		a := n.device(t, "")
		for i := range sessions {
			a.say(fmt.Sprint("s", i), "one")
		}
		a.sync()
		dir := filepath.Join(t.TempDir(), "sessions")
		n.account.Inject(cosmostest.Data(cosmostest.Always(cosmostest.Delay(100 * time.Millisecond))))
		count := &requestCount{}
		observed := func(o *Options) { o.Observer = count }
		for turn := range 4 {
			b := n.device(t, dir, background, observed)
			b.say("mine", fmt.Sprint("turn ", turn))
			time.Sleep(450 * time.Millisecond)
			b.worker.stop()
			count.synced = nil
			require.NoError(t, b.Close(), "turn %d", turn)
			require.Equal(t, []string{"mine"}, count.synced)
		}
		for i := range sessions { // and where all of them have changed
			a.say(fmt.Sprint("s", i), "two")
		}
		a.sync()
		b := n.device(t, dir, background, observed)
		time.Sleep(450 * time.Millisecond)
		b.worker.stop()
		count.synced = nil
		require.NoError(t, b.Close())
		require.Empty(t, count.synced)

		b = n.device(t, dir, background)
		b.say("mine", "the last")
		b.say("other", "the first")
		n.becomes(refuses)
		err := b.Close()
		require.ErrorIs(t, err, ErrDeferred)
		require.ErrorContains(t, err, "2 sessions wait")
	})
}

// TestStatusWithoutNetwork looks what a program is told of a session while the network is
// away, and when the store is closed amid a request.
func TestStatusWithoutNetwork(t *testing.T) {
	t.Parallel()
	for _, is := range noNetworks {
		t.Run(is, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				n := newNetwork(t, nil)
				var mu sync.Mutex
				var told []Status
				a := n.device(t, "", background, func(o *Options) {
					o.OnStatus = func(s Status) {
						mu.Lock()
						defer mu.Unlock()
						told = append(told, s)
					}
				})
				a.say("s", "one", "two")
				time.Sleep(time.Minute)
				require.Equal(t, 2, a.state("s").Remote)
				n.becomes(is)
				_, err := a.Refresh(t.Context(), "s")
				require.ErrorIs(t, err, ErrUnreachable)
				a.say("s", "three")
				time.Sleep(5*time.Minute + time.Second)
				synctest.Wait()
				require.Equal(t, 2, a.state("s").Remote)
				a.say("new", "one")
				time.Sleep(time.Second)
				require.ErrorIs(t, a.Close(), ErrDeferred)
				mu.Lock()
				defer mu.Unlock()
				require.NotEmpty(t, told)
				for _, s := range told {
					require.NotErrorIs(t, s.Err, context.Canceled)
					if s.SessionID == "s" {
						require.Equal(t, 2, s.Remote, "%+v", s)
						require.GreaterOrEqual(t, s.Local, 2, "%+v", s)
					}
				}
			})
		})
	}
}

// TestFailsAfterItBrought: a sync that fails after it brought what another device added is
// no write: the session stays Deferred, with the reason, until this device writes it.
func TestFailsAfterItBrought(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork(t, nil)
		a, b := n.device(t, ""), n.device(t, "")
		a.say("s", "one")
		a.sync()
		b.pull("s")
		a.say("s", "two")
		a.sync()
		b.appendTo("s", "events.jsonl", `{"event":"own"}`+"\n") // its sync ends with the catalogue
		n.account.Inject(cosmostest.Data(func(r cosmostest.Request) cosmostest.Fault {
			if r.Op == cosmostest.OpQuery || !strings.HasPrefix(r.Partition, `["u-`) {
				return cosmostest.Fault{}
			}
			return cosmostest.Drop()
		}))
		_, err := b.Sync(t.Context(), "s")
		require.ErrorIs(t, err, ErrUnreachable)
		require.Equal(t, []string{"one", "two"}, b.texts("s"))
		require.Equal(t, Deferred, b.state("s").State)
		require.ErrorIs(t, b.state("s").Err, ErrUnreachable)
		b.say("s", "three")
		require.Equal(t, Pending, b.state("s").State)

		a.appendTo("s", "events.jsonl", `{"event":"of a"}`+"\n")
		n.account.Inject(nil)
		a.sync()
		c := n.device(t, "")
		n.account.Inject(cosmostest.Data(func(cosmostest.Request) cosmostest.Fault {
			if c.Exists("s") { // the log of the other device follows
				return cosmostest.Drop()
			}
			return cosmostest.Fault{}
		}))
		_, err = c.Pull(t.Context(), "s")
		require.ErrorIs(t, err, ErrUnreachable)
		require.Equal(t, []string{"one", "two"}, c.texts("s"))
		require.Equal(t, Deferred, c.state("s").State)
		require.ErrorIs(t, c.state("s").Err, ErrUnreachable)
		c.say("s", "three")
		require.Equal(t, Pending, c.state("s").State)
	})
}

// TestWriteWithoutNetwork: a write makes a session Pending, of messages or metadata, and also
// that of another program, such as a tool in Python.
func TestWriteWithoutNetwork(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork(t, nil)
		a := n.device(t, "")
		refresh := func() {
			_, err := a.Refresh(t.Context(), "s")
			require.ErrorIs(t, err, ErrUnreachable)
			require.Equal(t, Deferred, a.state("s").State)
			require.ErrorIs(t, a.state("s").Err, ErrUnreachable)
			time.Sleep(awayFor)
		}
		a.say("s", "zero")
		a.sync()
		at := a.state("s").LastAt
		n.becomes(refuses)
		refresh()
		a.say("s", "one")
		require.Equal(t, Status{SessionID: "s", State: Pending, Local: 2, Remote: 1, Last: Pushed, LastAt: at}, a.state("s"))
		refresh()
		require.NoError(t, touch(t.Context(), a.Store))
		require.Equal(t, Status{SessionID: "s", State: Pending, Local: 2, Remote: 1, Last: Pushed, LastAt: at}, a.state("s"))
		refresh()
		m, err := sessionstore.Text("user", "from outside", time.Time{})
		require.NoError(t, err)
		a.appendTo("s", "transcript.jsonl", string(m.AppendTo(nil))+"\n")
		require.Equal(t, Status{SessionID: "s", State: Pending, Local: 3, Remote: 1, Last: Pushed, LastAt: at}, a.state("s"))
	})
}
