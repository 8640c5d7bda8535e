package hybrid

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/cosmostest"
)

// TestLimits sends far more than a limit lets go in a while.
func TestLimits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const limit = 100
		spent := map[int64]float64{}
		most := 0.0
		var mu sync.Mutex
		c := newCloud(t, &cosmostest.Options{Observe: func(r cosmostest.Record) {
			mu.Lock()
			defer mu.Unlock()
			spent[r.At.Unix()] += r.Charge
			most = max(most, r.Charge)
		}})
		a := c.device(t, "a", func(o *Options) { o.Limits = &Limits{RequestUnitsPerSecond: limit} })
		for i := range 20 {
			a.say(fmt.Sprint("s", i), noise(100<<10))
		}
		mu.Lock()
		clear(spent) // what it took to make the container
		most = 0
		mu.Unlock()
		began := time.Now()
		a.sync()
		require.Greater(t, time.Since(began), 5*time.Second)
		for at, sum := range spent {
			require.LessOrEqual(t, sum, limit+most, "second %d", at)
		}
	})
}
