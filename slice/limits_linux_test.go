package slice_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/cost"
	"github.com/amplifier-go/sessionstorage/slice"
)

// TestLimits compares what is allocated with testdata/limits.txt: what looks
// at messages alone allocates little for each of them.
func TestLimits(t *testing.T) {
	got := cost.Table{}
	for _, n := range []int{100, 1000} {
		msgs, _ := conversation(t, n)
		operations := map[string]func() error{
			"turns":    func() error { slice.CountTurns(msgs); return nil },
			"diagnose": func() error { _, err := slice.Diagnose(msgs); return err },
			"toturn":   func() error { _, err := slice.ToTurn(msgs, 20, slice.Complete); return err },
			"window":   func() error { slice.Window(msgs, 10); return nil },
		}
		for name, do := range operations {
			got[fmt.Sprintf("%s/n=%d", name, n)] = new(cost.Gauge).Measure(20, func() { require.NoError(t, do()) })
		}
	}
	cost.Check(t, "testdata/limits.txt", got)
}
