package hybrid

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amplifier-go/sessionstorage/hybrid/cosmos"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
)

func TestForeignDocuments(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a, b := c.device(t, "a"), c.device(t, "b")
	a.say("s", "one")
	a.sync()
	pk, uid := segment.SessionPK(a.engine.SID("s")), segment.UserPK(a.engine.UID())
	for _, doc := range []string{
		`{"id":"x1","pk":"` + pk + `","type":"seg","st":"t","end":99}`,
		`{"id":"x2","pk":"` + pk + `","type":"seg","st":"t","v":2,"seq":0,"n":1,"end":1,"prev":"","hash":"","at":""}`,
		`{"id":"x3","pk":"` + pk + `","type":"history"}`,
		`{"id":"x4","pk":"` + uid + `","type":"cat","project":"demo","updated":"z"}`,
		`{"id":"x5","pk":"elsewhere"}`,
	} {
		require.NoError(t, c.Put(testDatabase, testContainer, doc))
	}
	require.Equal(t, 1, b.pull().Pulled)
	b.say("s", "two")
	b.sync()
	a.sync()
	require.Equal(t, []string{"one", "two"}, a.texts("s"))
	_, err := a.Histories(t.Context(), "s")
	require.NoError(t, err)
	_, err = a.Check(t.Context(), "s", nil)
	require.NoError(t, err)
	require.NoError(t, a.Remove(t.Context(), "s"))
	require.Len(t, c.Docs(testDatabase, testContainer), 2+5, "what is not ours stays")
}

func TestTipsThatAreNotOurs(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		edit func(body []byte) []byte
		want error
	}{
		{"newer", func(b []byte) []byte { return bytes.Replace(b, []byte(`"v":3`), []byte(`"v":4`), 1) }, ErrNewer},
		{"foreign", func(b []byte) []byte { return bytes.Replace(b, []byte(`"type":"head"`), []byte(`"type":"note"`), 1) }, ErrForeign},
		{"damaged", func(b []byte) []byte { return bytes.Replace(b, []byte(`\"n\":1`), []byte(`\"n\":\"1\"`), 1) }, ErrDamaged},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := newCloud(t, nil)
			a, b := c.device(t, "a"), c.device(t, "b")
			a.say("s", "one")
			a.sync()
			sid := a.engine.SID("s")
			require.NoError(t, c.Edit(testDatabase, testContainer, partitionOf(c, segment.HeadID(sid)), segment.HeadID(sid), tt.edit))
			before := c.documents()
			b.say("s", "two")
			_, err := b.Sync(t.Context())
			require.ErrorIs(t, err, tt.want)
			require.NotErrorIs(t, err, ErrBlocked, "the account refuses nothing")
			require.Equal(t, Blocked, b.state("s").State)
			require.Equal(t, before, c.documents())
			require.Equal(t, []string{"two"}, b.texts("s"))
		})
	}
}

func partitionOf(c *cloud, id string) string {
	for _, d := range c.Docs(testDatabase, testContainer) {
		if d.ID == id {
			return d.Partition
		}
	}
	return ""
}

func TestSameIDElsewhere(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a := c.device(t, "a")
	user := c.device(t, "b", func(o *Options) { o.User = "bob" })
	project := c.device(t, "c", func(o *Options) { o.Project = "other" })
	for i, r := range []*testDevice{a, user, project} {
		r.say("fix-login", "of "+string(rune('a'+i)))
		require.Equal(t, 1, r.sync().Pushed)
	}
	for i, r := range []*testDevice{a, user, project} {
		require.Zero(t, r.pull().Pulled)
		require.Equal(t, []string{"of " + string(rune('a'+i))}, r.texts("fix-login"))
		list, err := r.Remote(t.Context())
		require.NoError(t, err)
		require.Len(t, list, 1)
	}
}

func TestAnotherContainer(t *testing.T) {
	t.Parallel()
	one, two := newCloud(t, nil), newCloud(t, nil)
	dir := filepath.Join(t.TempDir(), "sessions")
	a, b := one.deviceAt(t, dir, "a"), two.device(t, "b")
	a.say("s", "one", "two", "three")
	a.sync()
	first := a.file("s", "transcript.jsonl")
	b.say("s", "x")
	b.put("s", "transcript.jsonl", first[:strings.Index(first, "\n")+1])
	b.sync()
	moved := two.deviceAt(t, dir, "a")
	moved.sync()
	require.Equal(t, []string{"one", "two", "three"}, moved.texts("s"), "a shorter history elsewhere is no rewind")
	b.sync("s")
	two.device(t, "c").pull()
}

type shout struct{ version string }

func (s shout) Version() string { return s.version }
func (s shout) Line(line []byte) []byte {
	return bytes.ReplaceAll(line, []byte("hunter2"), []byte("[redacted:password]"))
}

