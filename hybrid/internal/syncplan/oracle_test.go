package syncplan

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// oracle decides as the rules say, with the whole texts at hand.
func oracle(l, b, r history) Kind {
	prefix := func(a, b history) bool { return strings.HasPrefix(string(b), string(a)) }
	switch {
	case l == r:
		return Idle
	case b == "-" && prefix(r, l):
		return Push
	case b == "-" && prefix(l, r):
		return Pull
	case b == "-":
		return Diverge
	case l == b:
		return Pull
	case r == b && prefix(b, l):
		return Push
	case r == b:
		return Rewrite
	case prefix(r, l) && prefix(b, r):
		return Push
	case prefix(l, r): // with b a prefix of l or not: nothing is there to be kept
		return Pull
	}
	return Diverge
}

// TestAllShortHistories compares every decision about histories of up to three
// lines of two kinds with the oracle's.
func TestAllShortHistories(t *testing.T) {
	t.Parallel()
	all := []history{""}
	for i := 0; all[i].len() < 3; i++ {
		all = append(all, all[i]+"x", all[i]+"y")
	}
	for _, l := range all {
		for _, r := range all {
			for _, b := range append([]history{"-"}, all...) {
				got, err := Plan(input(l, b, r))
				require.NoError(t, err)
				require.Equal(t, oracle(l, b, r), got.Kind, "local %q, base %q, remote %q", l, b, r)
			}
		}
	}
}
