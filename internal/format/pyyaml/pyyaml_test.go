package pyyaml

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// requireYAML fails unless the JSON value gives exactly want.
func requireYAML(t *testing.T, want, value string) {
	t.Helper()
	got, err := Append(nil, []byte(value))
	require.NoError(t, err)
	require.Equal(t, want, string(got), "of %s", value)
}

func TestBlocks(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, value, want string }{
		{"mapping", `{"b":1,"a":null}`, "b: 1\na: null\n"},
		{"sequence", `[1,"a",true]`, "- 1\n- a\n- true\n"},
		{"sequence in mapping", `{"a":[1,2],"b":3}`, "a:\n- 1\n- 2\nb: 3\n"},
		{"mapping in mapping", `{"a":{"b":{"c":1},"d":2}}`, "a:\n  b:\n    c: 1\n  d: 2\n"},
		{"mapping in sequence", `[{"a":1,"b":2},{"c":3}]`, "- a: 1\n  b: 2\n- c: 3\n"},
		{"sequence in sequence", `[[[1,2],3],[4]]`, "- - - 1\n    - 2\n  - 3\n- - 4\n"},
		{"sequence below a nested mapping", `{"a":{"b":[1]}}`, "a:\n  b:\n  - 1\n"},
		{"mapping, sequence, mapping", `[{"a":[{"b":[2]}]}]`, "- a:\n  - b:\n    - 2\n"},
		{"empty ones inside", `{"a":[],"b":{},"c":[[],{}]}`, "a: []\nb: {}\nc:\n- []\n- {}\n"},
		{"empty with white space", " { \"a\" : [ \n ] } ", "a: []\n"},
		{"root empty mapping", `{}`, "{}\n"},
		{"root empty sequence", `[]`, "[]\n"},
		{"last duplicate at first place", `{"a":1,"b":2,"a":3}`, "a: 3\nb: 2\n"},
		{"duplicate by escape", `{"a":1,"\u0061":[2]}`, "a:\n- 2\n"},
		{"distinct surrogates", `{"\ud800":1,"\udc00":2}`, "\"\\uD800\": 1\n\"\\uDC00\": 2\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			requireYAML(t, tt.want, tt.value)
		})
	}
}

func TestDocumentEnd(t *testing.T) {
	t.Parallel()
	requireYAML(t, "null\n...\n", ` null `)
	requireYAML(t, "false\n...\n", `false`)
	requireYAML(t, "12\n...\n", `12`)
	requireYAML(t, "abc\n...\n", `"abc"`)
	requireYAML(t, "'12'\n", `"12"`)
	requireYAML(t, "\"\\t\"\n", `"\t"`)
	requireYAML(t, "''\n", `""`)
	requireYAML(t, "'a\n\n  b'\n", `"a\nb"`)
}

func TestNumbers(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("1234567890", 40)
	tests := []struct{ value, want string }{
		{`0`, "0"},
		{`-0`, "0"},
		{`-17`, "-17"},
		{long, long},
		{`1.0`, "1.0"},
		{`-0.0`, "-0.0"},
		{`1E2`, "100.0"},
		{`1e15`, "1000000000000000.0"},
		{`1e16`, "1.0e+16"},
		{`1.5e16`, "1.5e+16"},
		{`0.0001`, "0.0001"},
		{`0.00001`, "1.0e-05"},
		{`-1e-7`, "-1.0e-07"},
		{`123456789.123456789e300`, "1.234567891234568e+308"},
		{`5e-324`, "5.0e-324"},
		{`1e999`, ".inf"},
		{`-1e999`, "-.inf"},
		{`Infinity`, ".inf"},
		{`-Infinity`, "-.inf"},
		{`NaN`, ".nan"},
		{`true`, "true"},
		{`false`, "false"},
		{`null`, "null"},
	}
	for _, tt := range tests {
		requireYAML(t, "k: "+tt.want+"\n", `{"k":`+tt.value+`}`)
		requireYAML(t, "- "+tt.want+"\n", `[`+tt.value+`]`)
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	sized := func(unit string, n int) string { return strings.Repeat(unit, n) }
	tests := []struct{ name, value, want string }{
		{"empty", `{"":1}`, "? ''\n: 1\n"},
		{"looks like a number", `{"1":1}`, "'1': 1\n"},
		{"looks like a bool", `{"on":1}`, "'on': 1\n"},
		{"with a colon", `{"a: b":1}`, "'a: b': 1\n"},
		{"longest simple", `{"` + sized("k", 122) + `":1}`, sized("k", 122) + ": 1\n"},
		{"too long", `{"` + sized("k", 123) + `":1}`, "? " + sized("k", 123) + "\n: 1\n"},
		{"longest of code points", `{"` + sized("é", 122) + `":1}`, `"` + sized(`\xE9`, 122) + "\": 1\n"},
		{"too many surrogates", `{"` + sized(`\ud800`, 122) + `":1}`, `"` + sized(`\uD800`, 122) + "\": 1\n"},
		{"simple keys stay on one line", `{"` + sized("k ", 60) + `k":1}`, sized("k ", 60) + "k: 1\n"},
		{
			"others are folded", `{"` + sized("k ", 62) + `k":1}`,
			"? " + sized("k ", 39) + "k\n  " + sized("k ", 22) + "k\n: 1\n",
		},
		{"line break", `{"a\nb":1}`, "? 'a\n\n  b'\n: 1\n"},
		{"escaped line break", `{"a\u0085":1,"\u2028":2,"\u2029":3}`, "? \"a\\N\"\n: 1\n? \"\\L\"\n: 2\n? \"\\P\"\n: 3\n"},
		{"carriage return is none", `{"a\rb":1}`, "\"a\\rb\": 1\n"},
		{"sequence below", `{"":[1,2],"a":3}`, "? ''\n: - 1\n  - 2\na: 3\n"},
		{"mapping below", `{"":{"a":1,"b":[2]}}`, "? ''\n: a: 1\n  b:\n  - 2\n"},
		{"empty one below", `{"":[]}`, "? ''\n: []\n"},
		{"first in a sequence", `[{"":{"":1}}]`, "- ? ''\n  : ? ''\n    : 1\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			requireYAML(t, tt.want, tt.value)
		})
	}
}

func TestAppendAfterText(t *testing.T) {
	t.Parallel()
	value := []byte(`["` + strings.Repeat("word ", 40) + `é","` + strings.Repeat("word ", 40) + `x"]`)
	alone, err := Append(nil, value)
	require.NoError(t, err)
	after, err := Append([]byte(strings.Repeat("before", 30)), value)
	require.NoError(t, err)
	require.Equal(t, strings.Repeat("before", 30)+string(alone), string(after))
}

func TestDepth(t *testing.T) {
	t.Parallel()
	for _, pair := range [][2]string{{`[`, `]`}, {`{"a":`, `}`}} {
		nested := func(n int) []byte {
			return fmt.Appendf(nil, "%s1%s", strings.Repeat(pair[0], n), strings.Repeat(pair[1], n))
		}
		got, err := Append(nil, nested(330))
		require.NoError(t, err)
		require.Equal(t, 1, strings.Count(string(got), "1"))
		got, err = Append([]byte("kept"), nested(331))
		require.EqualError(t, err, "write yaml: nested deeper than 330 levels")
		require.Equal(t, "kept", string(got))
	}
	wide := []byte(`[` + strings.Repeat(`[[1]],`, 1000) + `2]`)
	_, err := Append(nil, wide)
	require.NoError(t, err, "depth is not a count")
}
