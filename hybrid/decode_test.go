package hybrid

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"
)

// decoded returns all texts of a document: its members, and what of them is base64, and
// compressed. It knows nothing of the library's documents.
func decoded(t testing.TB, body []byte) string {
	t.Helper()
	var doc any
	require.NoError(t, json.Unmarshal(body, &doc))
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	require.NoError(t, err)
	defer z.Close()
	var out strings.Builder
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, one := range v {
				walk(one)
			}
		case map[string]any:
			for name, one := range v {
				out.WriteString(name + "\n")
				walk(one)
			}
		case string:
			out.WriteString(v + "\n")
			if data, err := base64.StdEncoding.DecodeString(v); err == nil {
				out.Write(data)
				if plain, err := z.DecodeAll(data, nil); err == nil {
					out.Write(plain)
				}
			}
		}
	}
	walk(doc)
	return out.String()
}

// found returns which of some texts stand in any of the documents.
func found(t testing.TB, bodies [][]byte, texts []string) (in []string) {
	t.Helper()
	var all bytes.Buffer
	for _, body := range bodies {
		all.WriteString(decoded(t, body))
	}
	for _, text := range texts {
		if bytes.Contains(all.Bytes(), []byte(text)) {
			in = append(in, text)
		}
	}
	return in
}

// stored returns which of some texts the container holds.
func (c *cloud) stored(t testing.TB, texts ...string) []string {
	t.Helper()
	var bodies [][]byte
	for _, d := range c.Docs(testDatabase, testContainer) {
		bodies = append(bodies, d.Body)
	}
	return found(t, bodies, texts)
}
