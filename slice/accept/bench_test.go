package accept_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice/accept"
)

// BenchmarkCheck has conversations with one open call at the end, and ones
// in which every message is refused.
func BenchmarkCheck(b *testing.B) {
	for _, n := range []int{10000, 100000} {
		good, size := conversation(b, n)
		bad := make([]sessionstore.Message, 0, n)
		for i := range n {
			bad = append(bad, parse(b, fmt.Sprintf(`{"role": "tool", "tool_call_id": "c%d"}`, i%100), calling(fmt.Sprint("c", i%50)))[i%2])
		}
		for name, msgs := range map[string][]sessionstore.Message{"whole": good, "broken": bad} {
			b.Run(fmt.Sprintf("Check/%s/messages=%d", name, n), func(b *testing.B) {
				b.ReportAllocs()
				if name == "whole" {
					b.SetBytes(size)
				}
				for b.Loop() {
					accept.Check(accept.Anthropic, msgs)
				}
			})
			b.Run(fmt.Sprintf("Mend/%s/messages=%d", name, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					_, err := accept.Fix(accept.Anthropic, msgs)
					require.NoError(b, err)
				}
			})
		}
	}
}
