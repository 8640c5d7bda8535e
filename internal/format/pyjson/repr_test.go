package pyjson

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRepr(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                       `''`,
		"a b":                    `'a b'`,
		"it's":                   `"it's"`,
		`it's "it"`:              `'it\'s "it"'`,
		`"`:                      `'"'`,
		`a\b`:                    `'a\\b'`,
		"\n\r\t\x00\x7f\u0085":   `'\n\r\t\x00\x7f\x85'`,
		"é日😀":                    `'é日😀'`,
		"\u00a0\u2028\U000e0001": `'\xa0\u2028\U000e0001'`,
		"a\xed\xa0\x80b":         `'a\ud800b'`,
		"\xff":                   `'ÿ'`,
		"\ufffd":                 "'\ufffd'",
	} {
		require.Equal(t, want, Repr(text))
	}
}
