// Package served lets tests of package hybrid run on a remote that the package cannot
// import, as one of a nested module: a test of the module serves it to the process of the
// tests.
package served

import (
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/amplifier-go/sessionstorage/hybrid/remote"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// Call is a call of a method of a remote. The first call of a connection opens the remote.
type Call struct {
	Method, Part, Name string
	Now                time.Time // by the clock of the caller
	Known              remote.Version
	Query              remote.Query
	Objects            []remote.Object
	Swap               *remote.Swap
	Names              []string
	Lose               int  // the number of the call's request whose answer is lost; 0: none
	Stop               int  // the number of the request that stops; 0: none
	Done               bool // it stops after the request, not before
}

// Answer is the outcome of a call, or says that the call has come to the request that
// stops: the next call lets it go on.
type Answer struct {
	Objects []remote.Object
	Version remote.Version
	Info    remote.Info
	Failed  string // the text of the error; "": there is none
	Is      []int  // the numbers of the kinds that the error Is
	Stopped bool
}

// kinds are the errors of package remote that an answer tells apart.
var kinds = []error{
	remote.ErrNotExist, remote.ErrUnchanged, remote.ErrChanged, remote.ErrUnknown, remote.ErrTooLarge, remote.ErrFull, remote.ErrBlocked,
	remote.ErrRefused, remote.ErrUnauthorized, remote.ErrClock, remote.ErrUnreachable,
}

// Err returns the error of the call; nil for none.
func (a *Answer) Err() (err error) {
	if a.Failed == "" {
		return nil
	}
	err = errors.New(a.Failed)
	for _, i := range a.Is {
		err = fmt.Errorf("%w: %w", kinds[i], err)
	}
	return err
}

// Device is a device that opens a remote at a place. Remotes at one place share their
// objects.
type Device struct {
	Place string
	// Calls is whether each call of the remote is one request. Otherwise the remote makes
	// its requests by Request.
	Calls bool

	first    Call
	now      atomic.Pointer[time.Time]
	requests atomic.Int64
	lose     atomic.Int64 // requests up to the end of the one whose answer is lost
	in       *gob.Decoder
	out      *gob.Encoder
}

// Now returns the time by the device's clock, which passes between calls alone, and while a
// request stops.
func (d *Device) Now() time.Time { return *d.now.Load() }

// Request makes a request. It returns an error when the device has ended before it, and when
// the answer is lost.
func (d *Device) Request(make func() error) error {
	lost := d.lose.Add(-1) == 0
	stops := d.requests.Add(1) == int64(d.first.Stop)
	if stops && !d.first.Done {
		if err := d.stop(); err != nil {
			return err
		}
	}
	err := make()
	if stops && d.first.Done {
		err = errors.Join(err, d.stop())
	}
	if lost {
		err = errors.New("the answer is lost")
	}
	return err
}

func (d *Device) stop() error {
	on := Call{}
	if err := errors.Join(d.out.Encode(Answer{Stopped: true}), d.in.Decode(&on)); err != nil {
		return err
	}
	d.now.Store(&on.Now)
	return nil
}

// Open opens the remote of a device. A remote that is an [io.Closer] is closed.
type Open func(d *Device) (remote.Remote, error)

// Run runs tests of package hybrid, which a pattern names, on the remotes that open returns,
// with the seed of t.
func Run(t *testing.T, pattern string, open Open, flags ...string) {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go Serve(l, open)
	flags = append([]string{"test", "-C", "../..", "-count=1", "-v", "-timeout=2h", "-run=" + pattern, "./hybrid", "-remote=" + l.Addr().String()}, flags...)
	tests := exec.CommandContext(t.Context(), "go", flags...) //nolint:gosec // they are of a test
	tests.Env = append(os.Environ(), fmt.Sprint("TEST_SEED=", testenv.Seed(t)))
	out, err := tests.CombinedOutput()
	text := strings.ReplaceAll(string(out), "to repeat: ", "with the remote there: ")
	if err != nil || !strings.Contains(text, "--- PASS: ") {
		t.Errorf("%s\n%v", text, err)
	}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "simulation: ") {
			fmt.Print(line)
		}
	}
}

// Serve serves the remotes that open returns until l is closed.
func Serve(l net.Listener, open Open) {
	for c, err := l.Accept(); err == nil; c, err = l.Accept() {
		go serve(c, open)
	}
}

// serve answers the calls of a connection, one after the other.
func serve(c net.Conn, open Open) {
	defer func() { _ = c.Close() }()
	d := &Device{in: gob.NewDecoder(c), out: gob.NewEncoder(c)}
	if d.in.Decode(&d.first) != nil {
		return
	}
	d.Place = d.first.Name
	d.now.Store(&d.first.Now)
	r, err := open(d)
	if c, ok := r.(io.Closer); ok {
		defer func() { _ = c.Close() }()
	}
	a := Answer{}
	for a.fail(err); d.out.Encode(a) == nil && err == nil; {
		a = Answer{}
		call := Call{}
		if d.in.Decode(&call) != nil {
			return
		}
		d.now.Store(&call.Now)
		d.lose.Store(int64(call.Lose))
		do := func() error { return a.of(r, &call) }
		if d.Calls && call.Method != "Info" {
			a.fail(d.Request(do))
		} else {
			a.fail(do())
		}
	}
}

// of makes a call, and keeps all of its outcome but the error.
func (a *Answer) of(r remote.Remote, c *Call) (err error) {
	ctx := context.Background()
	switch c.Method {
	case "Get":
		a.Objects = make([]remote.Object, 1)
		a.Objects[0], err = r.Get(ctx, c.Part, c.Name, c.Known)
	case "List":
		for o, failed := range r.List(ctx, c.Part, c.Query) {
			if err = failed; err == nil {
				a.Objects = append(a.Objects, o)
			}
		}
	case "Commit":
		a.Version, err = r.Commit(ctx, c.Part, c.Objects, c.Swap)
	case "Delete":
		err = r.Delete(ctx, c.Part, c.Names)
	case "Info":
		a.Info, err = r.Info(ctx)
	}
	return err
}

func (a *Answer) fail(err error) {
	if err == nil {
		return
	}
	a.Failed = err.Error()
	for i, kind := range kinds {
		if errors.Is(err, kind) {
			a.Is = append(a.Is, i)
		}
	}
}
