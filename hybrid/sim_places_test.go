package hybrid

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"
	_ "unsafe" // for openSeamed

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/cosmos"
	"github.com/amplifier-go/sessionstorage/hybrid/dir"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/memremote"
	"github.com/amplifier-go/sessionstorage/hybrid/remote"
	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
	"github.com/amplifier-go/sessionstorage/internal/test/cosmostest"
	"github.com/amplifier-go/sessionstorage/internal/test/served"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// simPlaces are the remotes of the simulation: an account, memory and a directory.
var simPlaces = []string{"cosmos", "memory", "dir"}

// simPlace is where a seed keeps what all devices have.
type simPlace interface {
	// connect returns the remote of a device.
	connect(l *life) remote.Remote
	// held returns all documents.
	held() []held
	// inject makes p the plan of faults from now on; nil is none.
	inject(p cosmostest.Plan)
}

// newPlace makes the remote of a seed.
func newPlace(w *world, kind string) simPlace {
	switch kind {
	case "cosmos":
		return newAccount(w)
	case "memory":
		base := &memremote.Remote{}
		return newDoors(w, base, w.seed%2 == 0, func(*life) (remote.Remote, func()) { return base, func() {} })
	case "dir":
		place := filepath.Join(w.t.TempDir(), "remote")
		require.NoError(w.t, dir.Provision(w.ctx(), place))
		base, end := openPlace(w, place, nil)
		testenv.Cleanup(w.t, end)
		return newDoors(w, base, false, func(l *life) (remote.Remote, func()) { return openPlace(w, place, l) })
	}
	require.Contains(w.t, kind, ":", "no remote of the simulation, and no address of one")
	open := func() (remote.Remote, func()) {
		r, err := openServed(kind, served.Call{Name: fmt.Sprint("seed-", w.seed)}, nil)
		require.NoError(w.t, err)
		return r, func() { require.NoError(w.t, r.Close()) }
	}
	base, end := open()
	testenv.Cleanup(w.t, end)
	return newDoors(w, base, true, func(*life) (remote.Remote, func()) { return open() })
}

// account is a container of the strict server.
type account struct {
	*cosmostest.Server
	w    *world
	docs func() []held
}

func newAccount(w *world) *account {
	srv := cosmostest.New(&cosmostest.Options{Observe: w.observe, Sleep: w.sleep, Consistency: simLevel, ContentETags: w.seed%2 == 1})
	require.NoError(w.t, cosmos.Provision(context.Background(), dial(w.t, srv, srv.Key()), testDatabase, testContainer))
	return &account{srv, w, heldBy(srv)}
}

func (a *account) held() []held { return a.docs() }

func (a *account) inject(p cosmostest.Plan) { a.Inject(p) }

func (a *account) connect(l *life) remote.Remote {
	l.next = a.Transport()
	cred, err := azcosmos.NewKeyCredential(a.Key())
	require.NoError(a.w.t, err)
	client, err := azcosmos.NewClientWithKey(a.Endpoint(), cred, &azcosmos.ClientOptions{
		ClientOptions: policy.ClientOptions{Transport: l},
	})
	require.NoError(a.w.t, err)
	testenv.Cleanup(a.w.t, client.Close)
	container, err := client.NewContainer(testDatabase, testContainer)
	require.NoError(a.w.t, err)
	return cosmos.New(container)
}

// openSeamed is what dir.Open does with a seam: it gives files the times of the bubble.
//
//go:linkname openSeamed github.com/amplifier-go/sessionstorage/hybrid/dir.open
func openSeamed(place string, s *seam.Seam) (*dir.Remote, error)

// openPlace opens a directory for a device, and returns what closes it. Each change of a file waits
// for its turn, and the device may crash before it. Without a device it waits for nothing.
func openPlace(w *world, place string, l *life) (remote.Remote, func()) {
	opened := false
	s := &seam.Seam{After: func(op seam.Op) {
		timed(op, time.Now())
		switch {
		case newVersion(op):
			w.reader.look("a new version in " + op.Dir)
		case op.Kind == seam.Remove && strings.HasPrefix(op.Name, "o-"):
			w.reader.lookAgain("the removal of "+op.Name, strings.TrimPrefix(filepath.Base(op.Dir), "p-s-"))
		}
	}}
	if l != nil {
		s.Before = func(op seam.Op) error {
			if !opened { // a program that cannot open the directory does not start
				return nil
			}
			return beforeFile(w, place, l, op)
		}
	}
	r, err := openSeamed(place, s)
	require.NoError(w.t, err)
	opened = true
	return r, func() { require.NoError(w.t, r.Close()) }
}

// fileTime is what a change of a file takes while requests fail, so that several devices are at it.
const fileTime = 100 * time.Millisecond

// opFile is a change of a file, for plans of faults.
const opFile cosmostest.Op = "file"

// beforeFile waits for the turn of a change of a file, which may fail. That a file gets a name may be
// done and fail, or be done twice.
func beforeFile(w *world, place string, l *life, op seam.Op) error {
	if err := l.order.wait(context.Background(), l.name); err != nil {
		return err
	}
	about := l.name + " " + op.Kind.String() + " " + named(place, op)
	w.trace.note("%d %s", time.Since(simStart), about)
	f, stormy := w.place.(*doors).arrive(opFile, "", about)
	if stormy {
		if err := w.sleep(context.Background(), fileTime+f.Delay); err != nil {
			return err
		}
	}
	if err := l.step(); err != nil {
		return err
	}
	if (f.Lose || f.Retried) && op.Kind == seam.Link {
		if err := os.Link(filepath.Join(op.Dir, op.Name), filepath.Join(op.Dir, op.To)); err != nil {
			return err
		}
		timed(op, time.Now())
		w.reader.look("a new version in " + op.Dir)
	}
	if f.Drop || f.Lose {
		return syscall.EIO
	}
	return nil
}

// newVersion reports whether an operation gave a fixed name a new version.
func newVersion(op seam.Op) bool {
	return (op.Kind == seam.Link || op.Kind == seam.Rename) && strings.HasPrefix(filepath.Base(op.Dir), "f-")
}

// drawnName is the end of a name that nobody can repeat.
var drawnName = regexp.MustCompile(`^(\..*?)[0-9]+$`)

// named tells what an operation is about.
func named(place string, op seam.Op) string {
	in, _ := filepath.Rel(place, op.Dir)
	return fmt.Sprint(in, " ", drawnName.ReplaceAllString(op.Name, "$1"), " ", drawnName.ReplaceAllString(op.To, "$1"))
}
