package pyyaml

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestStyles(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		want style
		list []string
	}{
		{"words", plain, []string{"a", "a b", "it's", `a"b`, `C:\x`, "http://a/b", "a#b", "a,b", "x[0]", "a{}"}},
		{"harmless first characters", plain, []string{"-a", "--", "-,", "?a", ":a", ".a", "..", "$a", "(a)", "/a", "=a", "<a", "~a", "_", "^"}},
		{"first indicators", single, strings.Split("# , [ ] { } & * ! | > ' \" % @ ` #a ,a [a ]a {a }a &a *a !a |a >a 'a \"a %a @a `a", " ")},
		{"indicators before a space", single, []string{"-", "?", ":", "- a", "? a", ": a", "a:", "a: b", "a #b"}},
		{"document marks", single, []string{"---", "...", "---a", "...a"}},
		{"outer spaces", single, []string{" ", " a", "a ", "  "}},
		{"line breaks", single, []string{"\n", "a\nb", "\na", "a\n", "a\n\nb", "#\n-"}},
		{"space next to a break", double, []string{"a \nb", "a\n b", " \n", "\n "}},
		{"control and beyond ASCII", double, []string{
			"\t", "a\tb", "\r", "\r\n", "\x00", "\x1b", "\x7f", "\u0085", "\u00a0", "é", "\u2028", "\u2029", "\ufeff", "漢", "😀", "\xed\xa0\x80",
		}},
	}
	for _, tt := range tests {
		for _, s := range tt.list {
			require.Equal(t, tt.want, styleOf(s), "%s: %q", tt.name, s)
		}
	}
}

func TestOtherTypes(t *testing.T) {
	t.Parallel()
	quoted := []string{
		"", "~", "null", "Null", "NULL", "=", "<<",
		"yes", "Yes", "YES", "no", "No", "NO", "true", "True", "TRUE", "false", "False", "FALSE",
		"on", "On", "ON", "off", "Off", "OFF",
		"0", "-1", "+1", "017", "0_7", "0_", "1_000", "1__", "0x1F", "-0xaB_", "0b1", "0b_", "+0b01", "12:30:45", "1:0", "-190:20:30",
		"1.", "1.5", "-1.5", "+.inf", ".inf", "-.INF", ".Inf", ".nan", ".NaN", ".NAN", ".5", ".5e+1", "1.0e+5", "1.5E-7", "1_0.0_1", "12:30.5", "09.5", "1:2.",
		"2001-01-01", "2001-1-1 1:02:03", "2001-01-01T10:00:00Z", "2001-01-01t10:00:00.5", "2001-12-14 21:59:43.10 -5", "2001-01-01 10:00:00  +01:30",
	}
	for _, s := range quoted {
		require.Equal(t, single, styleOf(s), s)
	}
	bare := []string{
		"y", "n", "Y", "N", "yEs", "yess", "nULL", "nil", "nan", "inf", "+.nan", "-.nan", ".iNF", "==", "<",
		"08", "0x", "0xg", "0b2", "0o17", "_1", "1-2", "1:60", "01:30", "12:30x", "+", "+-1", "1 2",
		"1e5", "1e+5", "1.0e5", "-.5", "+.5", ".", "._", ".5.", "1.5.5", "0x1.5",
		"2001-1-1", "201-01-01", "2001-01-01T", "2001-01-01 10:00", "2001-01-01T10:00:00z", "2001-01-01_10:00:00", "2001-01-01T10:00:00 +1:3",
	}
	for _, s := range bare {
		require.Equal(t, plain, styleOf(s), s)
	}
}

func TestEscapes(t *testing.T) {
	t.Parallel()
	tests := []struct{ value, want string }{
		{`\u0000\u0007\b\t\n\u000b\f\r\u001b`, `\0\a\b\t\n\v\f\r\e`},
		{`\u0085\u00a0\u2028\u2029`, `\N\_\L\P`},
		{`\"\\\/\t'`, `\"\\/\t'`},
		{`\u0001\u007f\u0080\u00ff`, `\x01\x7F\x80\xFF`},
		{`\u0100\ufeff\ufffd\uffff`, `\u0100\uFEFF\uFFFD\uFFFF`},
		{`\ud83d\ude00\udbff\udfff😀`, `\U0001F600\U0010FFFF\U0001F600`},
		{`\ud83d \ude00\ud800`, `\uD83D \uDE00\uD800`},
		{`\udbff\udfff\udfff\ud7ff\ue000`, `\U0010FFFF\uDFFF\uD7FF\uE000`},
		{` \t `, ` \t `},
	}
	for _, tt := range tests {
		requireYAML(t, "- \""+tt.want+"\"\n", `["`+tt.value+`"]`)
	}
}

