package pyjson_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
)

func nested(depth int) string {
	return strings.Repeat("[", depth) + strings.Repeat("]", depth)
}

func TestCheckAccepts(t *testing.T) {
	t.Parallel()
	const tolerant, strict = true, true
	for name, c := range map[string]struct {
		text             string
		tolerant, strict bool
	}{
		"scalar":             {`1`, tolerant, strict},
		"white space":        {" \t\r\n{ \"a\" : [ 1 , 2 ] } \n", tolerant, strict},
		"empty containers":   {`{"a":{},"b":[ ]}`, tolerant, strict},
		"duplicate keys":     {`{"a":1,"a":2}`, tolerant, strict},
		"numbers":            {`[0,-0,1e5,1E+5,-1.25e-07,0.0,10]`, tolerant, strict},
		"overflow":           {`1e400`, tolerant, strict},
		"escapes":            {`"\"\\\/\b\f\n\r\t\u00e9\u00E9"`, tolerant, strict},
		"lone surrogate":     {`"\ud83d"`, tolerant, strict},
		"DEL":                {"\"\x7f\"", tolerant, strict},
		"wide":               {`"é€😀` + "\u2028\x7f\ufffd" + `"`, tolerant, strict},
		"longest integer":    {"-" + strings.Repeat("9", 4300), tolerant, strict},
		"long float":         {strings.Repeat("9", 4301) + ".0", tolerant, strict},
		"deepest":            {nested(1000), tolerant, strict},
		"NaN":                {`[NaN]`, tolerant, !strict},
		"infinities":         {`[Infinity,-Infinity]`, tolerant, !strict},
		"surrogate bytes":    {"\"\xed\xa0\x80\xed\xbf\xbf\"", !tolerant, strict},
		"byte order mark":    {"\ufeff{}", !tolerant, strict},
		"space before mark":  {" \ufeff{}", !tolerant, !strict},
		"two marks":          {"\ufeff\ufeff{}", !tolerant, !strict},
		"surrogate outside":  {"[\xed\xa0\x80]", !tolerant, !strict},
		"too long after all": {nested(1000) + "x", !tolerant, !strict},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.tolerant, pyjson.Check([]byte(c.text), pyjson.Tolerant) == nil, "tolerant")
			require.Equal(t, c.strict, pyjson.Check([]byte(c.text), pyjson.Strict) == nil, "strict")
		})
	}
}

func TestCheckRefuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                "invalid JSON at byte 0: unexpected end",
		" \n":                             "invalid JSON at byte 2: unexpected end",
		`{`:                               "invalid JSON at byte 1: key expected",
		`{"a"`:                            "invalid JSON at byte 4: colon expected",
		`{"a":`:                           "invalid JSON at byte 5: unexpected end",
		`{"a":1`:                          "invalid JSON at byte 6: unexpected end",
		`{"a":1,}`:                        "invalid JSON at byte 7: key expected",
		`[1,]`:                            "invalid JSON at byte 3: value expected",
		`[1 2]`:                           "invalid JSON at byte 3: comma or end of container expected",
		`[1}`:                             "invalid JSON at byte 2: comma or end of container expected",
		`]`:                               "invalid JSON at byte 0: value expected",
		`1 2`:                             "invalid JSON at byte 2: text after the value",
		`{}{}`:                            "invalid JSON at byte 2: text after the value",
		`01`:                              "invalid JSON at byte 1: text after the value",
		`1.`:                              "invalid JSON at byte 1: text after the value",
		`1.e5`:                            "invalid JSON at byte 1: text after the value",
		`1e`:                              "invalid JSON at byte 1: text after the value",
		`1e+`:                             "invalid JSON at byte 1: text after the value",
		`-`:                               "invalid JSON at byte 0: value expected",
		`.5`:                              "invalid JSON at byte 0: value expected",
		`+1`:                              "invalid JSON at byte 0: value expected",
		`nan`:                             "invalid JSON at byte 0: value expected",
		`-NaN`:                            "invalid JSON at byte 0: value expected",
		`Infinit`:                         "invalid JSON at byte 0: value expected",
		`tru`:                             "invalid JSON at byte 0: value expected",
		`[True]`:                          "invalid JSON at byte 1: value expected",
		`'a'`:                             "invalid JSON at byte 0: value expected",
		`"abc`:                            "invalid JSON at byte 4: unterminated string",
		`"abcdefghijk\`:                   "invalid JSON at byte 12: bad escape",
		`"\x41"`:                          "invalid JSON at byte 1: bad escape",
		`"\u12"`:                          "invalid JSON at byte 1: bad escape",
		`"\u+123"`:                        "invalid JSON at byte 1: bad escape",
		`"\u1_23"`:                        "invalid JSON at byte 1: bad escape",
		"\"a\tb\"":                        "invalid JSON at byte 2: control character in string",
		"\"aaaaaaaaaaaa\x00b\"":           "invalid JSON at byte 13: control character in string",
		"\"a\xff\"":                       "invalid JSON at byte 2: not UTF-8",
		"\"a\xc0\x80\"":                   "invalid JSON at byte 2: not UTF-8",
		"\"\xed\xa0\x80\"":                "invalid JSON at byte 1: not UTF-8",
		"\"\xf4\x90\x80\x80\"":            "invalid JSON at byte 1: not UTF-8",
		"\"\xe2\x82":                      "invalid JSON at byte 1: not UTF-8",
		"[nonsense \xff":                  "invalid JSON at byte 10: not UTF-8",
		"[1,\u00a02]":                     "invalid JSON at byte 3: value expected",
		nested(1001):                      "refused JSON value " + strings.Repeat("[0]", 12) + "...: nested too deep",
		strings.Repeat("1", 4301):         "invalid JSON at byte 0: integer too long",
		`{"args":[1,` + nines(4301) + `]`: "refused JSON value args[1]: integer too long",
	} {
		require.EqualError(t, pyjson.Check([]byte(text), pyjson.Tolerant), want, "%.40q", text)
	}
}

func nines(n int) string { return strings.Repeat("9", n) }

func TestErrorPlace(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"content":[0,{},{"ratio":NaN}]}`:                   "content[2].ratio",
		`{"a":{"x":[1,2]},"tool_calls":{"input":NaN}}`:       "tool_calls.input",
		`{"my secret":1,"the other":{"role":NaN}}`:           "member 2.role",
		`{"a":"{[\",","\u0061rgs":{"` + nines(3) + `":NaN}}`: "args.member 1",
		`{"role content":NaN}`:                               "member 1",
		`{"":NaN}`:                                           "member 1",
		`{"Content":{"content_":NaN}}`:                       "member 1.member 1",
		`[[],[[NaN]]]`:                                       "[1][0][0]",
		`NaN`:                                                "",
	} {
		err := pyjson.Check([]byte(text), pyjson.Strict)
		var e *pyjson.Error
		require.ErrorAs(t, err, &e, text)
		require.Equal(t, pyjson.NotFinite, e.Reason, text)
		require.Equal(t, want, e.Place, text)
		require.Equal(t, strings.Index(text, "NaN"), e.Offset, text)
	}
}

