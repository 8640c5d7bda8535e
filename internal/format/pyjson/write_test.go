package pyjson_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
)

func TestAppend(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text  string
		style pyjson.Style
		want  string
	}{
		"separators":       {`{"a":[1,2],"b":{}}`, pyjson.Style{}, `{"a": [1, 2], "b": {}}`},
		"compact":          {` { "a" : [ 1 , 2 ] } `, pyjson.Style{Compact: true}, `{"a":[1,2]}`},
		"indent":           {`{"a":[1,{}],"b":[]}`, pyjson.Style{Indent: 2}, "{\n  \"a\": [\n    1,\n    {}\n  ],\n  \"b\": []\n}"},
		"duplicates":       {`{"a":1,"b":2,"\u0061":3}`, pyjson.Style{}, `{"a": 3, "b": 2}`},
		"numbers":          {`[-0,-0.0,1E2,1.50,12345678901234567890]`, pyjson.Style{}, `[0, -0.0, 100.0, 1.5, 12345678901234567890]`},
		"constants":        {`[NaN,Infinity,-Infinity,1e999,-1e999]`, pyjson.Style{}, `[NaN, Infinity, -Infinity, Infinity, -Infinity]`},
		"strings":          {`"\u0041\/\u001F\u00e9\n\"\u2028"`, pyjson.Style{}, "\"A/\\u001fé\\n\\\"\u2028\""},
		"ASCII":            {"\"\x7fé\u2028\\ud83d\\ude00😀\"", pyjson.Style{ASCII: true}, `"\u007f\u00e9\u2028\ud83d\ude00\ud83d\ude00"`},
		"portable":         {"\"é\u0085\u2028\u2029\\u2028\"", pyjson.Style{Portable: true}, `"é\u0085\u2028\u2029\u2028"`},
		"lone kept":        {`"a\uD83D\u0041"`, pyjson.Style{}, `"a\ud83dA"`},
		"lone replaced":    {`{"\ud83d":"a\ud83d\udc00\udc00"}`, pyjson.Style{Replace: true}, "{\"\ufffd\": \"a\U0001f400\ufffd\"}"},
		"lone as ASCII":    {`"\ud83d"`, pyjson.Style{Replace: true, ASCII: true}, `"\ufffd"`},
		"surrogate bytes":  {"\"\xed\xa0\xbd\"", pyjson.Style{}, `"\ud83d"`},
		"byte order mark":  {"\ufeff[1]", pyjson.Style{}, `[1]`},
		"sorted":           {`{"b":1,"a":{"d":1,"c":2},"\ue000":1,"\ud800":2,"😀":3}`, pyjson.Style{SortKeys: true}, "{\"a\": {\"c\": 2, \"d\": 1}, \"b\": 1, \"\\ud800\": 2, \"\ue000\": 1, \"😀\": 3}"},
		"redacted":         {`{"Token":{"a":NaN},"x":[{"pass\u0077ord":null}],"tokens":1}`, pyjson.Style{Redact: true, Finite: true}, `{"Token": "[REDACTED]", "x": [{"password": "[REDACTED]"}], "tokens": 1}`},
		"kelvin":           {`{"api_` + "\u212a" + `ey":1,"credent` + "\u0130" + `al":2}`, pyjson.Style{Redact: true}, `{"api_` + "\u212a" + `ey": "[REDACTED]", "credent` + "\u0130" + `al": 2}`},
		"overflow kept":    {`[1e400,-1E400,Infinity,1.50]`, pyjson.Style{KeepBig: true}, `[1e400, -1E400, Infinity, 1.5]`},
		"overridden value": {`{"a":NaN,"a":1}`, pyjson.Style{Finite: true}, `{"a": 1}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := pyjson.Append([]byte("x"), []byte(c.text), c.style)
			require.NoError(t, err)
			require.Equal(t, "x"+c.want, string(got))
		})
	}
}

func TestAppendRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text   string
		style  pyjson.Style
		reason pyjson.Reason
		want   string
	}{
		"syntax":      {`{"a":}`, pyjson.Style{}, pyjson.Syntax, "invalid JSON at byte 5: value expected"},
		"UTF-8":       {"\"\xff\"", pyjson.Style{}, pyjson.BadUTF8, "invalid JSON at byte 1: not UTF-8"},
		"NaN":         {`{"content":[1,{"ratio":NaN}]}`, pyjson.Style{Finite: true}, pyjson.NotFinite, "refused JSON value content[1].ratio: not a finite number"},
		"overflow":    {`[0,1e400]`, pyjson.Style{Finite: true, SortKeys: true}, pyjson.NotFinite, "refused JSON value [1]: not a finite number"},
		"depth":       {`{"a":[1,[2]]}`, pyjson.Style{MaxDepth: 2}, pyjson.TooDeep, "refused JSON value member 1[1]: nested too deep"},
		"long digits": {`{"n":` + nines(4301) + `}`, pyjson.Style{}, pyjson.LongInteger, "refused JSON value member 1: integer too long"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := pyjson.Append([]byte("x"), []byte(c.text), c.style)
			requireReason(t, c.reason, err)
			require.EqualError(t, err, c.want)
			require.Equal(t, "x", string(got))
		})
	}
}

// TestAppendManyMembers goes through the index of names that large objects get, with a name repeated on either side.
func TestAppendManyMembers(t *testing.T) {
	t.Parallel()
	for _, n := range []int{2, 23, 24, 25, 26, 60, 500} {
		var in, out []string
		for i := range n {
			in = append(in, fmt.Sprintf(`"k%d": %d`, i, i))
			out = append(out, fmt.Sprintf(`"k%d": %d`, i, i))
		}
		in = append(in, `"\u006b0": -1`, `"k1": -2`, `"k1": -3`)
		out[0], out[1] = `"k0": -1`, `"k1": -3`
		got, err := pyjson.Append(nil, []byte("{"+strings.Join(in, ",")+"}"), pyjson.Style{})
		require.NoError(t, err)
		require.Equal(t, "{"+strings.Join(out, ", ")+"}", string(got))
	}
}

func TestAppendQuoted(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text  string
		style pyjson.Style
		want  string
	}{
		"plain":       {"a/<é>", pyjson.Style{}, `"a/<é>"`},
		"controls":    {"\"\\\b\f\n\r\t\x00\x1f\x7f", pyjson.Style{}, "\"\\\"\\\\\\b\\f\\n\\r\\t\\u0000\\u001f\x7f\""},
		"ASCII":       {"\x7fé😀", pyjson.Style{ASCII: true}, `"\u007f\u00e9\ud83d\ude00"`},
		"not UTF-8":   {"a\xff\xe2\x82b", pyjson.Style{}, "\"a\ufffd\ufffd\ufffdb\""},
		"surrogate":   {"\xed\xa0\x80\xed", pyjson.Style{}, "\"\\ud800\ufffd\""},
		"replaced":    {"\xed\xa0\x80", pyjson.Style{Replace: true}, "\"\ufffd\""},
		"replacement": {"\ufffd", pyjson.Style{}, "\"\ufffd\""},
		"portable":    {"\u2028\u0085", pyjson.Style{Portable: true}, `"\u2028\u0085"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, string(pyjson.AppendQuoted(nil, c.text, c.style)))
		})
	}
}

