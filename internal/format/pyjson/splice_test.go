package pyjson_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
)

func TestSplice(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ obj, member, value, want string }{
		"replace":           {`{"a" :1,"b":NaN}`, "a", `[2]`, `{"a" :[2],"b":NaN}`},
		"replace last":      {`{"a":1, "b":2, "\u0061": 3 }`, "a", `4`, `{"a":1, "b":2, "\u0061": 4 }`},
		"append":            {`{"a": 1, "b": 2}`, "c", `3`, `{"a": 1, "b": 2, "c": 3}`},
		"append compact":    {`{"a":1,"b":2}`, "c", `3`, `{"a":1,"b":2,"c":3}`},
		"append to one":     {`{"a": 1}`, "c", `3`, `{"a": 1, "c": 3}`},
		"compact one":       {`{"a":1}`, "c", `3`, `{"a":1,"c":3}`},
		"append to none":    {`{}`, "c", `3`, `{"c": 3}`},
		"append indented":   {"{\n  \"a\": 1,\n  \"b\": 2\n}", "c", `3`, "{\n  \"a\": 1,\n  \"b\": 2,\n  \"c\": 3\n}"},
		"one indented":      {"{\n  \"a\": 1\n}", "c", `3`, "{\n  \"a\": 1,\n  \"c\": 3\n}"},
		"around":            {" {\"a\": 1} \n", "c", `3`, " {\"a\": 1, \"c\": 3} \n"},
		"name with escapes": {`{}`, "a\"\n", `3`, `{"a\"\n": 3}`},
		"not an object":     {`[1]`, "a", `3`, `[1]`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			obj := []byte(c.obj)
			got := pyjson.Splice(obj, c.member, []byte(c.value))
			require.Equal(t, c.want, string(got))
			clear(got)
			require.Equal(t, c.obj, string(obj), "the object was changed")
		})
	}
}

func TestRemove(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ obj, want string }{
		"first":         {`{"x": 1, "b": 2}`, `{"b": 2}`},
		"middle":        {`{"a":1 , "x":2 ,"b":3}`, `{"a":1 ,"b":3}`},
		"last":          {`{"a": 1, "x": 2 }`, `{"a": 1 }`},
		"every":         {`{"x":1,"a":2,"\u0078":3,"b":4,"x":5}`, `{"a":2,"b":4}`},
		"only":          {"{\n  \"x\": 1\n}\n", "{}\n"},
		"absent":        {`{"a": {"x": 1}}`, `{"a": {"x": 1}}`},
		"empty":         {` { } `, ` { } `},
		"not an object": {`["x"]`, `["x"]`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			obj := []byte(c.obj)
			got := pyjson.Remove(obj, "x")
			require.Equal(t, c.want, string(got))
			clear(got)
			require.Equal(t, c.obj, string(obj), "the object was changed")
		})
	}
}
