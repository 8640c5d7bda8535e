package layers

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCircles(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		refs []string // "ab": file a refers to file b
		want [][]string
	}{
		{"none", nil, nil},
		{"one way", []string{"ab", "bc", "ac"}, nil},
		{"itself", []string{"aa"}, nil},
		{"two", []string{"ab", "ba", "bc"}, [][]string{{"a", "b"}}},
		{"by way of others", []string{"ab", "bc", "cd", "db", "ae"}, [][]string{{"b", "c", "d"}}},
		{"two circles", []string{"xy", "yx", "ab", "ba", "ax"}, [][]string{{"a", "b"}, {"x", "y"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			g := graph{}
			for _, ref := range tt.refs {
				g.add(ref[:1], ref[1:])
			}
			require.Equal(t, tt.want, g.circles())
		})
	}
}

// TestNoCirclesOfFiles: inside a package references between files run one way.
func TestNoCirclesOfFiles(t *testing.T) {
	t.Parallel()
	graphs, err := fileGraphs(root, "./sessionstore/...", "./slice/...", "./eventslog/...", "./internal/...")
	require.NoError(t, err)
	require.NotEmpty(t, graphs["internal/test/layers"]["circles.go"], "references are seen")
	for folder, g := range graphs {
		assert.Empty(t, g.circles(), "%s: these files refer to each other in a circle", folder)
	}
}
