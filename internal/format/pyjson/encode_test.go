package pyjson_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
)

func TestEncode(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		value any
		want  string
	}{
		"raw":       {json.RawMessage(` {"b": NaN, "a":1e400, "b":"\ud800"} `), ` {"b": NaN, "a":1e400, "b":"\ud800"} `},
		"nil raw":   {json.RawMessage(nil), `null`},
		"bytes":     {[]byte("hi"), `"aGk="`},
		"HTML":      {map[string]any{"a": "<&>"}, `{"a":"<&>"}`},
		"float":     {float64(1), `1`},
		"struct":    {struct{ Role string }{"user"}, `{"Role":"user"}`},
		"nil":       {nil, `null`},
		"raw below": {[]json.RawMessage{json.RawMessage(`{ "a": 1.0 }`)}, `[{"a":1.0}]`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := pyjson.Encode(c.value)
			require.NoError(t, err)
			require.Equal(t, c.want, string(got))
		})
	}
}

func TestEncodeCopiesRaw(t *testing.T) {
	t.Parallel()
	raw := json.RawMessage(`[1]`)
	got, err := pyjson.Encode(raw)
	require.NoError(t, err)
	clear(raw)
	require.Equal(t, `[1]`, string(got))
}

func TestEncodeRefuses(t *testing.T) {
	t.Parallel()
	_, err := pyjson.Encode(json.RawMessage(`{`))
	requireReason(t, pyjson.Syntax, err)
	require.EqualError(t, err, "encode value: invalid JSON at byte 1: key expected")
	_, err = pyjson.Encode(json.RawMessage{})
	requireReason(t, pyjson.Syntax, err)
	_, err = pyjson.Encode(json.Number(strings.Repeat("1", 4301)))
	requireReason(t, pyjson.LongInteger, err)
	_, err = pyjson.Encode(math.NaN())
	var unsupported *json.UnsupportedValueError
	require.ErrorAs(t, err, &unsupported)
}
