package hybrid

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// TestHeldBesideRedaction: a session of which it is not known whether a rule keeps it shows that
// also where rules of redaction hold it back, in one line.
func TestHeldBesideRedaction(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a := c.device(t, "a", func(o *Options) { o.Redact = words{version: "mine/1"} })
	a.say("s", "one")
	a.say("open", "two")
	a.sync()
	require.NoError(t, a.KeepLocal(t.Context(), "other"))
	a.put("s", "metadata.json", "{")
	require.ErrorIs(testenv.Lost(t), a.state("s").Err, ErrHeld)
	require.NotErrorIs(t, a.state("s").Err, ErrRedaction)
	require.NoError(t, a.Close())
	a = c.deviceAt(t, a.Dir(), "a", func(o *Options) { o.Redact = nil })
	held := a.state("s")
	require.Equal(t, Blocked, held.State)
	require.ErrorIs(testenv.Lost(t), held.Err, ErrHeld)
	require.ErrorIs(t, held.Err, ErrRedaction)
	require.False(t, strings.Contains(held.Err.Error(), "\n"))
	require.ErrorIs(t, a.state("open").Err, ErrRedaction)
	require.NotErrorIs(t, a.state("open").Err, ErrHeld)
}
