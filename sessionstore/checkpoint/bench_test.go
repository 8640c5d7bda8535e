package checkpoint

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// BenchmarkRollback rolls back a session with so many decisions: the cost of
// any change.
func BenchmarkRollback(b *testing.B) {
	for _, sync := range []bool{true, false} {
		for _, n := range []int{0, 100} {
			b.Run(fmt.Sprintf("decisions=%d/sync=%t", n, sync), func(b *testing.B) {
				o := Options{TempDir: b.TempDir()}
				if !sync {
					o.Durability = sessionstore.Relaxed
				}
				s, err := New(&o).Create(b.Context(), b.TempDir(), Setup{})
				require.NoError(b, err)
				decision := map[string]any{"type": "approval_gate", "phase": 3, "decision": "approved"}
				for range n {
					require.NoError(b, s.Decide(b.Context(), decision))
				}
				b.ReportAllocs()
				for b.Loop() {
					if err := s.Rollback(b.Context(), 3); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
