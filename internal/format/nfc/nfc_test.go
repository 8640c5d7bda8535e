package nfc

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestString(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"": "", "plain": "plain", "caf\u00e9": "caf\u00e9", "cafe\u0301": "caf\u00e9", "e\u0301\u0302": "\u00e9\u0302",
		"\u1112\u1161\u11ab\u1100\u1173\u11af": "한글", "\ud55c\uae00": "한글", "か\u3099": "が", "\u212b": "\u00c5", "\u2000": "\u2002", "A\u030a": "\u00c5",
		"e\u0323\u0302": "\u1ec7", "e\u0302\u0323": "\u1ec7", "\u0301e": "\u0301e", "\u0958": "\u0915\u093c", "q\u0307\u0323": "q\u0323\u0307",
		"x\u0335\u0301y\u0301": "x\u0335\u0301\u00fd", "a\xff\u0301": "a\xff\u0301", "\u1100\u1161\u1161": "가\u1161",
	} {
		require.Equal(t, want, String(in), "%+q", in)
		require.Equal(t, want, String(want))
	}
}

func TestExpression(t *testing.T) {
	t.Parallel()
	for _, forms := range [][]string{
		{"caf\u00e9 (x)", "cafe\u0301 (x)"},
		{"\ud55c\uae00", "\u1112\u1161\u11ab\u1100\u1173\u11af"},
		{"\u1ec7 \u00e9", "e\u0323\u0302 e\u0301", "e\u0302\u0323 \u00e9", "\u1ec7 e\u0301"},
		{"\uf900", "\uf900"},
		{"plain.", "plain."},
		{"x\u0301*", "x\u0301*"},
		{"が", "か\u3099"},
	} {
		for _, one := range forms {
			for _, other := range forms[:min(2, len(forms))] {
				require.Regexp(t, regexp.MustCompile("^(?:"+Expression(one)+")$"), other, "%+q", one)
			}
		}
	}
	require.Equal(t, `a\.b`, Expression("a.b"))
	for r, want := range map[rune]bool{'a': true, 'é': false, '日': true, '한': false, '\u0301': false, 'ж': true, 'й': false, 'が': false} {
		require.Equal(t, want, Steady(r), "%c", r)
	}
}
