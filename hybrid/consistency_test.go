package hybrid

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/cosmostest"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// TestConsistencyLevels shows what the account's level of consistency decides while all
// replicas lag: at which level a device finds what another one sent, and what it sent itself. At no
// level is anything lost.
func TestConsistencyLevels(t *testing.T) {
	t.Parallel()
	for level, promises := range map[cosmostest.Consistency]struct{ others, own bool }{
		cosmostest.Strong:           {others: true, own: true},
		cosmostest.BoundedStaleness: {others: true, own: true},
		cosmostest.Session:          {own: true},
		cosmostest.ConsistentPrefix: {},
		cosmostest.Eventual:         {},
	} {
		t.Run(level.String(), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c := newCloud(t, &cosmostest.Options{Consistency: level})
				a, b := c.device(t, "a"), c.device(t, "b")
				lag := func() {
					c.Inject(cosmostest.Data(func(cosmostest.Request) cosmostest.Fault { return cosmostest.Fault{Stale: 5} }))
				}
				a.saveNew("s", "one")
				a.sync()
				b.refresh("s")
				a.saveOne("s", "two")
				a.sync()

				lag()
				own, err := a.Preview(t.Context(), "s")
				if promises.own {
					require.NoError(t, err)
				}
				require.Equal(t, promises.own, own.Count == 2, "%d messages", own.Count)
				a.refresh("s")
				require.Equal(testenv.Lost(t), []string{"one", "two"}, a.texts("s"))
				b.refresh("s")
				require.Equal(t, promises.others, len(b.texts("s")) == 2, "%q", b.texts("s"))

				b.saveOne("s", "three")
				first, err := b.Sync(t.Context())
				if promises.others {
					require.NoError(t, err)
				}
				c.Inject(nil)
				time.Sleep(time.Hour)
				last := b.sync()
				parted := slices.Concat(first.Conflicts, last.Conflicts)
				a.refresh("s")
				if promises.others {
					require.Empty(t, parted)
					require.Equal(testenv.Lost(t), []string{"one", "two", "three"}, a.texts("s"))
					return
				}
				require.Len(t, parted, 1)
				require.Equal(testenv.Lost(t), []string{"one", "two"}, a.texts("s"))
				require.Equal(testenv.Lost(t), []string{"one", "three"}, b.texts(parted[0].KeptAs))
			})
		})
	}
}

// TestRewindAfterStart rewinds a session in a program that starts, while a replica lacks what the
// one before it sent. The rewind is sent, and not undone as if another device had sent more.
func TestRewindAfterStart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCloud(t, nil)
		a := c.device(t, "a")
		a.say("s", "one", "two", "three", "four")
		a.sync("s")
		a = c.reopened(t, a, "a")
		a.cutTo("s", 2)
		c.Inject(cosmostest.Data(cosmostest.At(1, cosmostest.Fault{Stale: cosmostest.MaxStale})))
		a.sync("s")
		require.Equal(testenv.Lost(t), []string{"one", "two"}, a.texts("s"))
		require.Equal(t, Rewritten, a.state("s").Last)
	})
}
