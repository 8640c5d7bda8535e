package sessionstore_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// TestMalformed tells damage of the text from other damage of a transcript and
// of metadata.
func TestMalformed(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		file, content string
		want          bool
	}{
		"bad syntax":           {transcriptFile, "{bad\n", true},
		"too many levels":      {transcriptFile, `{"a": ` + strings.Repeat("[", 1001) + strings.Repeat("]", 1001) + "}\n", true},
		"too many digits":      {transcriptFile, `{"a": ` + strings.Repeat("1", 4301) + "}\n", true},
		"not UTF-8":            {transcriptFile, "{\"a\": \"\xff\"}\n", false},
		"metadata":             {metadataFile, `{"name": `, true},
		"metadata not UTF-8":   {metadataFile, "{\"name\": \"\xff\"}", false},
		"metadata of a number": {metadataFile, "1", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st, err := sessionstore.Open(t.TempDir(), nil)
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, st.Close()) })
			write(t, tt.content, st.Dir(), "s", tt.file)
			_, err = st.Load(t.Context(), "s")
			corrupt := (*sessionstore.CorruptError)(nil)
			require.True(t, errors.As(err, &corrupt), "%v", err)
			require.Equal(t, tt.want, corrupt.Malformed(), "%v", err)
		})
	}
}