func TestTrimSpace(t *testing.T) {
	t.Parallel()
	spaces := "\t\n\v\f\r\x1c\x1d\x1e\x1f \u0085\u00a0\u1680\u2000\u2005\u200a\u2028\u2029\u202f\u205f\u3000"
	others := []string{"\x00", "\x08", "\x0e", "\x1b", "\x7f", "\u180e", "\u200b", "\u2060", "\ufeff", "\xa0", "\xff"}
	require.Empty(t, pyjson.TrimSpace([]byte(spaces)))
	for _, text := range others {
		require.Equal(t, text, string(pyjson.TrimSpace([]byte(spaces+text+spaces))), "%q", text)
	}
	require.Equal(t, "\va\u00a0", string(pyjson.Trim([]byte(" \t\r\n\va\u00a0 \n"))))
}

func TestCheckSpans(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{"role": "user", "content": "x"}`, `{"role": 1, "a": {"role": 2}, "role": [3, {"role": 4}]}`,
		`{"a": {"role": 2}, "b": [{"role": 3}, {}, []], "c": [[{"d": {}}]]}`, `{"\u0072ole": "x\"y" }`,
		" {\"role\"  :  null\t}\r\n", `{"": {}, "":[], "x":-1.5e3,"y":"\\"}`, `{}`, ` { } `, `[{"role": 1}]`, `[[], {"a": {}}]`, `"role"`, `1`,
	} {
		got, want := []pyjson.Span{{Key: 7}}, []pyjson.Span{{Key: 7}}
		require.NoError(t, pyjson.CheckSpans([]byte(text), pyjson.Tolerant, &got))
		for m := range pyjson.Members([]byte(text)) {
			want = append(want, pyjson.Span{Key: m.KeyAt, KeyEnd: m.KeyAt + len(m.Key), Value: m.ValueAt, ValueEnd: m.ValueAt + len(m.Value)})
		}
		require.Equal(t, want, got, text)
	}
	for _, text := range []string{`{"role": "user"`, `{"role": "user", }`, `{"role" "user"}`, `{"role": 1} 2`} {
		err := pyjson.CheckSpans([]byte(text), pyjson.Tolerant, &[]pyjson.Span{})
		require.EqualError(t, err, pyjson.Check([]byte(text), pyjson.Tolerant).Error())
	}
}

func TestTyped(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]bool{
		`"tool_use"`:   false,
		`[]`:           false,
		`["tool_use"]`: false,
		`[{"a": 1}, {"type": "text", "text": "tool_use"}]`:                       false,
		`[{"type": "thinking"}, {"type" : "text"}, {"a": {"type": "tool_use"}}]`: false,
		`[{"type": "text"}, {"type": "tool_use"}, {"type": "text"}]`:             true,
		`[{"type":"tool_result"}]`:                                               true,
		`[1, {"type": 1}]`:                                                       true,
		`[{"type": "text", "type": "image"}]`:                                    true,
		`[{"t\u0079pe": "tool_use"}]`:                                            true,
		`[{"type": "t\u0065xt"}]`:                                                true,
		`[{"type": "texts"}]`:                                                    true,
		`[{"type": "thinking_"}]`:                                                true,
	} {
		for _, text := range []string{`{"content": ` + value + `}`, `{"x": [{"type": 1}], "content":` + value + `, "y": [{"type": 2}]}`} {
			var got []pyjson.Span
			require.NoError(t, pyjson.CheckSpans([]byte(text), pyjson.Tolerant, &got))
			for _, m := range got {
				content := text[m.Key:m.KeyEnd] == `"content"`
				require.Equal(t, want || !content, m.Typed, text)
			}
		}
	}
}
