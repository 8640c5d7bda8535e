package hybrid

import (
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/cosmostest"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// TestEveryThirdRequest has two devices take turns while each third request is not done, or its
// answer is lost: each sync of a turn gets through.
func TestEveryThirdRequest(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]cosmostest.Fault{
		"unavailable": cosmostest.Refuse(503, 0), "internal": cosmostest.Refuse(500, 0), "throttled": cosmostest.Refuse(429, 0),
		"retry": cosmostest.Refuse(449, 0), "lost answer": cosmostest.LoseAnswer(),
	} {
		for first := range 3 {
			t.Run(fmt.Sprint(name, " ", first), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					c, n := newCloud(t, nil), first
					a, b := c.device(t, "a"), c.device(t, "b")
					c.Inject(cosmostest.Data(func(cosmostest.Request) cosmostest.Fault {
						if n++; n%3 == 0 {
							return fault
						}
						return cosmostest.Fault{}
					}))
					for turn := range 6 {
						d := []*testDevice{a, b}[turn%2]
						if turn > 0 {
							d.refresh("s")
						}
						d.say("s", fmt.Sprint("turn ", turn))
						d.sync("s")
					}
					c.Inject(nil)
					a.refresh("s")
					require.Equal(testenv.Lost(t), numbered("turn ", 0, 6), a.texts("s"))
				})
			})
		}
	}
}
