package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid"
	"github.com/amplifier-go/sessionstorage/internal/test/cosmostest"
)

// unset keeps the environment of whoever runs the tests out of them.
func unset(t *testing.T) {
	for _, name := range []string{"COSMOS_ENDPOINT", "COSMOS_DATABASE", "COSMOS_CONTAINER", "COSMOS_KEY"} {
		t.Setenv(name, "")
	}
}

// TestStory tells the story in a pipe, and compares it with what the devices
// have.
func TestStory(t *testing.T) {
	unset(t)
	dir := t.TempDir()
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), []string{"-dir", dir, "-delay", "0"}, &screen{out: &out}))
	require.NotContains(t, out.String(), "\r")
	require.NotContains(t, out.String(), "\x1b")
	want, err := os.ReadFile("testdata/told.txt")
	require.NoError(t, err)
	require.Equal(t, string(want), plain(out.String(), dir))

	fork := regexp.MustCompile(`is kept as the session (\S+),`).FindStringSubmatch(out.String())
	require.NotNil(t, fork)
	for id, last := range map[string]string{"garden": "Are the beans ripe?", fork[1]: "Is the fence whole?"} {
		var first []byte
		for _, device := range []string{"laptop", "desk", "phone"} {
			got, err := os.ReadFile(filepath.Join(dir, device, id, "transcript.jsonl"))
			require.NoError(t, err)
			if first == nil {
				first = got
			}
			require.True(t, bytes.Equal(first, got), device)
		}
		lines := strings.Split(strings.TrimSuffix(string(first), "\n"), "\n")
		require.Len(t, lines, 5)
		require.Greater(t, len(lines[2]), longLine)
		require.Contains(t, lines[4], last)
	}
}

// plain replaces what differs from run to run.
func plain(text, dir string) string {
	text = strings.ReplaceAll(text, dir, "DIR")
	for from, to := range map[string]string{
		`http://127\.0\.0\.1:\d+/`:                       "URL",
		`[0-9a-f]{8}-[0-9a-f-]{27}`:                      "FORK",
		`SHA-256 [0-9a-f]{8}…`:                           "SHA-256 SUM…",
		`5\.0 MB in \d+ requests, for \d+ request units`: "5.0 MB in N requests, for N request units",
		`\d\.\d KB`: "N KB",
	} {
		text = regexp.MustCompile(from).ReplaceAllString(text, to)
	}
	// Half a minute after the first, on a busy machine, an entry of the catalogue is written too.
	return strings.Replace(text, "N KB in 3 requests", "N KB in 2 requests", 1)
}

// TestTerminal: on a terminal a bar comes and goes, and what stays is the same.
func TestTerminal(t *testing.T) {
	unset(t)
	dir := t.TempDir()
	var out bytes.Buffer
	s := &screen{out: &out, columns: func() int { return 80 }}
	require.NoError(t, run(t.Context(), []string{"-dir", dir, "-delay", "1ms"}, s))
	require.Contains(t, out.String(), "laptop sends  ░")
	_, apart, _ := strings.Cut(out.String(), "3. Both go on")
	apart, later, _ := strings.Cut(apart, "is kept as the session")
	require.NotContains(t, apart, "sends  ", "little is sent without a bar")
	require.Contains(t, later, "desk sends  ░", "the fork")
	require.Regexp(t, `phone fetches  █+░+  +\d+ %  [0-9.]+ MB of 10.0 MB`, out.String())
	for _, line := range strings.FieldsFunc(strings.ReplaceAll(out.String(), dir, "DIR"), func(r rune) bool { return r == '\r' || r == '\n' }) {
		require.LessOrEqual(t, len([]rune(strings.TrimPrefix(line, "\x1b[K"))), 120, line)
	}
	var stays []string
	for _, line := range strings.Split(out.String(), "\n") {
		stays = append(stays, line[strings.LastIndex(line, "\x1b[K")+1:])
	}
	want, err := os.ReadFile("testdata/told.txt")
	require.NoError(t, err)
	require.Equal(t, string(want), strings.ReplaceAll(plain(strings.Join(stays, "\n"), dir), "[K", ""))
}

