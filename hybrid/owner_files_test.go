package hybrid

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestOwnerKeepsBytesUnderOtherRules: the rules of the owner changed since it sent its
// metadata, so that they would make something else of it than what the cloud has.
func TestOwnerKeepsBytesUnderOtherRules(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a, b := c.device(t, "a", under(1)), c.device(t, "b", under(1))
	a.say("s", "one")
	a.setMember("s", "note", "apple pear")
	a.sync()
	b.pull()
	a = c.reopened(t, a, "a", under(2))
	b.setMember("s", "name", "by b")
	b.sync()
	a.sync()
	require.Contains(t, a.file("s", "metadata.json"), `"apple pear"`)
	require.Contains(t, a.file("s", "metadata.json"), "by b")
}