func TestRedaction(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	redact := func(version string) func(*Options) { return func(o *Options) { o.Redact = shout{version} } }
	a, b := c.device(t, "a", redact("1")), c.device(t, "b", redact("1"))
	other := c.device(t, "other", redact("2"))
	a.say("s", "my password is hunter2", "thanks")
	a.put("s", "events.jsonl", "{\"event\":\"hunter2\"}\n")
	a.sync()
	c.requirePlain(t, []string{"my password is [redacted:password]", `"event":"[redacted:password]"`, "thanks"}, []string{"hunter2"})
	b.pull()
	require.Equal(t, []string{"my password is [redacted:password]", "thanks"}, b.texts("s"))
	b.say("s", "again")
	b.sync()
	a.sync()
	require.Equal(t, []string{"my password is hunter2", "thanks", "again"}, a.texts("s"), "what is here stays as it is")
	require.Zero(t, a.sync().Pushed+b.sync().Pushed)
	other.say("s", "something else")
	other.sync()
	require.Equal(t, []string{"my password is [redacted:password]", "thanks", "again"}, other.texts("s"))
	require.Len(t, other.ids(), 2, "what differs by more than redaction is a history of its own")
}

func TestConfig(t *testing.T) {
	for _, name := range []string{"COSMOS_ENDPOINT", "COSMOS_DATABASE", "COSMOS_CONTAINER", "COSMOS_KEY"} {
		t.Setenv(name, "")
	}
	_, ok := cosmos.ConfigFromEnv()
	require.False(t, ok)
	t.Setenv("COSMOS_ENDPOINT", "https://x/")
	c, ok := cosmos.ConfigFromEnv()
	require.True(t, ok)
	require.Equal(t, cosmos.Config{Endpoint: "https://x/", Database: cosmos.DefaultDatabase, Container: cosmos.DefaultContainer}, c)
}

func TestConnect(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	good := cosmos.Config{Endpoint: c.Endpoint(), Key: c.Key(), Database: testDatabase, Container: testContainer}
	_, err := cosmos.Connect(t.Context(), good, nil, c.options())
	require.NoError(t, err)
	bad := good
	bad.Key = "bm90IHRoZSBrZXk="
	container, err := cosmos.Connect(t.Context(), bad, nil, c.options())
	require.NoError(t, err, "it makes no request")
	_, err = c.device(t, "a", func(o *Options) { o.Remote = container }).Refresh(t.Context(), "s")
	require.ErrorIs(t, err, ErrBlocked)
	bad.Key = "not base64 !"
	_, err = cosmos.Connect(t.Context(), bad, nil, c.options())
	require.Error(t, err)
	require.NotContains(t, err.Error(), "not base64 !")
	bad.Key = ""
	_, err = cosmos.Connect(t.Context(), bad, nil, nil)
	require.ErrorContains(t, err, "neither key nor credential")
	bad.Endpoint = "AccountEndpoint=https://name.documents.azure.com:443/;AccountKey=c2VjcmV0"
	for _, key := range []string{good.Key, ""} { // a connection string holds the key
		bad.Key = key
		_, err = cosmos.Connect(t.Context(), bad, &login{}, nil)
		require.ErrorContains(t, err, "the endpoint is no address: ")
		require.NotContains(t, err.Error(), "c2VjcmV0")
	}
	for _, endpoint := range []string{
		"", "/", "myaccount", "myaccount.documents.azure.com", "myaccount.documents.azure.com:443", "myaccount.documents.azure.com:443/", "//x/",
		"ftp://x/", "https://", "https:///", "https:x", "https:/x/", "https://:443/", "https://x:port/", "https://x:70000/", "https://x:0/", "https://a b/", " https://x/", "%zz",
	} {
		bad.Endpoint = endpoint
		for _, key := range []string{good.Key, ""} {
			bad.Key = key
			_, err = cosmos.Connect(t.Context(), bad, &login{}, nil)
			require.ErrorContains(t, err, "the endpoint is no address: ", "%q", endpoint)
			_, err = cosmos.Connect(t.Context(), bad, &login{}, nil)
			require.ErrorContains(t, err, "the endpoint is no address: ", "%q", endpoint)
			require.NotContains(t, err.Error(), "myaccount")
		}
	}
	for _, endpoint := range []string{"https://x.documents.azure.com", "https://x.documents.azure.com:443/", "HTTPS://x/", "http://localhost:8081", "https://[::1]:8081/"} {
		good.Endpoint = endpoint
		_, err = cosmos.Connect(t.Context(), good, nil, nil)
		require.NoError(t, err, endpoint)
	}
	require.NoError(t, cosmos.Provision(t.Context(), dial(t, c.Server, c.Key()), testDatabase, testContainer), "again")
}
