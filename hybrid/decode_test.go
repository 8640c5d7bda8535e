package hybrid

import (
	"strings"
	"testing"
)

// found returns which of some texts stand in any of the documents.
func found(t testing.TB, bodies [][]byte, texts []string) (in []string) {
	t.Helper()
	var all strings.Builder
	for _, body := range bodies {
		writePlain(t, &all, body)
	}
	for _, text := range texts {
		if strings.Contains(all.String(), text) {
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
