package browsertest

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"regexp"
	"testing"

	"github.com/gobwas/ws"
	"github.com/gobwas/ws/wsutil"
	"github.com/stretchr/testify/require"
)

// firefox is a tab of Firefox, which is driven by WebDriver BiDi.
type firefox struct {
	t    *testing.T
	conn net.Conn
	tab  string
	last int // number of the last command
}

// browseFirefox starts Firefox with an empty profile, or skips the test where it is missing.
func browseFirefox(t *testing.T) *firefox {
	t.Helper()
	path, err := exec.LookPath("firefox-esr")
	if err != nil {
		path, err = exec.LookPath("firefox")
	}
	if err != nil {
		t.Skip("no firefox: apt-get install firefox-esr")
	}
	dir := browserDir(t)
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	cmd := exec.CommandContext(ctx, path, "--headless", "--no-remote", "--profile", dir, "--remote-debugging-port", "0")
	cmd.Env = append(os.Environ(), "HOME="+dir, "MOZ_HEADLESS_WIDTH=1280", "MOZ_HEADLESS_HEIGHT=860")
	told, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		stop()
		_ = cmd.Wait() // it was killed
	})
	at := make(chan string, 1)
	go func() {
		in := bufio.NewReader(told)
		for line, err := in.ReadString('\n'); err == nil; line, err = in.ReadString('\n') {
			if found := regexp.MustCompile(`WebDriver BiDi listening on (ws://\S+)`).FindStringSubmatch(line); found != nil {
				at <- found[1]
			}
		}
		_, _ = io.Copy(io.Discard, in)
	}()
	conn, _, _, err := ws.Dial(t.Context(), receive(t, at)+"/session")
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	f := &firefox{t: t, conn: conn}
	f.command("session.new", map[string]any{"capabilities": map[string]any{}}, nil)
	var tree struct{ Contexts []struct{ Context string } }
	f.command("browsingContext.getTree", map[string]any{}, &tree)
	require.NotEmpty(t, tree.Contexts)
	f.tab = tree.Contexts[0].Context
	return f
}

// command sends a command and decodes its result.
func (f *firefox) command(method string, params map[string]any, result any) {
	f.t.Helper()
	f.last++
	data, err := json.Marshal(map[string]any{"id": f.last, "method": method, "params": params})
	require.NoError(f.t, err)
	require.NoError(f.t, wsutil.WriteClientText(f.conn, data))
	for {
		data, err := wsutil.ReadServerText(f.conn)
		require.NoError(f.t, err)
		var answer struct {
			ID             int
			Error, Message string
			Result         json.RawMessage
		}
		require.NoError(f.t, json.Unmarshal(data, &answer))
		if answer.ID != f.last {
			continue // an event
		}
		require.Empty(f.t, answer.Error, answer.Message)
		if result != nil {
			require.NoError(f.t, json.Unmarshal(answer.Result, result))
		}
		return
	}
}

// open goes to the address that a server printed, and then to a page of it.
func (f *firefox) open(at, path string) {
	f.t.Helper()
	printed, ok := tokens.Load(at)
	require.True(f.t, ok)
	for _, url := range []string{printed.(string), "about:blank", at + path} {
		f.command("browsingContext.navigate", map[string]any{"context": f.tab, "url": url, "wait": "complete"}, nil)
	}
}

// run returns the text that a promise gives.
func (f *firefox) run(script string) string {
	f.t.Helper()
	var done struct {
		Result           struct{ Value string }
		ExceptionDetails json.RawMessage
	}
	f.command("script.evaluate", map[string]any{"expression": script, "target": map[string]any{"context": f.tab}, "awaitPromise": true}, &done)
	require.Empty(f.t, string(done.ExceptionDetails), fmt.Sprintf("%.200s", script))
	return done.Result.Value
}