func TestAppendFloat(t *testing.T) {
	t.Parallel()
	for f, want := range map[float64]string{
		0: "0.0", 1: "1.0", -2.5: "-2.5", 0.1: "0.1", 1e15: "1000000000000000.0", 1e16: "1e+16", 9999999999999998: "9999999999999998.0",
		123456789012345680: "1.2345678901234568e+17", 1e22: "1e+22", 1e23: "1e+23", 0.0001: "0.0001", 0.00001: "1e-05", 1.5e-7: "1.5e-07",
		5e-324: "5e-324", math.MaxFloat64: "1.7976931348623157e+308", 1e100: "1e+100", math.Inf(1): "Infinity", math.Inf(-1): "-Infinity",
	} {
		require.Equal(t, want, string(pyjson.AppendFloat(nil, f)))
	}
	require.Equal(t, "-0.0", string(pyjson.AppendFloat(nil, math.Copysign(0, -1))))
	require.Equal(t, "NaN", string(pyjson.AppendFloat(nil, math.NaN())))
}

// TestLongFloats has floats whose exponent and length cancel out.
func TestLongFloats(t *testing.T) {
	t.Parallel()
	zeros := strings.Repeat("0", 12000)
	for text, want := range map[string]string{
		"0." + zeros + "123e12001":        "1.23",
		"-12" + zeros + "e-12000":         "-12.0",
		"1" + zeros + "e-12300":           "1e-300",
		"1" + zeros + ".0":                "Infinity",
		"0." + zeros + "1":                "0.0",
		"-0." + zeros + "e99999":          "-0.0",
		"1" + zeros + "e-" + nines(30):    "0.0",
		"0." + zeros + "1e" + nines(30):   "Infinity",
		"2.5" + zeros + "e" + zeros + "3": "2500.0",
	} {
		got, err := pyjson.Append(nil, []byte(text), pyjson.Style{})
		require.NoError(t, err)
		require.Equal(t, want, string(got))
	}
}

