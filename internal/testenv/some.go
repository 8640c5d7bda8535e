package testenv

import (
	"slices"
	"testing"
)

// Some returns n of the cases, chosen by the test's seed and in their order, four
// times as many where [Long] holds, or all of them where [All] does. It is for a test
// whose cases prove the same in several ways and cost much time.
func Some[T any](t testing.TB, n int, cases ...T) []T {
	t.Helper()
	if Long() {
		n *= 4
	}
	if All() || n >= len(cases) {
		return cases
	}
	chosen := Rand(t).Perm(len(cases))[:n]
	slices.Sort(chosen)
	some := make([]T, n)
	for i, c := range chosen {
		some[i] = cases[c]
	}
	return some
}
