package hybrid

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/cosmostest"
	"github.com/amplifier-go/sessionstorage/internal/segment"
	"github.com/amplifier-go/sessionstorage/internal/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

func TestMain(m *testing.M) {
	warmUp()
	testenv.Main(m, children)
}

// warmUp makes the compressors, which serve the whole process and hold
// channels, before any bubble does: channels made in one are of no use outside.
func warmUp() {
	_, docs := segment.Pack(segment.Identity{}.SID(), make([]byte, 64<<10))
	for d, err := range docs {
		if err != nil {
			panic(err)
		}
		if _, err := segment.DecodeChunk(d.Body, d.ID); err != nil {
			panic(err)
		}
	}
}

// cloud is a server with one container.
type cloud struct {
	*cosmostest.Server
	container *azcosmos.ContainerClient
}

const (
	testDatabase  = "amplifier"
	testContainer = "sync"
)

func newCloud(t testing.TB, o *cosmostest.Options) *cloud {
	t.Helper()
	srv := cosmostest.New(o)
	client := dial(t, srv, srv.Key())
	require.NoError(t, Provision(context.Background(), client, testDatabase, testContainer))
	container, err := client.NewContainer(testDatabase, testContainer)
	require.NoError(t, err)
	return &cloud{srv, container}
}

func dial(t testing.TB, srv *cosmostest.Server, key string) *azcosmos.Client {
	t.Helper()
	cred, err := azcosmos.NewKeyCredential(key)
	require.NoError(t, err)
	client, err := azcosmos.NewClientWithKey(srv.Endpoint(), cred, &azcosmos.ClientOptions{
		ClientOptions: policy.ClientOptions{Transport: srv.Transport()},
	})
	require.NoError(t, err)
	t.Cleanup(client.Close)
	return client
}

// documents counts the documents of each type.
func (c *cloud) documents() map[string]int {
	n := map[string]int{}
	for _, d := range c.Docs(testDatabase, testContainer) {
		var doc struct{ Type string }
		if json.Unmarshal(d.Body, &doc) == nil {
			n[doc.Type]++
		}
	}
	return n
}

// replica is a device with a store of its own.
type replica struct {
	*Store
	t testing.TB
}

// device opens a store in a directory of its own. It syncs only when asked.
func (c *cloud) device(t testing.TB, name string, edit ...func(*Options)) *replica {
	t.Helper()
	return c.deviceAt(t, filepath.Join(t.TempDir(), "sessions"), name, edit...)
}

func (c *cloud) deviceAt(t testing.TB, dir, name string, edit ...func(*Options)) *replica {
	t.Helper()
	o := &Options{
		Store:     &sessionstore.Options{Durability: sessionstore.Relaxed},
		Container: c.container, Project: "demo", User: "ada", Device: name, Disabled: true,
	}
	for _, e := range edit {
		e(o)
	}
	s, err := Open(context.Background(), dir, o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return &replica{s, t}
}

// say appends messages, those of the user with every other one.
func (r *replica) say(id string, texts ...string) {
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

func (r *replica) texts(id string) (texts []string) {
	r.t.Helper()
	s, err := r.Load(context.Background(), id)
	require.NoError(r.t, err)
	for _, m := range s.Messages {
		texts = append(texts, m.Content())
	}
	return texts
}

func (r *replica) cutTo(id string, n int) {
	r.t.Helper()
	ctx := context.Background()
	s, err := r.Load(ctx, id)
	require.NoError(r.t, err)
	_, err = r.Replace(ctx, id, s.Revision, s.Messages[:n])
	require.NoError(r.t, err)
}

func (r *replica) sync(ids ...string) SyncResult {
	r.t.Helper()
	got, err := r.Sync(context.Background(), ids...)
	require.NoError(r.t, err)
	return got
}

func (r *replica) pull(ids ...string) PullResult {
	r.t.Helper()
	got, err := r.Pull(context.Background(), ids...)
	require.NoError(r.t, err)
	return got
}

func (r *replica) file(id, name string) string {
	r.t.Helper()
	data, err := os.ReadFile(filepath.Join(r.Dir(), id, name))
	require.NoError(r.t, err)
	return string(data)
}

func (r *replica) put(id, name, content string) {
	r.t.Helper()
	require.NoError(r.t, os.WriteFile(filepath.Join(r.Dir(), id, name), []byte(content), 0o600))
}

func (r *replica) state(id string) Status {
	r.t.Helper()
	one, err := r.StatusOf(context.Background(), id)
	require.NoError(r.t, err)
	all, err := r.Status(context.Background())
	require.NoError(r.t, err)
	require.Contains(r.t, all, one)
	return one
}

// ids returns the sessions that are here, the one that changed last first.
func (r *replica) ids() (ids []string) {
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
