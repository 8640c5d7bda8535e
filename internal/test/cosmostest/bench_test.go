package cosmostest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"github.com/stretchr/testify/require"
)

// The times include the client's.

func BenchmarkUpsert(b *testing.B) {
	for _, size := range []int{1 << 10, 64 << 10} {
		b.Run(fmt.Sprintf("size=%dKB", size>>10), func(b *testing.B) {
			_, c := open(b, nil, "")
			body := doc("a", "x", "type", "seg", "d", strings.Repeat("d", size))
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				_, err := c.UpsertItem(b.Context(), pk("a"), body, nil)
				require.NoError(b, err)
			}
		})
	}
}

func BenchmarkQuery(b *testing.B) {
	for _, others := range []int{0, 1000} {
		b.Run(fmt.Sprintf("rows=60/partitions=%d", others+1), func(b *testing.B) {
			srv, c := open(b, nil, "")
			for i := range 60 {
				require.NoError(b, srv.Put("d", "c", string(doc("a", fmt.Sprint(i), "seq", i))))
			}
			for i := range others {
				require.NoError(b, srv.Put("d", "c", string(doc(fmt.Sprint(i), "x"))))
			}
			b.ReportAllocs()
			for b.Loop() {
				o := &azcosmos.QueryOptions{QueryParameters: []azcosmos.QueryParameter{{Name: "@n", Value: 30}}}
				rows, _, err := all(b.Context(), c, "SELECT * FROM c WHERE c.seq > @n ORDER BY c.seq", pk("a"), o)
				require.NoError(b, err)
				require.Len(b, rows, 29)
			}
		})
	}
}