func TestAppendMessageThinking(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"thinking_block":{"text":null},"a":1}`:                                           `{"thinking_text": null, "a": 1}`,
		`{"thinking_block":{"text":"t"},"z":1,"thinking_text":"u"}`:                        `{"thinking_text": "u", "z": 1}`,
		`{"thinking_text":[null],"z":1,"thinking_block":{"text":[null]}}`:                  `{"thinking_text": [null], "z": 1}`,
		`{"thinking_block":{"text":[null]},"z":1,"thinking_text":[null]}`:                  `{"thinking_text": [], "z": 1}`,
		`{"thinking_text":null,"z":1,"thinking_block":{"text":1}}`:                         `{"z": 1, "thinking_text": 1}`,
		`{"thinking_text":1,"thinking_block":{"text":null}}`:                               `{"thinking_text": null}`,
		`{"thinking_text":1,"thinking_block":{"thinking":2}}`:                              `{"thinking_text": 1}`,
		`{"thinking_block":{"text":1,"te\u0078t":2},"thinking_block":{"text":3,"text":4}}`: `{"thinking_text": 4}`,
		`{"thinking_block":{"text":1},"thinking_block":5}`:                                 `{}`,
		`{"thinking\u005fblock":{"text":1},"content_blocks":[1],"content_block\u0073":2}`:  `{"thinking_text": 1}`,
		`{"a":{"thinking_block":{"text":1},"content_blocks":[null,2]}}`:                    `{"a": {"thinking_block": {"text": 1}, "content_blocks": [2]}}`,
	} {
		got, err := pyjson.AppendMessage(nil, []byte(text), pyjson.Style{Indent: 2})
		require.NoError(t, err)
		require.Equal(t, want, string(got), text)
	}
}

func TestAppendMessageRefusesOnlyWhatStays(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat(`{"a":`, 60) + "NaN" + strings.Repeat("}", 60)
	finite := pyjson.Style{Finite: true, MaxDepth: 52}
	_, err := pyjson.AppendMessage(nil, []byte(`{"content":`+deep+`,"content_blocks":[NaN],"x":NaN,"x":1}`), finite)
	require.NoError(t, err)
	_, err = pyjson.AppendMessage(nil, []byte(`{"thinking_block":{"text":`+deep+`}}`), finite)
	requireReason(t, pyjson.TooDeep, err)
	_, err = pyjson.AppendMessage(nil, []byte(`{"thinking_block":{"text":[NaN]}}`), finite)
	require.EqualError(t, err, "refused JSON value thinking_block.text[0]: not a finite number")
	_, err = pyjson.AppendMessage(nil, []byte(`[{"role":"user"}]`), finite)
	requireReason(t, pyjson.NotObject, err)
}

// TestAppendMessageAllocates nothing but the result.
func TestAppendMessageAllocates(t *testing.T) {
	msg := []byte(`{"role":"assistant","content":null,"n":[1,2.5,-0],"u":"\u00e9\n","x":{"a":1,"a":2}}`)
	dst := make([]byte, 0, 1024)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		if _, err := pyjson.AppendMessage(dst, msg, pyjson.Style{Portable: true, Finite: true, Redact: true}); err != nil {
			t.Error(err)
		}
	}))
}

func TestErrorsHoldNoContent(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{"hunter 2":NaN}`, `{"a":["hunter2",hunter]}`, `{"hunter2!":[[NaN]]}`, `{"hunter2":NaN}`, `{"content":[{"sk-hunter2":{"text":1e999}}]}`,
		`{"ghp_hunter2hunter2hunter2hunter2hunter2":[NaN]}`, `{"role":"hunter2","anna_hunter":{"data":Infinity}}`,
	} {
		_, err := pyjson.Append(nil, []byte(text), pyjson.Style{Finite: true})
		var e *pyjson.Error
		require.True(t, errors.As(err, &e))
		require.NotContains(t, err.Error(), "hunter")
	}
}
