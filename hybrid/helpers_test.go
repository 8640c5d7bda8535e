package hybrid

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/cosmos"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/segmenttest"
	"github.com/amplifier-go/sessionstorage/hybrid/remote"
	"github.com/amplifier-go/sessionstorage/internal/test/cosmostest"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

func TestMain(m *testing.M) {
	if err := segmenttest.WarmUp(); err != nil {
		panic(err)
	}
	testenv.InMemory()
	testenv.Main(m, children)
}

// cloud is a server with one container.
type cloud struct {
	*cosmostest.Server
	container *azcosmos.ContainerClient
	through   *cosmos.Remote       // that all devices have; nil: each one of its own
	database  string               // "": testDatabase
	alone     bool                 // devices make one request at a time
	elsewhere func() remote.Remote // opens another remote, which devices have; nil: the server's
	place     string               // of elsewhere
}

const (
	testDatabase  = "amplifier"
	testContainer = "sync"
)

func newCloud(t testing.TB, o *cosmostest.Options) *cloud {
	t.Helper()
	srv := cosmostest.New(o)
	client := dial(t, srv, srv.Key())
	require.NoError(t, cosmos.Provision(context.Background(), client, testDatabase, testContainer))
	container, err := client.NewContainer(testDatabase, testContainer)
	require.NoError(t, err)
	return &cloud{Server: srv, container: container}
}

// remote returns the remote of a device.
func (c *cloud) remote() remote.Remote {
	switch {
	case c.elsewhere != nil:
		return c.elsewhere()
	case c.through != nil:
		return c.through
	}
	return cosmos.New(c.container)
}

func dial(t testing.TB, srv *cosmostest.Server, key string) *azcosmos.Client {
	t.Helper()
	cred, err := azcosmos.NewKeyCredential(key)
	require.NoError(t, err)
	client, err := azcosmos.NewClientWithKey(srv.Endpoint(), cred, &azcosmos.ClientOptions{
		ClientOptions: policy.ClientOptions{Transport: srv.Transport()},
	})
	require.NoError(t, err)
	testenv.Cleanup(t, client.Close)
	return client
}

// documents counts the documents of each type.
func (c *cloud) documents() map[string]int {
	n := map[string]int{}
	for _, d := range c.Docs(testDatabase, testContainer) {
		n[documentOf(d).Type]++
	}
	return n
}

// documentOf returns the document of this library that the server holds in d.
func documentOf(d cosmostest.Doc) segment.Document {
	var in struct {
		PK    string
		Label json.RawMessage
		Text  *string
		Data  []byte
	}
	if json.Unmarshal(d.Body, &in) != nil {
		return segment.Document{ID: d.ID, PK: in.PK}
	}
	if in.Text != nil {
		in.Data = []byte(*in.Text)
	}
	return document(in.PK, &remote.Object{Name: d.ID, Label: in.Label, Body: in.Data})
}

// document returns the document of this library that an object is.
func document(pk string, o *remote.Object) segment.Document {
	var label struct{ Type string }
	if json.Unmarshal(o.Label, &label) != nil {
		return segment.Document{ID: o.Name, PK: pk}
	}
	return segment.Document{ID: o.Name, PK: pk, Type: label.Type, Label: o.Label, Body: o.Body}
}

// testDevice is a device with a store of its own.
type testDevice struct {
	*Store
	t testing.TB
}

// device opens a store in a directory of its own. It syncs only when asked.
func (c *cloud) device(t testing.TB, name string, edit ...func(*Options)) *testDevice {
	t.Helper()
	return c.deviceAt(t, filepath.Join(t.TempDir(), "sessions"), name, edit...)
}

func (c *cloud) deviceAt(t testing.TB, dir, name string, edit ...func(*Options)) *testDevice {
	t.Helper()
	o := &Options{
		Store:  &sessionstore.Options{Durability: sessionstore.Relaxed},
		Remote: c.remote(), Project: "demo", User: "ada", Device: name, Manual: true,
	}
	for _, e := range edit {
		e(o)
	}
	s, err := Open(context.Background(), dir, o)
	require.NoError(t, err)
	if c.alone {
		s.engine.Alone = true
	}
	testenv.Cleanup(t, func() { requireClosed(t, s) })
	return &testDevice{s, t}
}

