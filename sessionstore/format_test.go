package sessionstore_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

func TestFormatJSON(t *testing.T) {
	t.Parallel()
	type shown struct {
		Name string `json:"name"`
		N    []int  `json:"n"`
	}
	tests := []struct {
		name   string
		v      any
		indent int
		want   string
	}{
		{"a line", shown{"<é🦊\u007f>", []int{1, 2}}, 0, `{"name": "<\u00e9\ud83e\udd8a\u007f>", "n": [1, 2]}`},
		{"a level for a line", shown{"a", []int{1}}, 2, "{\n  \"name\": \"a\",\n  \"n\": [\n    1\n  ]\n}"},
		{"a negative indent", shown{"a", nil}, -3, `{"name": "a", "n": null}`},
		{"empty containers", json.RawMessage(`{"a": [ ], "b": { }}`), 2, "{\n  \"a\": [],\n  \"b\": {}\n}"},
		{"Python's numbers", json.RawMessage(`[NaN, -Infinity, 1e5, 1.50, 123456789012345678901234567890]`), 0, `[NaN, -Infinity, 100000.0, 1.5, 123456789012345678901234567890]`},
		{"order and names", json.RawMessage(`{"z": 1, "a": 2, "z": 3}`), 0, `{"z": 3, "a": 2}`},
		{"a lone surrogate", json.RawMessage(`"\uD83E"`), 0, `"\ud83e"`},
		{"nothing", nil, 2, "null"},
		{"no raw message", json.RawMessage(nil), 2, "null"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := sessionstore.FormatJSON(tt.v, tt.indent)
			require.NoError(t, err)
			require.Equal(t, tt.want, string(got))
		})
	}
}

func TestFormatJSONFails(t *testing.T) {
	t.Parallel()
	for want, v := range map[string]any{
		"json: unsupported value: NaN":             math.NaN(),
		"invalid JSON at byte 1: key expected":     json.RawMessage(`{secret`),
		"invalid JSON at byte 2: text after":       json.RawMessage(`1 2`),
		"invalid JSON at byte 0: unexpected end":   json.RawMessage{},
		"invalid JSON at byte 1: not UTF-8":        json.RawMessage("\"\xff\""),
		"refused JSON value [0]: integer too long": json.RawMessage("[" + strings.Repeat("7", 4301) + "]"),
	} {
		got, err := sessionstore.FormatJSON(v, 2)
		require.ErrorContains(t, err, "format JSON: ")
		require.ErrorContains(t, err, want)
		require.NotContains(t, err.Error(), "secret")
		require.Nil(t, got)
	}
}

func ExampleFormatJSON() {
	md, err := sessionstore.ParseMetadata([]byte(`{"name": "café", "cost": 0.10, "turn_count": 3}`))
	if err != nil {
		panic(err)
	}
	text, err := sessionstore.FormatJSON(json.RawMessage(md.AppendTo(nil)), 2)
	if err != nil {
		panic(err)
	}
	fmt.Println(string(text))
	// Output:
	// {
	//   "name": "caf\u00e9",
	//   "cost": 0.1,
	//   "turn_count": 3
	// }
}
