package hybrid

import (
	"context"
	"fmt"
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
	"github.com/amplifier-go/sessionstorage/hybrid/remote"
	"github.com/amplifier-go/sessionstorage/internal/memremote"
	"github.com/amplifier-go/sessionstorage/internal/seam"
	"github.com/amplifier-go/sessionstorage/internal/test/cosmostest"
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
		require.NoError(w.t, dir.Provision(place))
		base, end := openPlace(w, place, nil)
		w.t.Cleanup(end)
		return newDoors(w, base, false, func(l *life) (remote.Remote, func()) { return openPlace(w, place, l) })
	}
	require.Contains(w.t, simPlaces, kind)
	return nil
}

// account is a container of the strict server.
type account struct {
	*cosmostest.Server
	w *world
}

func newAccount(w *world) *account {
	srv := cosmostest.New(&cosmostest.Options{Observe: w.observe, Sleep: w.sleep, Consistency: simLevel, ContentETags: w.seed%2 == 1})
	require.NoError(w.t, cosmos.Provision(context.Background(), dial(w.t, srv, srv.Key()), testDatabase, testContainer))
	return &account{srv, w}
}

func (a *account) held() []held { return heldBy(a.Server)() }

func (a *account) inject(p cosmostest.Plan) { a.Inject(p) }

func (a *account) connect(l *life) remote.Remote {
	l.next = a.Transport()
	cred, err := azcosmos.NewKeyCredential(a.Key())
	require.NoError(a.w.t, err)
	client, err := azcosmos.NewClientWithKey(a.Endpoint(), cred, &azcosmos.ClientOptions{
		ClientOptions: policy.ClientOptions{Transport: l},
	})
	require.NoError(a.w.t, err)
	a.w.t.Cleanup(client.Close)
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
	s := &seam.Seam{After: func(op seam.Op) {
		timed(op, time.Now())
		if newVersion(op) {
			w.reader.look("a new version in " + op.Dir)
		}
	}}
	if l != nil {
		s.Before = func(op seam.Op) error {
			if err := l.order.wait(context.Background(), l.name); err != nil {
				return err
			}
			w.trace.note("%d %s %s %s", time.Since(simStart), l.name, op.Kind, named(place, op))
			if l.failing() {
				return syscall.EIO
			}
			return l.step()
		}
	}
	r, err := openSeamed(place, s)
	require.NoError(w.t, err)
	return r, func() { require.NoError(w.t, r.Close()) }
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
