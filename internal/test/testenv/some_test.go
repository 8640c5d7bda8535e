package testenv

import (
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSome(t *testing.T) {
	cases := []string{"a", "b", "c", "d"}
	for _, long := range []string{"", "1", "all"} {
		t.Setenv("TEST_LONG", long)
		met := map[string]bool{}
		for seed := range 50 {
			t.Setenv(seedVariable, strconv.Itoa(seed))
			got := Some(t, 1, cases...)
			require.True(t, slices.IsSorted(got))
			require.Len(t, slices.Compact(got), Share(1, 1, 4))
			for _, c := range got {
				met[c] = true
			}
		}
		require.Len(t, met, 4, "each is met")
	}
	require.Equal(t, cases, Some(t, 4, cases...))
}

func TestSomeOfMany(t *testing.T) {
	cases := make([]int, 100)
	for long, n := range map[string]int{"": 3, "1": 12, "all": 100} {
		t.Setenv("TEST_LONG", long)
		require.Len(t, Some(t, 3, cases...), Share(3, 3, n))
	}
}
