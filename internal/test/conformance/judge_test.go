package conformance

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestJudge makes sure that a case can fail.
func TestJudge(t *testing.T) {
	t.Parallel()
	predict := func(reference, ours string) func(f *fired) string {
		return func(f *fired) string {
			if f.by(notFinite) {
				return ours
			}
			return reference
		}
	}
	for _, tt := range []struct {
		name            string
		reference, ours string
		predict         func(f *fired) string
		rules           []rule
		err             string
	}{
		{"equal", "a", "a", predict("x", "y"), nil, ""},
		{"under a rule", "a", "b", predict("a", "b"), []rule{notFinite}, ""},
		{"no rules", "a", "b", nil, nil, "by no rule"},
		{"the reference is another", "a", "b", predict("x", "b"), nil, "by no rule fits"},
		{"we are another", "a", "b", predict("a", "y"), nil, "by rules [not-finite]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			v := judge(tt.reference, tt.ours, tt.predict)
			require.Equal(t, tt.rules, v.rules)
			if tt.err == "" {
				require.NoError(t, v.err)
				return
			}
			require.ErrorContains(t, v.err, tt.err)
		})
	}
}

func TestAllow(t *testing.T) {
	t.Parallel()
	set := ruleSet{notFinite: {Files: []string{"save"}}}
	used := verdict{rules: []rule{notFinite}}
	require.NoError(t, set.allow(used, "save.json"))
	require.ErrorContains(t, set.allow(used, "redact.json"), "is not for")
	require.ErrorIs(t, set.allow(verdict{err: errNotRun}, "save.json"), errNotRun)
}
