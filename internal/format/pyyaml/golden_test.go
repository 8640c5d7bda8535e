package pyyaml

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestGolden compares with the config files that the Python store wrote.
func TestGolden(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../../../testdata/golden/config_md.json")
	require.NoError(t, err)
	var cases []struct {
		Name     string
		Session  string `json:"session_id"`
		Config   string `json:"config_json"`
		Expected struct {
			Text *string
			B64  []byte
		}
	}
	require.NoError(t, json.Unmarshal(data, &cases))
	require.Len(t, cases, 178)
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			want := string(c.Expected.B64)
			if c.Expected.Text != nil {
				want = *c.Expected.Text
			}
			got, err := Append([]byte("---\n"), []byte(c.Config))
			require.NoError(t, err)
			require.Equal(t, want, string(got)+"---\n\nConfig snapshot for session "+c.Session+"\n")
		})
	}
}
