package jsondoc_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/cosmostest/jsondoc"
)

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	tests := map[string]string{ // what is written to what is stored
		` { "b" : 1 , "a" : [ ] } `:       `{"b":1,"a":[]}`,
		`{"a":{"b":{}},"c":[1,[2,[]]]}`:   `{"a":{"b":{}},"c":[1,[2,[]]]}`,
		`[null,true,false]`:               `[null,true,false]`,
		`[1.0,1e2,-0,0.1,1e-7,1e21]`:      `[1,100,0,0.1,1e-07,1e+21]`,
		`9007199254740993`:                `9007199254740992`,
		`"\u0041\/\b\f\n\r\t\"\\"`:        `"A/\u0008\u000c\n\u000d\u0009\"\\"`,
		`"\ud83d\ude42 <&> ` + "\u2028\"": `"🙂 <&> ` + "\u2028\"",
		"\ufeff1":                         `1`,
		`""`:                              `""`,
	}
	for in, out := range tests {
		v, err := jsondoc.Parse([]byte(in))
		require.NoError(t, err, in)
		require.Equal(t, out, string(jsondoc.Append(nil, v)))
		require.JSONEq(t, strings.TrimPrefix(in, "\ufeff"), out)
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	for _, in := range []string{
		``, ` `, `{`, `}`, `{"a"}`, `{"a":}`, `{"a":1,}`, `{,"a":1}`, `{"a":1 "b":2}`, `[1,]`, `[,1]`, `[1 2]`, `[1`, `{"a":1`,
		`nul`, `nulll`, `truth`, `01`, `-`, `1.`, `.5`, `1e`, `1e+`, `+1`, `1e999`, `"`, `"\`, `"\x"`, `"\u12"`, `"\u12g4"`, "\"\n\"",
		`"\ud800"`, `"\udc00"`, `"\ud800\u0041"`, `"\ud800x"`, "\"\xff\"", `{"a":1,"a":2}`, `1 2`, `'a'`,
		strings.Repeat("[", 130) + strings.Repeat("]", 130), strings.Repeat("[", 1<<20),
	} {
		_, err := jsondoc.Parse([]byte(in))
		require.Error(t, err, "%.40q", in)
	}
	_, err := jsondoc.ParseObject([]byte(`[]`))
	require.Error(t, err)
}

func TestObject(t *testing.T) {
	t.Parallel()
	o, err := jsondoc.ParseObject([]byte(`{"a":1,"b":{"c":"x"}}`))
	require.NoError(t, err)
	require.Equal(t, `{"a":2,"b":{"c":"x"},"d":null}`, string(jsondoc.Append(nil, o.With("a", 2.0).With("d", nil))))
	require.Equal(t, `{"a":1}`, string(jsondoc.Append(nil, o.Without("b", "z"))))
	require.Equal(t, `{"a":1,"b":{"c":"x"}}`, string(jsondoc.Append(nil, o)), "objects do not change")
	require.Equal(t, "x", jsondoc.At(o, "b", "c"))
	require.Equal(t, jsondoc.Undefined{}, jsondoc.At(o, "a", "c"))
	require.Equal(t, jsondoc.Undefined{}, o.Get("z"))
	require.Empty(t, o.String("a"))
	o.Members()[0].Name = "z"
	require.Equal(t, 1.0, o.Get("a"))
}

func TestCompare(t *testing.T) {
	t.Parallel()
	object := func(s string) jsondoc.Value {
		o, err := jsondoc.ParseObject([]byte(s))
		require.NoError(t, err)
		return o
	}
	ordered := []jsondoc.Value{
		jsondoc.Undefined{}, nil, false, true, -1.0, 2.0, 10.0, "", "B", "a", "aa", []jsondoc.Value{1.0}, []jsondoc.Value{2.0}, object(`{"a":1,"b":2}`), object(`{}`),
	}
	for i, a := range ordered {
		for j, b := range ordered {
			require.Equal(t, i < j, jsondoc.Compare(a, b) < 0, "%v %v", a, b)
			require.Equal(t, i == j, jsondoc.Equal(a, b), "%v %v", a, b)
		}
	}
	require.True(t, jsondoc.Equal(object(`{"b":2,"a":1}`), ordered[len(ordered)-2]), "the order of members is of no account")
	require.True(t, jsondoc.SameType(true, false))
	require.False(t, jsondoc.SameType(nil, false))
}

// FuzzParse compares with encoding/json: what is accepted here is accepted
// there and means the same, and what is written is read as itself.
func FuzzParse(f *testing.F) {
	for _, s := range []string{`{"a":[1,"x",null]}`, `"\ud83d\ude42"`, `1e5`, `[[[`, `{"a":1,"a":1}`, "\"\xff\"", `-0.0`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := jsondoc.Parse(data)
		if err != nil {
			return
		}
		require.True(t, utf8.Valid(data))
		text := jsondoc.Append(nil, v)
		again, err := jsondoc.Parse(text)
		require.NoError(t, err)
		require.True(t, jsondoc.Equal(v, again))
		var want, got any
		require.NoError(t, json.Unmarshal([]byte(strings.TrimPrefix(string(data), "\ufeff")), &want))
		require.NoError(t, json.Unmarshal(text, &got))
		require.Equal(t, want, got)
	})
}
