package hybrid

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/cosmos"
	"github.com/amplifier-go/sessionstorage/internal/test/served"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// children are what tests do in processes of their own.
var children = map[string]testenv.Child{
	"sync": does(syncChild), "write": does(writeChild), "turn": does(turnChild), "turns": does(turnsChild),
}

// does returns a child that is told its errand as [errand.spawn] tells it.
func does(work func(ctx context.Context, dir string, e errand) error) testenv.Child {
	return func(dir, argument string) error {
		var e errand
		if err := json.Unmarshal([]byte(argument), &e); err != nil {
			return err
		}
		return work(context.Background(), dir, e)
	}
}

// errand is what a child does with the sessions of its directory.
type errand struct {
	Endpoint, Key, Device string
	Database              string   // "": the default
	Remote, Place         string   // another remote, as [openServed] has it
	Stop                  int      // the request of the other remote at which the process ends; 0: none
	Done                  bool     // it ends after the request
	Session               string   // of turns
	Calls                 []string // "sync" or "pull", and sessions
	From                  int      // the number of the first record to be written
	Tidy                  bool     // the collector runs often, on few processors, so that little more than what is held takes memory
}

// serve makes a cloud reachable by other processes through h, which passes
// requests on to it, and returns what a device there needs to know.
func (c *cloud) serve(t testing.TB, h http.Handler) errand {
	t.Helper()
	s := httptest.NewServer(h)
	testenv.Cleanup(t, s.Close)
	return errand{Endpoint: s.URL, Key: c.Key()}
}

func (e errand) by(device string, calls ...string) errand {
	e.Device, e.Calls = device, calls
	return e
}

// spawn starts a child that does the errand in a sessions directory.
func (e errand) spawn(t testing.TB, child, dir string) *testenv.Process {
	t.Helper()
	return testenv.Spawn(t, child, dir, e.text(t))
}

// text returns the errand as a child is told of it.
func (e errand) text(t testing.TB) string {
	t.Helper()
	text, err := json.Marshal(e)
	require.NoError(t, err)
	return string(text)
}

// syncChild does an errand, and prints a line with what its memory came to, in
// bytes. Tests kill it on the way.
func syncChild(ctx context.Context, dir string, e errand) (err error) {
	if e.Tidy {
		debug.SetGCPercent(10)
		runtime.GOMAXPROCS(min(2, runtime.GOMAXPROCS(0))) // each holds memory of its own
	}
	s, err := e.open(ctx, dir, &Options{Manual: true})
	if err != nil {
		return err
	}
	for _, c := range e.Calls {
		call := strings.Fields(c)
		if call[0] == "pull" {
			_, err = s.Pull(ctx, call[1:]...)
		} else {
			_, err = s.Sync(ctx, call[1:]...)
		}
		if err != nil {
			return errors.Join(err, s.Close())
		}
	}
	if err := s.Close(); err != nil {
		return err
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	fmt.Println(m.Sys)
	return nil
}

// open opens a sessions directory in a process of its own.
func (e errand) open(ctx context.Context, dir string, o *Options) (*Store, error) {
	err := error(nil)
	if e.Remote != "" {
		o.Remote, err = openServed(e.Remote, served.Call{Name: e.Place, Stop: e.Stop, Done: e.Done}, func() {
			self, _ := os.FindProcess(os.Getpid()) // it is there
			_ = self.Kill()
			select {}
		})
	} else {
		o.Remote, err = cosmos.Connect(ctx, cosmos.Config{Endpoint: e.Endpoint, Key: e.Key, Database: e.Database}, nil, nil)
	}
	if err != nil {
		return nil, err
	}
	o.Store = &sessionstore.Options{Durability: sessionstore.Relaxed}
	o.Project, o.User, o.Device = "demo", "ada", e.Device
	return open(ctx, dir, o, testenv.KillPoint())
}

// writeChild appends records to three sessions while the worker syncs them, and
// prints the number of each once it is acknowledged. It goes on until it is
// killed.
func writeChild(ctx context.Context, dir string, e errand) error {
	s, err := e.open(ctx, dir, &Options{Background: Background{Interval: 50 * time.Millisecond}})
	if err != nil {
		return err
	}
	for n := e.From; ; n++ {
		m, err := sessionstore.Text("user", fmt.Sprintf("rec-%d;", n), time.Now())
		if err != nil {
			return err
		}
		if err := s.Append(ctx, fmt.Sprint("s", n%3), m); err != nil {
			return err
		}
		fmt.Println(n)
		time.Sleep(2 * time.Millisecond)
	}
}

// finish lets an errand come to its end, and returns the memory it took.
func (e errand) finish(t testing.TB, dir string) (memory uint64) {
	t.Helper()
	lines := e.spawn(t, "sync", dir).End(t)
	require.Len(t, lines, 1)
	_, err := fmt.Sscan(strings.TrimSpace(lines[0]), &memory)
	require.NoError(t, err)
	return memory
}
