package hybrid

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/redact"
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

// TestValuesOfTheEnvironment: what a variable of the environment holds leaves where
// neither its shape nor a name beside it tells that it is secret. A pattern of it keeps it
// here, in every file, and holds back programs that do not have the pattern.
func TestValuesOfTheEnvironment(t *testing.T) {
	t.Parallel()
	const value = "9vQ.t7Kw/2mZ+x" // of the variable below
	told := string(redact.Secrets().WithEnviron([]string{"SERVICE_PASSWORD=" + value}).Line([]byte("it said " + value)))
	require.Equal(t, "it said [redacted:environment]", told)

	c := newCloud(t, nil)
	a := c.device(t, "a", func(o *Options) { o.Redact = Secrets() })
	a.say("s", "it said "+value, "SERVICE_PASSWORD="+value)
	a.sync()
	c.requirePlain(t, []string{"it said " + value, "SERVICE_PASSWORD=[redacted:password]"}, nil)

	rules, err := redact.New(redact.Pattern{Kind: "environment", Shape: regexp.QuoteMeta(value)})
	require.NoError(t, err)
	c = newCloud(t, nil)
	a = c.device(t, "a", func(o *Options) { o.Redact = rules })
	a.say("s", "it said "+value)
	a.setMember("s", "name", "about "+value)
	a.put("s", "events.jsonl", `{"event":"tool","data":"`+value+`"}`+"\n")
	require.Equal(t, 1, a.sync().Pushed)
	c.requirePlain(t, []string{"it said [redacted:environment]", "about [redacted:environment]"}, []string{value})
	require.Equal(t, []string{"it said " + value}, a.texts("s"))
	for _, other := range []Redactor{nil, Secrets()} {
		tool := c.deviceAt(t, a.Dir(), "a", func(o *Options) { o.Redact = other })
		tool.say("s", value+" again")
		_, err := tool.Sync(t.Context())
		require.ErrorIs(t, err, ErrRedaction)
		require.ErrorIs(t, tool.state("s").Err, ErrRedaction)
		require.NoError(t, tool.Close())
	}
	c.requirePlain(t, nil, []string{value})
}
