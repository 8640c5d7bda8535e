package nfc

import (
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
