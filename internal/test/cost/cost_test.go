package cost

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
)

func TestTable(t *testing.T) {
	t.Parallel()
	want := Table{"a/n=1": {3, 4.5, 0.5, 1000}, "b": {}}
	require.Equal(t, columns+"a/n=1 3 4.5 0.5 1000\nb 0 0.0 0.0 0\n", want.String())
	got, err := Read(strings.NewReader(want.String() + "\n"))
	require.NoError(t, err)
	require.Equal(t, want, got)
	_, err = Read(strings.NewReader("a 1 2 3"))
	require.ErrorContains(t, err, "a 1 2 3")
}

func TestOver(t *testing.T) {
	t.Parallel()
	limits := Table{"a": {30, 4, 2, 1000}}
	tests := []struct {
		name, want string
		got        Table
	}{
		{"as it is", "", limits},
		{"a little more", "", Table{"a": {37, 4, 2, 1020}}},
		{"allocations", "a: 38.0 allocations, 30.0 are allowed", Table{"a": {38, 4, 2, 1000}}},
		{"operations", "a: 4.5 operations, 4.0 are allowed", Table{"a": {30, 4.5, 2, 1000}}},
		{"syncs", "a: 3.0 syncs, 2.0 are allowed", Table{"a": {30, 4, 3, 1000}}},
		{"bytes", "a: 1200.0 bytes written, 1000.0 are allowed", Table{"a": {30, 4, 2, 1200}}},
		{"much less", "a: 10.0 allocations, so the limit 30.0 can be lower", Table{"a": {10, 4, 2, 1000}}},
		{"unknown", "b: has no limit", Table{"a": {30, 4, 2, 1000}, "b": {}}},
		{"not measured", "a: has a limit and is not measured", Table{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			err := limits.Over(tt.got, true)
			if tt.want == "" {
				require.NoError(t, err)
				return
			}
			require.EqualError(t, err, tt.want)
		})
	}
	require.NoError(t, limits.Over(Table{"a": {100, 4, 2, 1000}}, false))
}

var kept []byte

func TestMeasure(t *testing.T) {
	var g Gauge
	hooks := g.Seam()
	require.NoError(t, hooks.Do(seam.Op{Kind: seam.Create}, func() error { return nil }))
	c := g.Measure(3, func() {
		kept = make([]byte, 100)
		_ = hooks.Write(seam.Op{Kind: seam.Write, Data: kept}, func([]byte) error { return nil })
		_ = hooks.Do(seam.Op{Kind: seam.SyncDir}, func() error { return nil })
	})
	require.GreaterOrEqual(t, c.Allocs, 1.0)
	c.Allocs = 0
	require.Equal(t, Cost{0, 2, 1, 100}, c)
}
