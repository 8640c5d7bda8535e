package hybrid

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/redact"
)

// TestWeakerRulesReplaceNone: rules of the same name that may find less are not taken for
// those that the directory remembers, until somebody ends these by Exact.
func TestWeakerRulesReplaceNone(t *testing.T) {
	t.Parallel()
	own, err := redact.New(redact.Pattern{Kind: "ticket", Shape: `ticket-[0-9]+`})
	require.NoError(t, err)
	other, err := redact.New(redact.Pattern{Kind: "ticket", Shape: `ticket-[0-9]{3,}`})
	require.NoError(t, err)
	for name, rules := range map[string]struct {
		first, weaker, next Redactor // next is no weaker than first
	}{
		"number":   {words{"words/2", []string{"apple", "ticket-123"}}, words{"words/1", []string{"apple"}}, words{"words/3", []string{"ticket-123"}}},
		"patterns": {own, Secrets(), other},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			with := func(r Redactor) func(*Options) { return func(o *Options) { o.Redact = r } }
			c := newCloud(t, nil)
			a := c.device(t, "a", with(rules.first))
			running := c.deviceAt(t, a.Dir(), "a", with(rules.first))
			a = c.reopened(t, a, "a", with(rules.weaker))
			a.say("s", "see ticket-123")
			for range 2 {
				_, err := a.Sync(t.Context())
				require.ErrorIs(t, err, ErrRedaction)
				require.ErrorContains(t, err, rules.weaker.Version())
				require.ErrorIs(t, a.state("s").Err, ErrRedaction)
				a = c.reopened(t, a, "a", with(rules.weaker)) // a second time changes nothing
			}
			require.Empty(t, c.documents())
			require.Equal(t, 1, running.sync().Pushed, "the remembered rules are what they were")

			a = c.reopened(t, a, "a", with(rules.next))
			a.say("s", "and ticket-123 again")
			require.Equal(t, 1, a.sync().Pushed)
			c.requireNoTrace(t, "ticket-123")

			a = c.reopened(t, a, "a", with(Exact()))
			a = c.reopened(t, a, "a", with(rules.weaker))
			a.say("fresh", "see ticket-123")
			require.Equal(t, 1, a.sync("fresh").Pushed, "somebody wanted that")
		})
	}
}

// TestRunningProgramHearsOfStrongerRules: a program that runs with weaker rules than the
// directory remembers since sends nothing more.
func TestRunningProgramHearsOfStrongerRules(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a := c.device(t, "a", under(1))
	a.say("s", "one")
	require.Equal(t, 1, a.sync().Pushed)
	requireClosed(t, c.deviceAt(t, a.Dir(), "a", under(2)).Store)
	a.say("s", "pear")
	_, err := a.Sync(t.Context())
	require.ErrorIs(t, err, ErrRedaction)
	c.requireNoTrace(t, "pear")
}
