package redact

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
)

// FuzzSecrets redacts any line: what is JSON stays JSON, and the line that was
// given is not changed.
func FuzzSecrets(f *testing.F) {
	for name, secret := range plant() {
		f.Add([]byte(`{"role": "user", "content": "` + name + "=" + secret + `"}`))
		f.Add([]byte(name + ": " + secret))
	}
	for _, file := range []string{"secrets.txt", "harmless.txt"} {
		for i, s := range corpus(f, file, 1) {
			if i%10 == 0 {
				f.Add([]byte(s.text))
				f.Add([]byte(inPlaces(s.text)["result of a tool"]))
			}
		}
	}
	f.Add([]byte(`{"content": "\u0041KIA\n\\\\ \ud83d\ude00 \ud800"}`))
	rules := Secrets()
	f.Fuzz(func(t *testing.T, line []byte) {
		given := bytes.Clone(line)
		redacted := rules.Line(line)
		require.Equal(t, string(given), string(line))
		require.Equal(t, string(redacted), string(rules.Line(redacted)), "redacting %q again", line)
		if pyjson.Check(line, pyjson.Tolerant) == nil {
			require.NoError(t, pyjson.Check(redacted, pyjson.Tolerant), "%q became %q", line, redacted)
		}
	})
}
