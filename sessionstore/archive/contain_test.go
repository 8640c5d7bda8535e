package archive

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestContain(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, text, want string }{
		{"empty", "", "\n"},
		{"plain", "a\n\nb\n\n\n", "a\n\nb\n"},
		{"an open fence", "a\n```go\nb", "a\n```go\nb\n```\n"},
		{"a closed fence", "```\n<b>\n```\n<b>", "```\n<b>\n```\n&lt;b>\n"},
		{"a longer fence", "`````\n```\nx", "`````\n```\nx\n`````\n"},
		{"tildes", "~~~\n```\nx", "~~~\n```\nx\n~~~\n"},
		{"text behind a fence does not end it", "```\n``` x\n<", "```\n``` x\n<\n```\n"},
		{"a fence in a line is none", "```a``` <b>", "```a``` &lt;b>\n"},
		{"a comment", "<!-- open", "&lt;!-- open\n"},
		{"code in a line", "`<a>` and ``<`>`` and <c>", "`<a>` and ``<`>`` and &lt;c>\n"},
		{"code that is open", "`<a>\n\n<b>`", "`&lt;a>\n\n&lt;b>`\n"},
		{"code over lines", "`a\n<b>` <c>", "`a\n<b>` &lt;c>\n"},
		{"an escape", `\<a> \` + "`<b>`", `\&lt;a> \` + "`&lt;b>`\n"},
		{"less than", "a < b <3 <", "a < b <3 <\n"},
		{"CRLF", "a\r\nb\rc", "a\nb\nc\n"},
		{"controls", "a\x00\x1b[31mb\u2028c", "a\ufffd\ufffd[31mb\nc\n"},
		{"four spaces", "    ```\n<b>", "    ```\n&lt;b>\n"},
		{"not UTF-8", "a\xffb", "a\ufffdb\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, contain(tt.text))
		})
	}
}

func TestFence(t *testing.T) {
	t.Parallel()
	require.Equal(t, "```\na\n```\n", fence("a\n", ""))
	require.Equal(t, "`````json\n````\n`````\n", fence("````", "json"))
	require.Equal(t, "`` a` ``", span("a`"))
	require.Equal(t, "`a b`", span("a\n b"))
	require.Equal(t, "(empty)", span(" "))
}

// TestLinear is for texts that make nested loops slow.
func TestLinear(t *testing.T) {
	t.Parallel()
	for _, text := range []string{strings.Repeat("`", 1<<20), strings.Repeat("<", 1<<20), strings.Repeat("\\", 1<<20)} {
		require.NotEmpty(t, contain(text))
	}
}
