package hybrid

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// TestOwnMembersKeepTheirBytes lets another device change metadata of which the
// rules take something out: the device that wrote it keeps it, in its own bytes.
func TestOwnMembersKeepTheirBytes(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	rules := func(o *Options) { o.Redact = Secrets() }
	a, b := c.device(t, "a", rules), c.device(t, "b", rules)
	const secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
	set := func(r *testDevice, name, value string) {
		_, err := r.UpdateMetadata(t.Context(), "s", func(md *sessionstore.Metadata) error { return md.Set(name, value) })
		require.NoError(t, err)
	}
	a.say("s", "one")
	set(a, "note", "the key is "+secret)
	set(a, "name", "first")
	a.sync()
	b.pull()
	require.NotContains(t, b.file("s", "metadata.json"), secret)
	set(b, "name", "second")
	b.sync()
	set(b, "other", "third")
	b.sync()
	a.sync()
	for _, part := range []string{secret, "second", "third"} {
		require.Contains(t, a.file("s", "metadata.json"), part)
	}
	require.Equal(t, UpToDate, a.state("s").State)
	require.Zero(t, a.sync().Pushed, "nothing is to be sent")

	set(a, "name", "fourth") // both change members
	set(b, "other", "fifth")
	b.sync()
	a.sync()
	b.sync()
	for _, part := range []string{secret, "fourth", "fifth"} {
		require.Contains(t, a.file("s", "metadata.json"), part)
	}
	set(b, "note", "another one") // then it is b's
	b.sync()
	a.sync()
	require.NotContains(t, a.file("s", "metadata.json"), secret)
	require.Contains(t, a.file("s", "metadata.json"), "another one")
	c.requirePlain(t, []string{"fourth", "fifth"}, []string{secret})
}
