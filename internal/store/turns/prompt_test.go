package turns

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
)

// TestIsPrompt judges the rows that the newest reference was asked about: its
// anchors are the prompts.
func TestIsPrompt(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/real_user_newest.json")
	require.NoError(t, err)
	var cases []struct {
		Name    string
		Kind    string
		Message string `json:"message_json"`
		Anchor  bool
	}
	require.NoError(t, json.Unmarshal(data, &cases))
	checked := 0
	for _, c := range cases {
		row := []byte(c.Message)
		role, _ := pyjson.Lookup(row, "role")
		if c.Kind != "message" || string(role) != `"user"` {
			continue
		}
		content, _ := pyjson.Lookup(row, "content")
		metadata, _ := pyjson.Lookup(row, "metadata")
		_, answers := pyjson.Lookup(row, "tool_call_id")
		require.Equal(t, c.Anchor, IsPrompt(content, metadata, answers), c.Name)
		checked++
	}
	require.Greater(t, checked, 25)
}
