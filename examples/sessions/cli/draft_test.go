package cli

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/turn"
)

// TestShowDraft shows a session while an answer has a draft, and after another row made it void.
func TestShowDraft(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	st, err := sessionstore.Open(filepath.Join(root, "p", "sessions"), nil)
	require.NoError(t, err)
	defer st.Close()
	prompt, err := sessionstore.Text("user", "Will it rain?", time.Unix(0, 0))
	require.NoError(t, err)
	begun, err := turn.Begin(t.Context(), st, "s", prompt, nil)
	require.NoError(t, err)
	require.NoError(t, begun.Think("clouds"))
	require.NoError(t, begun.Say("It will \x1b[31mrain"))
	require.NoError(t, begun.Close())
	call := func(args ...string) string {
		var out, told bytes.Buffer
		args = append(args, "--sessions-root="+root, "--project=p")
		code := Run(context.Background(), Process{Args: args, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &told, Env: func(string) string { return "" }})
		require.Zero(t, code, told.String())
		return out.String() + told.String()
	}
	require.Regexp(t, `(?m)^Draft\tIt will .*rain$`, call("show", "s"))
	require.NotContains(t, call("show", "s"), "\x1b")
	require.Regexp(t, `(?s)Will it rain\?.*Not stored: .*It will .*rain`, call("show", "s", "-T"))
	require.Regexp(t, `"draft": \{\s+"prompt": 1,`, call("show", "s", "--json"))
	for _, args := range [][]string{{"show", "s", "--last", "1"}, {"verify", "s"}, {"diagnose", "s"}} {
		require.NotContains(t, call(args...), "It will", args)
	}

	require.NoError(t, st.Append(t.Context(), "s", prompt))
	require.NotContains(t, call("show", "s", "-T"), "It will")
	require.NotContains(t, call("show", "s", "--json"), "draft")
}
