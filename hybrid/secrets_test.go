package hybrid

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSecretsStayAtHome(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a := c.device(t, "a", func(o *Options) { o.Redact = Secrets() })
	secret := "ghp_" + strings.Repeat("a1B2", 9) // made up here, so that none stands in the source
	a.say("s", "use "+secret, strings.Repeat("x", 300<<10)+" "+secret)
	a.put("s", "events.jsonl", `{"event":"tool","data":"`+secret+`"}`+"\n")
	a.put("s", "config.md", "key: "+secret+"\n")
	a.sync()
	b := c.device(t, "b", func(o *Options) { o.Redact = Secrets() })
	b.pull()
	for _, name := range []string{"transcript.jsonl", "events.jsonl", "config.md"} {
		require.NotContains(t, b.file("s", name), secret)
		require.Contains(t, b.file("s", name), "[redacted:github-token]")
		require.Contains(t, a.file("s", name), secret)
	}
	require.Zero(t, a.sync().Pushed+b.sync().Pushed)
	c.requirePlain(t, []string{"use [redacted:github-token]", "key: [redacted:github-token]"}, []string{secret})
}
