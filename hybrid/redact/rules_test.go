package redact

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
)

func TestKindsTellWhatLineReplaces(t *testing.T) {
	t.Parallel()
	rules := Secrets()
	line := `{"content": "PASSWORD=a1B2c3D4e5 and then {\"api_key\": \"q8W3e7R2t6Y1u5I0\"}"}`
	require.Equal(t, `{"content": "PASSWORD=[redacted:password] and then {\"api_key\": \"[redacted:secret]\"}"}`, string(rules.Line([]byte(line))))
	require.Equal(t, []string{"password", "secret"}, rules.Kinds([]byte(line)))
	require.Empty(t, rules.Kinds([]byte(`{"content": "nothing"}`)))
}

// TestAShapeTellsTheKindBeforeAName has values that both find.
func TestAShapeTellsTheKindBeforeAName(t *testing.T) {
	t.Parallel()
	for shape, value := range plant() {
		if strings.ContainsAny(value, " \n;/?") {
			continue
		}
		require.Equal(t, []string{shape}, Secrets().Kinds([]byte("API_KEY="+value)), value)
	}
}

func TestNewTakesPatternsOfTheUser(t *testing.T) {
	t.Parallel()
	rules, err := New(Pattern{Kind: "badge", Shape: `\bB-[0-9]{4}\b`}, Pattern{Kind: "project", Shape: `(?i)project (\w+)`})
	require.NoError(t, err)
	require.Equal(t, `{"content": "[redacted:badge] of Project [redacted:project]"}`, string(rules.Line([]byte(`{"content": "B-1234 of Project bluebird"}`))))
	require.NotEqual(t, Secrets().Version(), rules.Version())
	require.True(t, strings.HasPrefix(rules.Version(), Secrets().Version()+"+"))
	other, err := New(Pattern{Kind: "badge", Shape: `\bB-[0-9]{5}\b`})
	require.NoError(t, err)
	require.NotEqual(t, other.Version(), rules.Version())
	none, err := New()
	require.NoError(t, err)
	require.Equal(t, Secrets().Version(), none.Version())
	for _, bad := range []Pattern{{"badge", "("}, {"", "x"}, {`a"b`, "x"}, {"Badge", "x"}} {
		_, err := New(bad)
		require.ErrorIs(t, err, ErrPattern)
	}
}

// TestJSONStaysJSON has patterns that match what is no secret: quotes, numbers,
// everything.
func TestJSONStaysJSON(t *testing.T) {
	t.Parallel()
	for _, shape := range []string{`.*`, `.`, `"`, `[0-9]+`, `x.*`, `\\`, `redacted`, `(?s).{3}`} {
		rules, err := New(Pattern{Kind: "all", Shape: shape})
		require.NoError(t, err)
		for _, line := range []string{
			`{"a": "x\ny", "n": 12345678, "l": ["x", null, {"x\"y": 1.5e3}], "u": "\u00e9\ud83d\ude00"}`,
			`{"a": "{\"x\": \"y\\\"z\"}"}`, `"x"`, `[]`, `12`,
		} {
			got := rules.Line([]byte(line))
			require.NoError(t, pyjson.Check(got, pyjson.Strict), "%s: %s became %s", shape, line, got)
			require.Equal(t, string(got), string(rules.Line(got)), shape)
		}
		for _, part := range []string{`  "x": "y",`, `  "x": {`, `  "x": [`, `    12345678,`, `  "x"`} {
			got := string(rules.Line([]byte(part)))
			whole := got + "0"
			switch part[len(part)-1] {
			case '{':
				whole = "{" + got + "}}"
			case '[':
				whole = "{" + got + "]}"
			case ',', '"':
				whole = "[" + strings.TrimSuffix(got, ",") + "]"
				if strings.Contains(part, ":") {
					whole = "{" + strings.TrimSuffix(got, ",") + "}"
				}
			}
			require.NoError(t, pyjson.Check([]byte(whole), pyjson.Strict), "%s: %s became %s", shape, part, got)
		}
	}
	rules, err := New(Pattern{Kind: "all", Shape: `.+`})
	require.NoError(t, err)
	require.Equal(t, "[redacted:all]", string(rules.Line([]byte(`he said "no"`))), "what is no JSON is replaced whole")
}

func TestValuesOfTheEnvironmentAreFound(t *testing.T) {
	t.Parallel()
	r := fake{seeded(4)}
	key, word, short := r.alnum(24), "a1"+r.of(small, 7), "a1B2c3"
	f := Secrets().WithEnviron([]string{
		"DEPLOY_KEY=" + key, "DB_PASSWORD=" + word, "PIN_PASSWORD=" + short, "HOME=/home/ada1", "TOKEN_FILE=/run/token1/file", "KEYBOARD=" + r.alnum(20),
		"API_TOKEN=$OTHER", "SECRET_PATH=/run/secrets/x1y2z3", "EMPTY_SECRET=", "=C:=C:\\x", "odd",
	})
	require.Len(t, f.values, 2)
	line := `{"content": "it printed ` + key + ` and \"` + word + `\" and ` + short + `"}`
	require.Equal(t, `{"content": "it printed [redacted:environment] and \"[redacted:environment]\" and `+short+`"}`, string(f.Line([]byte(line))))
	require.Equal(t, []string{"environment", "environment"}, f.Kinds([]byte(line)))
	require.Equal(t, line, string(Secrets().Line([]byte(line))), "only the rules that know the environment find them")
	_, versioned := any(f).(Redactor)
	require.False(t, versioned)
}
