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

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid"
	"github.com/amplifier-go/sessionstorage/internal/test/cosmostest"
)

// unset keeps the environment of whoever runs the tests out of them.
func unset(t *testing.T) {
	for _, name := range []string{"COSMOS_ENDPOINT", "COSMOS_DATABASE", "COSMOS_CONTAINER", "COSMOS_KEY"} {
		t.Setenv(name, "")
	}
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv("TMP", os.Getenv("TMPDIR")) // of Windows
}

// TestStory tells the story over a directory and over a server, and compares it with what
// the devices have.
func TestStory(t *testing.T) {
	unset(t)
	want, err := os.ReadFile("testdata/told.txt")
	require.NoError(t, err)
	for _, place := range []string{"The directory DIR/remote", "A server of its own"} {
		var args []string
		if place == "A server of its own" {
			args = append(args, "-server")
		}
		var out bytes.Buffer
		require.NoError(t, run(t.Context(), args, &out))
		dir := regexp.MustCompile(`laptop and desk, in (.+)`).FindStringSubmatch(out.String())[1]
		require.Equal(t, strings.Replace(string(want), "The directory DIR/remote", place, 1), plain(out.String(), dir))

		fork := regexp.MustCompile(`is kept as the session (\S+),`).FindStringSubmatch(out.String())
		require.NotNil(t, fork)
		for id, last := range map[string]string{"garden": "Are the beans ripe?", fork[1]: "Is the fence whole?"} {
			first, err := os.ReadFile(filepath.Join(dir, "laptop", id, "transcript.jsonl"))
			require.NoError(t, err)
			other, err := os.ReadFile(filepath.Join(dir, "desk", id, "transcript.jsonl"))
			require.NoError(t, err)
			require.True(t, bytes.Equal(first, other))
			lines := strings.Split(strings.TrimSuffix(string(first), "\n"), "\n")
			require.Len(t, lines, 5)
			require.Greater(t, len(lines[2]), longLine)
			require.Contains(t, lines[4], last)
		}
	}
}

// plain replaces what differs from run to run.
func plain(text, dir string) string {
	text = strings.ReplaceAll(text, dir, "DIR")
	for from, to := range map[string]string{`[0-9a-f]{8}-[0-9a-f-]{27}`: "FORK", `\d+\.\d KB`: "N KB"} {
		text = regexp.MustCompile(from).ReplaceAllString(text, to)
	}
	return filepath.ToSlash(text)
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
	err := run(t.Context(), nil, &out)
	require.ErrorIs(t, err, hybrid.ErrBlocked, "there is no such database")
	require.NoError(t, run(t.Context(), []string{"-provision"}, &out))
	require.Contains(t, out.String(), "The account "+server.URL+", database mine, container sync is the remote")
	for _, d := range memory.Docs("mine", "sync") {
		require.Regexp(t, `"type":"(head|cat)"`, string(d.Body))
	}
}

func TestRefusals(t *testing.T) {
	unset(t)
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), []string{"-h"}, &out))
	require.Contains(t, out.String(), "-provision")
	require.ErrorContains(t, run(t.Context(), []string{"-x"}, &out), "-x")
	stopped, stop := context.WithCancel(t.Context())
	stop()
	require.ErrorIs(t, run(stopped, nil, &out), context.Canceled)

	server := httptest.NewServer(cosmostest.New(nil))
	defer server.Close()
	t.Setenv("COSMOS_ENDPOINT", server.URL)
	t.Setenv("COSMOS_KEY", base64.StdEncoding.EncodeToString([]byte("another key")))
	require.ErrorIs(t, run(t.Context(), nil, &out), hybrid.ErrBlocked)

	t.Setenv("COSMOS_KEY", "")
	t.Setenv("AZURE_TOKEN_CREDENTIALS", "EnvironmentCredential")
	for _, name := range []string{"AZURE_TENANT_ID", "AZURE_CLIENT_ID", "AZURE_CLIENT_SECRET"} {
		t.Setenv(name, "")
	}
	err := run(t.Context(), nil, &out)
	require.ErrorContains(t, err, "EnvironmentCredential")
}
