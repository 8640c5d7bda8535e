package pyjson_test

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
)

func TestMembers(t *testing.T) {
	t.Parallel()
	obj := []byte(` { "a" : 1 ,"b\"}":"]\\\"" , "a":{"x":[{}]},"n":-0.5e3}`)
	var got []string
	for m := range pyjson.Members(obj) {
		require.Equal(t, string(m.Key), string(obj[m.KeyAt:m.KeyAt+len(m.Key)]))
		require.Equal(t, string(m.Value), string(obj[m.ValueAt:m.ValueAt+len(m.Value)]))
		got = append(got, string(m.Key)+" "+string(m.Value))
	}
	require.Equal(t, []string{`"a" 1`, `"b\"}" "]\\\""`, `"a" {"x":[{}]}`, `"n" -0.5e3`}, got)
	require.Empty(t, slices.Collect(pyjson.Members([]byte(`[1]`))))
	require.Empty(t, slices.Collect(pyjson.Members([]byte(`{ }`))))
	for m := range pyjson.Members([]byte("\ufeff{\"a\":1,\"b\":2}")) {
		require.Equal(t, `"a"`, string(m.Key))
		break
	}
}

func TestElements(t *testing.T) {
	t.Parallel()
	var got []string
	for e := range pyjson.Elements([]byte(" [ 1,\"a,]\" , [2,[3]],{\"k\":[]} ,null ] ")) {
		got = append(got, string(e))
	}
	require.Equal(t, []string{`1`, `"a,]"`, `[2,[3]]`, `{"k":[]}`, `null`}, got)
	require.Empty(t, slices.Collect(pyjson.Elements([]byte(`{"a":1}`))))
	require.Empty(t, slices.Collect(pyjson.Elements([]byte(`[]`))))
}

func TestLookup(t *testing.T) {
	t.Parallel()
	obj := []byte(`{"role":"user","r\u006fle" : "tool","x":{"role":1},"k\ud800":2,"\ud83d\ude00":3}`)
	value, ok := pyjson.Lookup(obj, "role")
	require.True(t, ok)
	require.Equal(t, `"tool"`, string(value))
	value, ok = pyjson.Lookup(obj, "k\xed\xa0\x80")
	require.True(t, ok)
	require.Equal(t, `2`, string(value))
	value, ok = pyjson.Lookup(obj, "😀")
	require.True(t, ok)
	require.Equal(t, `3`, string(value))
	_, ok = pyjson.Lookup(obj, "rol")
	require.False(t, ok)
	_, ok = pyjson.Lookup([]byte(`"role"`), "role")
	require.False(t, ok)
}

func TestText(t *testing.T) {
	t.Parallel()
	for str, want := range map[string][2]string{
		`""`:                         {"", ""},
		`"plain é"`:                  {"plain é", "plain é"},
		`"\"\\\/\b\f\n\r\t\u0000"`:   {"\"\\/\b\f\n\r\t\x00", "\"\\/\b\f\n\r\t\x00"},
		`"\ud83d\ude00\uD83D\uDE00"`: {"😀😀", "😀😀"},
		`"\ud83d\ud83d\ude00"`:       {"\ufffd😀", "\xed\xa0\xbd😀"},
		`"\ude00\ud83dx"`:            {"\ufffd\ufffdx", "\xed\xb8\x80\xed\xa0\xbdx"},
		"\"\xed\xa0\xbd\\ude00\"":    {"\ufffd\ufffd", "\xed\xa0\xbd\xed\xb8\x80"},
		`"한국"`:                       {"한국", "한국"}, // 한 begins with the byte of surrogates
	} {
		require.Equal(t, want[0], pyjson.Text([]byte(str)), str)
		require.Equal(t, "x"+want[1], string(pyjson.AppendText([]byte("x"), []byte(str))), str)
	}
}

func TestKindOfAndInt(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]pyjson.Kind{
		` {}`: pyjson.Object, "\n[]": pyjson.Array, `"1.5"`: pyjson.String, `-12`: pyjson.Integer, `1.0`: pyjson.Float,
		`1e2`: pyjson.Float, `NaN`: pyjson.Float, `-Infinity`: pyjson.Float, `Infinity`: pyjson.Float, `true`: pyjson.True,
		`false`: pyjson.False, `null`: pyjson.Null, ``: pyjson.Invalid, `x`: pyjson.Invalid, "\ufeff[]": pyjson.Array,
	} {
		require.Equal(t, want, pyjson.KindOf([]byte(text)), text)
	}
	for text, want := range map[string]int64{`0`: 0, `-0`: 0, ` 42 `: 42, `-9223372036854775808`: math.MinInt64} {
		got, ok := pyjson.Int([]byte(text))
		require.True(t, ok, text)
		require.Equal(t, want, got)
	}
	for _, text := range []string{`9223372036854775808`, `1.0`, `1e2`, `"1"`, `true`, ``, `-`} {
		_, ok := pyjson.Int([]byte(text))
		require.False(t, ok, text)
	}
}

func TestLookupAllocatesNothing(t *testing.T) {
	msg := []byte(`{"role": "user", "content": "x", "r\u006fle": "tool"}`)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		pyjson.Lookup(msg, "role")
		_ = pyjson.Check(msg, pyjson.Tolerant)
	}))
}
