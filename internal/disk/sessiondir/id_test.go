package sessiondir

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestForeign judges ids that come from outside.
func TestForeign(t *testing.T) {
	t.Parallel()
	for _, id := range []string{
		"8f14e45f-ceea-467f-a8d1-3b2a5c7d9e01", "0000000000000000-5d41402abc4b2a76_explorer", "a", "0", "a.b", "a..b", "CONSOLE", "con-1", "com", "com10", "A_",
		"x-rf", "a--help", strings.Repeat("a", 240),
	} {
		require.Empty(t, Foreign(id), id)
	}
	for _, id := range []string{
		"", " ", ".", "..", ".git", ".hidden", "-rf", "--help", "_a", "a b", " a", "a ", "a\nb", "con\nnl", "a\n", "a\x00", "\x00", "a\r", "a\tb", "a\x1b]0;x\a", "a\u202eb", "ä", "a\xff",
		"a/b", `a\b`, "../a", "a:b", "y;touch pwned;", "$(x)", "`x`", "a*", "a?", "[a]", "~", "~root", "!x", "#x", "a&", "a|b", "a<b", "a>b", "{a,b}", "=ls", "a'b", `a"b`, "a%b", "a@b",
		"CON", "con", "con.txt", "NUL", "nul.", "COM1", "com1.tar.gz", "LPT9", "LPT¹", "aux", "prn.a.b", "a.", "a..", strings.Repeat("a", 241), strings.Repeat("é", 100),
	} {
		require.NotEmpty(t, Foreign(id), "%q", id)
	}
}
