package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/examples/sessions/cli"
	"github.com/amplifier-go/sessionstorage/hybrid/dir"
)

// TestRemotesAddedAtOnce adds remotes by several programs at once, and one while another
// waits for the answer of its remote. None is lost.
func TestRemotesAddedAtOnce(t *testing.T) { //nolint:paralleltest // it sets the environment
	home := t.TempDir()
	t.Setenv("AMPLIFIER_HOME", filepath.Join(home, "device"))
	t.Setenv("AWS_ACCESS_KEY_ID", "test-access-key")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "test-secret-key")
	run := func(args ...string) string {
		var out bytes.Buffer
		if code := cli.Run(t.Context(), cli.Process{Args: args, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out}); code != 0 {
			return fmt.Sprint(args, code, &out)
		}
		return ""
	}
	place := filepath.Join(home, "share")
	require.NoError(t, dir.Provision(t.Context(), place))
	var once sync.Once
	between := ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		once.Do(func() { between = run("remote", "add", "between", "dir:"+place) })
		if r.Method == http.MethodGet {
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, "<Error><Code>NoSuchKey</Code></Error>")
			return
		}
		w.WriteHeader(http.StatusForbidden)
	}))
	defer server.Close()
	require.Empty(t, run("remote", "add", "slow", "s3://bucket/p?endpoint="+server.URL))
	require.Empty(t, between)

	var work sync.WaitGroup
	failed := make([]string, 8)
	for i := range failed {
		work.Go(func() { failed[i] = run("remote", "add", fmt.Sprint("r", i), "dir:"+place) })
	}
	work.Wait()
	require.Equal(t, make([]string, len(failed)), failed)
	out, _ := tool(t, filepath.Join(home, "device"), 0, "remote")
	for _, name := range []string{"slow", "between", "r0", "r7"} {
		require.Contains(t, out, name+"\t")
	}
	require.Equal(t, 10, strings.Count(out, "\n"), out)
}
