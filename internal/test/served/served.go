// Package served lets the simulation of package hybrid run on a remote that it cannot
// import, as one of a nested module: a test of the module serves it to the simulation,
// which runs in a process of its own.
package served

import (
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/amplifier-go/sessionstorage/hybrid/remote"
)

// Call is a call of a method of a remote. The first one of a connection opens the remote
// at the place Name. Remotes at one place share their objects.
type Call struct {
	Method, Part, Name string
	Now                time.Time // by the clock of the simulation
	Known              remote.Version
	Query              remote.Query
	Objects            []remote.Object
	Swap               *remote.Swap
	Names              []string
}

// Answer is the outcome of a call.
type Answer struct {
	Objects []remote.Object
	Version remote.Version
	Info    remote.Info
	Failed  string // the text of the error; "": there is none
	Kind    int    // the place in Errors of an error that the error Is; negative: none
}

// Errors are the errors that the simulation distinguishes.
var Errors = []error{remote.ErrNotExist, remote.ErrUnchanged, remote.ErrChanged, remote.ErrUnknown, remote.ErrUnreachable}

// Open opens a remote at a place, whose times are by the clock now, and returns a function
// that closes it.
type Open func(place string, now func() time.Time) (remote.Remote, func(), error)

// Simulate runs the simulation with some seeds on the remotes that open returns.
func Simulate(t *testing.T, seeds int, open Open) {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go Serve(l, open)
	run := exec.CommandContext(t.Context(), "go", "test", "-C", "../..", "-count=1", "-v", "-timeout=2h", "-run=^TestSimulation$", "./hybrid",
		"-remote="+l.Addr().String(), fmt.Sprint("-seeds=", seeds)) //nolint:gosec // the flags are the test's own
	out, err := run.CombinedOutput()
	if err != nil {
		t.Errorf("%s\n%v", out, err)
	}
	for line := range strings.Lines(string(out)) {
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
	in, out := gob.NewDecoder(c), gob.NewEncoder(c)
	var call Call
	if in.Decode(&call) != nil {
		return
	}
	r, end, err := open(call.Name, func() time.Time { return call.Now })
	if err == nil {
		defer end()
	}
	a := Answer{}
	for a.fail(err); out.Encode(a) == nil && r != nil; {
		call = Call{}
		if in.Decode(&call) != nil {
			return
		}
		a = answer(r, &call)
	}
}

func answer(r remote.Remote, c *Call) (a Answer) {
	ctx, err := context.Background(), error(nil)
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
	a.fail(err)
	return a
}

func (a *Answer) fail(err error) {
	if err != nil {
		a.Failed = err.Error()
		a.Kind = slices.IndexFunc(Errors, func(is error) bool { return errors.Is(err, is) })
	}
}
