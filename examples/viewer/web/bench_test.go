package web

import (
	"bufio"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkOpen asks for what a browser asks for when it opens a session of 1 GB
// that was opened before, in a new program: the page, the last messages, and the
// messages of a turn in the middle.
func BenchmarkOpen(b *testing.B) {
	dir := filepath.Join(b.TempDir(), "weather", "sessions")
	require.NoError(b, os.MkdirAll(filepath.Join(dir, one), 0o700))
	f, err := os.Create(filepath.Join(dir, one, "transcript.jsonl"))
	require.NoError(b, err)
	out := bufio.NewWriterSize(f, 1<<20)
	enc := json.NewEncoder(out)
	const turns = 50_000
	for i := range turns {
		require.NoError(b, enc.Encode(user(fmt.Sprint("Question ", i+1, strings.Repeat("?", 10_000)))))
		require.NoError(b, enc.Encode(map[string]any{"role": "assistant", "content": fmt.Sprint("Answer ", i+1, strings.Repeat(".", 10_000))}))
	}
	require.NoError(b, out.Flush())
	require.NoError(b, f.Close())
	open := func() {
		places, err := OpenPlaces(dir, nil)
		require.NoError(b, err)
		at := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 4321}
		server, err := New(places, at, slog.New(slog.DiscardHandler), Options{NoToken: true})
		require.NoError(b, err)
		for _, path := range []string{
			page(one), api(one) + "/health", api(one) + "/messages?to=0",
			fmt.Sprintf("%s/turns/%d", api(one), turns), fmt.Sprintf("%s/messages?from=%d&to=%d", api(one), 2*turns-20, 2*turns),
			fmt.Sprintf("%s/turns/%d", api(one), turns/2), fmt.Sprintf("%s/messages?from=%d&to=%d", api(one), turns, turns+20),
		} {
			r := httptest.NewRequestWithContext(b.Context(), http.MethodGet, path, nil)
			r.Host = at.String()
			w := record(server, r)
			require.Equal(b, http.StatusOK, w.Code, w.Body.String())
		}
		require.NoError(b, places.Close())
	}
	open() // makes the index
	for b.Loop() {
		open()
	}
}
