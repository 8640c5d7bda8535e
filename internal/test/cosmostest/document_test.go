package cosmostest

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestValues(t *testing.T) {
	t.Parallel()
	tests := map[string]value{ // what is written to what is stored
		` { "b" : 1 , "a" : [ ] } `:       `{"b":1,"a":[]}`,
		`{"a":{"b":{}},"c":[1,[2,[]]]}`:   `{"a":{"b":{}},"c":[1,[2,[]]]}`,
		`[null,true,false]`:               `[null,true,false]`,
		`[1.0,1e2,-0,0.1,1e-7,1e21]`:      `[1,100,0,0.1,1e-07,1e+21]`,
		`9007199254740993`:                `9007199254740992`,
		`"\u0041\/\b\f\n\r\t\"\\\u0001"`:  `"A/\b\f\n\r\t\"\\\u0001"`,
		`"\ud83d\ude42 <&> ` + "\u2028\"": `"🙂 <&> ` + "\u2028\"",
		`""`:                              `""`,
		`"\ufffd"`:                        `"` + "\ufffd\"",
	}
	for in, out := range tests {
		v, err := parseValue([]byte(in))
		require.NoError(t, err, in)
		require.Equal(t, out, v)
		require.JSONEq(t, in, string(out))
	}
}

func TestValuesThatAreRefused(t *testing.T) {
	t.Parallel()
	for _, in := range []string{
		``, ` `, `{`, `}`, `{"a"}`, `{"a":}`, `{"a":1,}`, `{,"a":1}`, `{"a":1 "b":2}`, `[1,]`, `[,1]`, `[1 2]`, `[1`, `{"a":1`,
		`nul`, `nulll`, `truth`, `01`, `-`, `1.`, `.5`, `1e`, `1e+`, `+1`, `1e999`, `"`, `"\`, `"\x"`, `"\u12"`, `"\u12g4"`, "\"\n\"",
		`"\ud800"`, `"\udc00"`, `"\ud800\u0041"`, `"\ud800x"`, "\"\xff\"", `{"a":1,"a":2}`, `[{"a":{"b":1,"\u0062":2}}]`, `{"\ud800":1}`, `1 2`, `'a'`,
		`NaN`, `[Infinity]`, `-Infinity`, strings.Repeat("[", 130) + strings.Repeat("]", 130), strings.Repeat("[", 1<<20),
	} {
		_, err := parseValue([]byte(in))
		require.Error(t, err, "%.40q", in)
	}
	_, err := parseDocument([]byte(`[]`))
	require.Error(t, err)
}

// FuzzDocument compares with encoding/json: what is accepted here is accepted there and means
// the same, and what is written is read as itself.
func FuzzDocument(f *testing.F) {
	for _, s := range []string{`{"a":[1,"x",null]}`, `"\ud83d\ude42"`, `1e5`, `[[[`, `{"a":1,"a":1}`, "\"\xff\"", `-0.0`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := parseValue(data)
		if err != nil {
			return
		}
		require.True(t, utf8.Valid(data))
		again, err := parseValue([]byte(v))
		require.NoError(t, err)
		require.Equal(t, v, again)
		var want, got any
		require.NoError(t, json.Unmarshal(data, &want))
		require.NoError(t, json.Unmarshal([]byte(v), &got))
		require.Equal(t, want, got)
		if d, err := parseDocument(data); err == nil {
			require.Equal(t, string(v), string(d.json()))
		}
	})
}