func TestLineBreaks(t *testing.T) {
	t.Parallel()
	requireYAML(t, "k: 'a\n\n  b'\n", `{"k":"a\nb"}`)
	requireYAML(t, "k: 'a\n\n\n\n  b\n\n  '\n", `{"k":"a\n\n\nb\n"}`)
	requireYAML(t, "k: '\n\n  it''s'\n", `{"k":"\nit's"}`)
	requireYAML(t, "k:\n- - 'a\n\n    b'\n", `{"k":[["a\nb"]]}`)
	requireYAML(t, "'\n\n  '\n", `"\n"`)
	requireYAML(t, "- \"a \\nb\"\n", `["a \nb"]`)
}

func TestFolding(t *testing.T) {
	t.Parallel()
	x := func(n int) string { return strings.Repeat("x", n) }
	tests := []struct{ name, text, want string }{ // in a sequence: texts start at column 2
		{"plain at column 80", x(78) + " b", x(78) + " b"},
		{"plain beyond", x(79) + " b", x(79) + "\n  b"},
		{"plain long words", x(200) + " " + x(200) + " b", x(200) + "\n  " + x(200) + "\n  b"},
		{"two spaces stay", x(90) + "  b c", x(90) + "  b\n  c"},
		{"single at column 80", "#" + x(76) + " b", "'#" + x(76) + " b'"},
		{"single beyond", "#" + x(77) + " b", "'#" + x(77) + "\n  b'"},
		{"single counts doubled quotes", "'" + x(76) + " b", "'''" + x(76) + "\n  b'"},
		{"single keeps its last space", "#" + x(90) + " ", "'#" + x(90) + " '"},
		{"double before a space", "é" + x(74) + " bc", `"\xE9` + x(74) + "\\\n  \\ bc\""},
		{"double at column 80", "é" + x(73) + " bc", `"\xE9` + x(73) + ` bc"`},
		{"double not at the last character", "é" + x(90) + " ", `"\xE9` + x(90) + ` "`},
		{"double before two spaces", "é" + x(90) + "  b", `"\xE9` + x(90) + "\\\n  \\  b\""},
		{"double after an escape", x(90) + "ébc", `"` + x(90) + "\\xE9\\\n  bc\""},
		{"double escape before a space", x(90) + "é bc", `"` + x(90) + "\\xE9\\\n  \\ bc\""},
		{"double escape that ends at column 80", x(73) + "ébc", `"` + x(73) + `\xE9bc"`},
		{"double before what follows an escape", x(74) + "ébc", `"` + x(74) + "\\xE9\\\n  bc\""},
		{"double not before the last character", x(74) + "éb", `"` + x(74) + `\xE9b"`},
		{"double right after an escape", x(75) + "éb", `"` + x(75) + "\\xE9\\\n  b\""},
		{"double not after the last escape", x(75) + "é", `"` + x(75) + `\xE9"`},
		{"double of escapes", strings.Repeat("é", 40), `"` + strings.Repeat(`\xE9`, 20) + "\\\n  " + strings.Repeat(`\xE9`, 20) + `"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			requireYAML(t, "- "+tt.want+"\n", `["`+strings.ReplaceAll(tt.text, `"`, `\"`)+`"]`)
		})
	}
}

// TestFoldingDeep covers lines that begin beyond the width, which are folded
// wherever it is allowed. That PyYAML then folds between the backslash of a
// space and the space is a part of the bytes.
func TestFoldingDeep(t *testing.T) {
	t.Parallel()
	nest := func(s string) string { return strings.Repeat("[", 41) + s + strings.Repeat("]", 41) }
	lead, next := strings.Repeat("- ", 41), "\n"+strings.Repeat(" ", 82)
	requireYAML(t, lead+"a"+next+"b"+next+"c\n", nest(`"a b c"`))
	requireYAML(t, lead+"'#"+next+"b"+next+"c'\n", nest(`"# b c"`))
	requireYAML(t, lead+`"a\xE9\`+next+`\\`+next+`\ b\`+next+`\ c"`+"\n", nest(`"aé b c"`))
	requireYAML(t, lead+`" \xE9\`+next+`\`+next+`bc"`+"\n", nest(`" ébc"`))
	requireYAML(t, lead+`"\xE9\`+next+`bc"`+"\n", nest(`"ébc"`))
}

func TestRootFolding(t *testing.T) {
	t.Parallel()
	requireYAML(t, strings.Repeat("x", 81)+"\n  y\n...\n", `"`+strings.Repeat("x", 81)+` y"`)
}