// requireClosed closes a store. What a cloud that is away does not get may wait.
func requireClosed(t testing.TB, s *Store) {
	t.Helper()
	if err := s.Close(); !errors.Is(err, ErrDeferred) {
		require.NoError(t, err)
	}
}

// say appends messages, those of the user with every other one.
func (r *testDevice) say(id string, texts ...string) {
	r.t.Helper()
	for i, text := range texts {
		role := "user"
		if i%2 == 1 {
			role = "assistant"
		}
		m, err := sessionstore.Text(role, text, time.Date(2026, 11, 20, 10, 0, i, 0, time.UTC))
		require.NoError(r.t, err)
		require.NoError(r.t, r.Append(context.Background(), id, m))
	}
}

func (r *testDevice) texts(id string) (texts []string) {
	r.t.Helper()
	s, err := r.Load(context.Background(), id)
	require.NoError(r.t, err)
	for _, m := range s.Messages {
		texts = append(texts, m.Content())
	}
	return texts
}

func (r *testDevice) cutTo(id string, n int) {
	r.t.Helper()
	ctx := context.Background()
	s, err := r.Load(ctx, id)
	require.NoError(r.t, err)
	_, err = r.Replace(ctx, id, s.Revision, s.Messages[:n])
	require.NoError(r.t, err)
}

func (r *testDevice) sync(ids ...string) SyncResult {
	r.t.Helper()
	got, err := r.Sync(context.Background(), ids...)
	require.NoError(r.t, err)
	return got
}

func (r *testDevice) pull(ids ...string) PullResult {
	r.t.Helper()
	got, err := r.Pull(context.Background(), ids...)
	require.NoError(r.t, err)
	return got
}

func (r *testDevice) file(id, name string) string {
	r.t.Helper()
	data, err := os.ReadFile(filepath.Join(r.Dir(), id, name))
	require.NoError(r.t, err)
	return string(data)
}

func (r *testDevice) put(id, name, content string) {
	r.t.Helper()
	require.NoError(r.t, os.WriteFile(filepath.Join(r.Dir(), id, name), []byte(content), 0o600))
}

func (r *testDevice) state(id string) Status {
	r.t.Helper()
	named, err := r.Status(context.Background(), id)
	require.NoError(r.t, err)
	all, err := r.Status(context.Background())
	require.NoError(r.t, err)
	require.Contains(r.t, all, named[0])
	return named[0]
}

// family returns the sessions named, and those in the remote that parents connect with them.
func (r *testDevice) family(ids ...string) []string {
	r.t.Helper()
	listed, err := r.Remote(context.Background())
	require.NoError(r.t, err)
	return familyOf(listed, ids)
}

func familyOf(listed []RemoteSession, named []string) (all []string) {
	there, near := map[string]bool{}, map[string][]string{}
	for _, s := range listed {
		there[s.SessionID] = !s.Removed
		if s.Parent != "" {
			near[s.SessionID] = append(near[s.SessionID], s.Parent)
			near[s.Parent] = append(near[s.Parent], s.SessionID)
		}
	}
	met := map[string]bool{}
	for next := slices.Clone(named); len(next) > 0; next = next[1:] {
		id := next[0]
		if met[id] {
			continue
		}
		met[id], next = true, append(next, near[id]...)
		if there[id] || slices.Contains(named, id) {
			all = append(all, id)
		}
	}
	return all
}

// ids returns the sessions that are here, the one that changed last first.
func (r *testDevice) ids() (ids []string) {
	r.t.Helper()
	all, err := r.List(context.Background(), nil)
	require.NoError(r.t, err)
	for _, i := range all {
		ids = append(ids, i.ID)
	}
	return ids
}

func numbered(prefix string, from, to int) (texts []string) {
	for i := from; i < to; i++ {
		texts = append(texts, fmt.Sprint(prefix, i))
	}
	return texts
}

func (c *cloud) options() *azcosmos.ClientOptions {
	return &azcosmos.ClientOptions{ClientOptions: policy.ClientOptions{Transport: c.Transport()}}
}
