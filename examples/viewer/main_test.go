package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/cookiejar"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore/workflow"
)

func TestMain(m *testing.M) { testenv.Main(m, nil) }

// TestRun serves until it is told to stop.
func TestRun(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		args    []string
		address string
	}{
		{nil, `^http://127\.0\.0\.1:[1-9][0-9]*/\?token=[A-Z2-7]{26}$`},
		{[]string{"-no-token"}, `^http://127\.0\.0\.1:[1-9][0-9]*/$`},
		{[]string{"-write"}, `^http://127\.0\.0\.1:[1-9][0-9]*/\?token=[A-Z2-7]{26}$`},
		{[]string{"-no-token", "-resume", "agent resume"}, `^http://127\.0\.0\.1:[1-9][0-9]*/\?token=[A-Z2-7]{26}$`},
	} {
		ctx, stop := context.WithCancel(t.Context())
		out, in := io.Pipe()
		var wait sync.WaitGroup
		var failed error
		wait.Go(func() {
			failed = run(ctx, append([]string{"-dir", t.TempDir(), "-manifest", "m=a,b"}, tt.args...), in, io.Discard)
			_ = in.Close()
		})
		url, err := bufio.NewReader(out).ReadString('\n')
		require.NoError(t, err)
		url = strings.TrimSpace(url)
		require.Regexp(t, tt.address, url)
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
		require.NoError(t, err)
		jar, err := cookiejar.New(nil)
		require.NoError(t, err)
		answer, err := (&http.Client{Jar: jar}).Do(r)
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, answer.StatusCode)
		require.NoError(t, answer.Body.Close())
		stop()
		wait.Wait()
		require.NoError(t, failed)
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	s, _, err := parse([]string{"-dir", "d", "-open", "-manifest", "one=a,b", "-manifest", "two=c"})
	require.NoError(t, err)
	more, _, err := parse([]string{"-write", "-resume", "agent  go on"})
	require.NoError(t, err)
	require.Equal(t, settings{addr: "127.0.0.1:0", write: true, resume: []string{"agent", "go", "on"}}, more)
	require.Equal(t, settings{dir: "d", addr: "127.0.0.1:0", open: true, manifests: []workflow.Manifest{{Name: "one", Phases: []string{"a", "b"}}, {Name: "two", Phases: []string{"c"}}}}, s)
	for _, args := range [][]string{{"-manifest", "x"}, {"-manifest", "=a"}, {"-manifest", "x="}, {"-nothing"}, {"stray"}, {"-resume", " "}} {
		_, _, err := parse(args)
		require.Error(t, err, args)
	}
	var out strings.Builder
	require.NoError(t, run(t.Context(), []string{"-h"}, &out, io.Discard))
	require.Contains(t, out.String(), "-manifest NAME=PHASE,PHASE…")
	require.Error(t, run(t.Context(), []string{"-dir", "no such directory"}, io.Discard, io.Discard))
	require.Error(t, run(t.Context(), []string{"-dir", t.TempDir(), "-addr", ":0"}, io.Discard, io.Discard))
}