func TestBar(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		done, total int64
		columns     int
		want        string
	}{
		"none":    {0, 5_000_000, 80, "   x  ░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░    0 %  0 B of 5.0 MB"},
		"half":    {2_500_000, 5_000_000, 80, "   x  ███████████████░░░░░░░░░░░░░░░   50 %  2.5 MB of 5.0 MB"},
		"more":    {7, 5, 80, "   x  ██████████████████████████████  100 %  5 B of 5 B"},
		"nothing": {0, 0, 80, "   x  ██████████████████████████████  100 %  0 B of 0 B"},
		"narrow":  {1000, 2000, 40, "   x  ███░░░░   50 %  1.0 KB of 2.0 KB"},
		"tight":   {1000, 2000, 20, "   x  50 %  1.0 KB "},
		"tiny":    {1, 2, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := bar("x", tt.done, tt.total, tt.columns)
			require.Equal(t, tt.want, got)
			require.LessOrEqual(t, len([]rune(got)), max(0, tt.columns-1))
		})
	}
}

// TestNamedAccount uses the account of the environment, and leaves tombstones
// there.
func TestNamedAccount(t *testing.T) {
	unset(t)
	memory := cosmostest.New(nil)
	server := httptest.NewServer(memory)
	defer server.Close()
	t.Setenv("COSMOS_ENDPOINT", server.URL)
	t.Setenv("COSMOS_KEY", memory.Key())
	t.Setenv("COSMOS_DATABASE", "mine")
	var out bytes.Buffer
	err := run(t.Context(), []string{"-dir", t.TempDir()}, &screen{out: &out})
	require.ErrorIs(t, err, hybrid.ErrBlocked, "there is no such database")
	require.NoError(t, run(t.Context(), []string{"-dir", t.TempDir(), "-provision"}, &screen{out: &out}))
	require.Contains(t, out.String(), "The account "+server.URL+", database mine, container sync.\n")
	require.Contains(t, out.String(), "The sessions are deleted in the account again")
	for _, d := range memory.Docs("mine", "sync") {
		require.Regexp(t, `"type":"(head|cat)"`, string(d.Body))
	}
}

func TestRefusals(t *testing.T) {
	unset(t)
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), []string{"-h"}, &screen{out: &out}))
	require.Equal(t, usage, out.String())
	require.ErrorContains(t, run(t.Context(), []string{"x"}, &screen{out: &out}), "expected no arguments")
	require.ErrorContains(t, run(t.Context(), []string{"-x"}, &screen{out: &out}), "-x")
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "desk"), 0o700))
	require.ErrorContains(t, run(t.Context(), []string{"-dir", dir}, &screen{out: &out}), "is there already")
	stopped, stop := context.WithCancel(t.Context())
	stop()
	require.ErrorIs(t, run(stopped, []string{"-dir", t.TempDir()}, &screen{out: &out}), context.Canceled)

	server := httptest.NewServer(cosmostest.New(nil))
	defer server.Close()
	t.Setenv("COSMOS_ENDPOINT", server.URL)
	t.Setenv("COSMOS_KEY", base64.StdEncoding.EncodeToString([]byte("another key")))
	require.ErrorIs(t, run(t.Context(), []string{"-dir", t.TempDir()}, &screen{out: &out}), hybrid.ErrBlocked)

	t.Setenv("COSMOS_KEY", "")
	t.Setenv("AZURE_TOKEN_CREDENTIALS", "EnvironmentCredential")
	for _, name := range []string{"AZURE_TENANT_ID", "AZURE_CLIENT_ID", "AZURE_CLIENT_SECRET"} {
		t.Setenv(name, "")
	}
	require.ErrorContains(t, run(t.Context(), []string{"-dir", t.TempDir()}, &screen{out: &out}), "sign in: ")
}

// TestSlowServer: the server of its own takes its time.
func TestSlowServer(t *testing.T) {
	unset(t)
	a, err := open(t.Context(), 10*time.Millisecond, false, nil, &screen{out: &bytes.Buffer{}})
	require.NoError(t, err)
	begun := time.Now()
	_, err = a.container.ReadItem(t.Context(), azcosmos.NewPartitionKeyString("x"), "x", nil)
	require.Error(t, err)
	require.GreaterOrEqual(t, time.Since(begun), 10*time.Millisecond)
	require.NoError(t, a.close())
}
