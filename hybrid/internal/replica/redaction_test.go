package replica

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRulesThatFollow(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		mine, was        string
		follows, builtIn bool
	}{
		{"secrets/7", "secrets/7", true, true},
		{"secrets/8", "secrets/7", true, true},
		{"secrets/10", "secrets/9", true, true},
		{"secrets/9", "secrets/10", false, false},
		{"secrets/007", "secrets/7", true, true},
		{"secrets/7+1f", "secrets/7", true, true},
		{"secrets/8", "secrets/7+1f", false, false},
		{"secrets/7", "secrets/7+1f", false, false},
		{"secrets/6+1f", "secrets/7", false, false},
		{"secrets/7+2e", "secrets/7+1f", true, false},
		{"words/7", "secrets/7", false, false},
		{"words", "words", true, false},
		{"words", "words/1", false, false},
		{"v3", "v2", true, false},
		{"v2", "v3", false, false},
		{"x/abc", "x/def", true, false},
		{"x", "x/def", false, false},
		{"99999999999999999999999", "99999999999999999999998", true, false},
		{"99999999999999999999998", "99999999999999999999999", false, false},
	} {
		t.Run(fmt.Sprint(c.mine, " after ", c.was), func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.follows, Follows(c.mine, c.was))
			require.Equal(t, c.builtIn, BuiltIn(c.mine, c.was))
		})
	}
}
