package eventslog

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// TestIsDumped requires that an object that is taken for one of json.dumps
// stays as it is, and that what logs are made of is taken for one.
func TestIsDumped(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		`{}`: true, `{"a": []}`: true, `{"a": {}, "b": [{}, [], {"a": 1}], "c": {"a": 1}}`: true, `{"a": {"b": 1}, "b": 2}`: true,
		`{"a": "x\"\\\n\r\t\b\f/é😀` + "\u2028\x7f" + `", "é\n": null}`:                    true,
		`{"a": [0, -1, 12345678901234567890, 0.25, -0.0, 1.0, 0.0012, 99999999999999.5]}`: true,
		`{"a": [true, false, null]}`: true,
		`{ }`:                        false, `{"a":1}`: false, `{"a" : 1}`: false, `{"a":  1}`: false, `{"a": 1,"b": 2}`: false, `{"a": 1 }`: false,
		`{"a": 1,  "b": 2}`: false, `{"a": [ ]}`: false, `{"a": [1,2]}`: false, `{"a": [1 , 2]}`: false, `{"a":` + "\t" + `1}`: false,
		`{"a": "\/"}`: false, `{"a": "\u00e9"}`: false, `{"a": "\u000a"}`: false, `{"\u0061": 1}`: false, `{"a": "\ud800"}`: false,
		`{"a": -0}`: false, `{"a": 1e5}`: false, `{"a": 1.50}`: false, `{"a": 1.0e5}`: false, `{"a": 0.00001}`: false, `{"a": 0.1234567890123456789}`: false,
		`{"a": 1, "a": 2}`: false, `{"a": {"b": 1, "c": {}, "b": 2}}`: false, `{"a": {"a": 1}, "a": 2}`: false,
	} {
		require.Equal(t, want, isDumped([]byte(text)), text)
		if want {
			requireDumped(t, text)
		}
	}
	deep := `{"a": ` + strings.Repeat("[", dumpedDepth) + strings.Repeat("]", dumpedDepth) + `}`
	require.False(t, isDumped([]byte(deep)))
	var many strings.Builder
	for i := range dumpedNames + 1 {
		many.WriteString(`, "` + strings.Repeat("x", i) + `": 1`)
	}
	require.False(t, isDumped([]byte(`{`+many.String()[2:]+`}`)))
}

func requireDumped(t *testing.T, text string) {
	t.Helper()
	dump, err := pyjson.Append(nil, []byte(text), pyjson.Style{})
	require.NoError(t, err)
	require.Equal(t, string(dump), text)
}

// TestIsDumpedAnyObject tries objects of pieces that are nearly right.
func TestIsDumpedAnyObject(t *testing.T) {
	t.Parallel()
	r := testenv.Rand(t)
	found := 0
	for range 30_000 {
		text := "{" + anyMembers(r, 3) + "}"
		if isDumped([]byte(text)) {
			found++
			requireDumped(t, text)
		}
	}
	require.Greater(t, found, 1000)
}

func anyMembers(r *rand.Rand, depth int) string {
	names := []string{"a", "b", "ts", "data", "session_id", "a long name of a member", "a long name of a membeR", `q\"`, "\\u0061"}
	var all []string
	for range r.IntN(4) {
		all = append(all, `"`+names[r.IntN(len(names)-r.IntN(2))]+`"`+anyColon(r)+anyValue(r, depth))
	}
	return strings.Join(all, anyComma(r))
}

func anyColon(r *rand.Rand) string {
	return []string{": ", ": ", ": ", ": ", ": ", ": ", ": ", ":"}[r.IntN(8)]
}

func anyComma(r *rand.Rand) string {
	return []string{", ", ", ", ", ", ", ", ", ", ", ", ", ", ","}[r.IntN(8)]
}

func anyValue(r *rand.Rand, depth int) string {
	scalars := []string{
		"0", "-1", "10", "1.5", "0.1", "123456789.125", "1234567890.12345", "12345678901234.5", "0.001", "0.0001", "0.00012", "-0.5", "100.0",
		"true", "false", "null", `""`, `"text"`, `"\n\t"`, `"é"`, `"a \"quoted\" text that is longer than a block of thirty-two bytes\\"`,
		"-0", "1e3", "1.10", "1E-7", "NaN", "-Infinity", "0.00001", `"\/"`, `"\u001f"`, "1.0e0", "00.5"[1:],
	}
	if depth > 0 {
		switch r.IntN(6) {
		case 0:
			return "{" + anyMembers(r, depth-1) + "}"
		case 1:
			return "[" + anyValue(r, depth-1) + anyComma(r) + anyValue(r, depth-1) + "]"
		}
	}
	return scalars[r.IntN(len(scalars)-r.IntN(12))]
}
