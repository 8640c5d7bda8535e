package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/cosmostest"
)

// TestRecord records what the strict server answers: each question is answered as
// expected, the charges are those of the server's table, and nothing is told of
// who asked or of what is stored.
func TestRecord(t *testing.T) {
	unset(t)
	file := filepath.Join(t.TempDir(), "record")
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), []string{"-dir", t.TempDir(), "-delay", "0", "-record", file}, &screen{out: &out}))
	require.NotContains(t, out.String(), "otherwise")
	require.Error(t, run(t.Context(), []string{"-record", file}, &screen{out: &out}), "the file is there")

	text, err := os.ReadFile(file)
	require.NoError(t, err)
	lines := map[string][]answered{}
	for scan := bufio.NewScanner(bytes.NewReader(text)); scan.Scan(); {
		var line answered
		require.NoError(t, json.Unmarshal(scan.Bytes(), &line))
		require.NotEmpty(t, line.Op)
		require.NotZero(t, line.Status)
		lines[line.Step] = append(lines[line.Step], line)
	}
	for _, q := range asked {
		require.NotEmpty(t, lines[q.step], q.step)
		require.Equal(t, q.status, lines[q.step][0].Status, q.step)
	}
	sameCharges(t, lines)
	require.Equal(t, []int{424, 424, http.StatusConflict}, lines["batch of which the last fails"][0].Operations)
	for _, step := range []string{"first turn", "fetch", "second turn", "both write", "send the branch", "list", "delete"} {
		require.NotEmpty(t, lines[step], step)
		require.Equal(t, "story", lines[step][0].Part)
	}
	require.Len(t, lines["nothing new"], 1, "a page of the catalogue")
	for _, word := range []string{"127.0.0.1", "amplifier", "sync\"", "ada", "cloudsync", garden, "So it is", "ddd", "s-", "type=", "etag"} {
		require.NotContains(t, string(text), word)
	}
}

// sameCharges compares the charges of documents with the server's table.
func sameCharges(t *testing.T, lines map[string][]answered) {
	t.Helper()
	charge := func(step string) float64 { return lines[step][0].Charge }
	size := func(step string) int { return int(lines[step][0].Received) }
	for _, kb := range []string{"1 KB", "16 KB", "100 KB"} {
		stored := size("read " + kb)
		require.InDelta(t, cosmostest.ReadCharge(stored), charge("read "+kb), 0.01, kb)
		require.InDelta(t, cosmostest.WriteCharge(stored), charge("create "+kb), 0.05, kb)
	}
	small := cosmostest.WriteCharge(size("read 1 KB"))
	require.InDelta(t, 2*small, charge("replace 1 KB"), 0.05)
	require.InDelta(t, small, charge("upsert 1 KB"), 0.05)
	require.InDelta(t, 2*small, charge("upsert 1 KB again"), 0.05)
	require.InDelta(t, 10*small, charge("batch of 10 of 1 KB"), 0.5)
	require.InDelta(t, small, charge("delete 1 KB"), 0.05)
	for _, step := range []string{"create what is there", "read what is not there", "replace what changed"} {
		require.InDelta(t, 1.24, charge(step), 0.01, step)
	}
	require.Less(t, charge("query of a page of 3"), charge("query of all")+0.01)
}

// TestOperations names each request by what it does.
func TestOperations(t *testing.T) {
	t.Parallel()
	for want, tt := range map[string]struct{ method, path, header string }{
		"create": {http.MethodPost, "/dbs/d/colls/c/docs", ""}, "read": {http.MethodGet, "/dbs/d/colls/c/docs/x", ""},
		"replace": {http.MethodPut, "/dbs/d/colls/c/docs/x", ""}, "delete": {http.MethodDelete, "/dbs/d/colls/c/docs/x", ""},
		"upsert": {http.MethodPost, "/dbs/d/colls/c/docs", "x-ms-documentdb-is-upsert"}, "control": {http.MethodGet, "/dbs/d/colls/c", ""},
		"query": {http.MethodPost, "/dbs/d/colls/c/docs", "x-ms-documentdb-query"}, "batch": {http.MethodPost, "/dbs/d/colls/c/docs", "x-ms-cosmos-is-batch-request"},
	} {
		r, err := http.NewRequestWithContext(t.Context(), tt.method, "http://account.test"+tt.path, strings.NewReader(""))
		require.NoError(t, err)
		if tt.header != "" {
			r.Header.Set(tt.header, "True")
		}
		require.Equal(t, want, operation(r))
	}
}
