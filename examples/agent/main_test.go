package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/amplifier-go/sessionstorage/hybrid/cosmos"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/cosmostest"
	"github.com/amplifier-go/sessionstorage/internal/test/strict"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

func TestMain(m *testing.M) {
	if os.Getenv("RUN_AGENT") != "" {
		main()
		return
	}
	testenv.InMemory()
	testenv.Main(m, nil)
}

// TestAgent goes on with a session on one device, and then on another one.
func TestAgent(t *testing.T) {
	account := cosmostest.New(nil)
	require.NoError(t, account.CreateContainer(cosmos.DefaultDatabase, cosmos.DefaultContainer, ""))
	server := httptest.NewServer(account)
	t.Cleanup(server.Close)
	t.Setenv("COSMOS_ENDPOINT", server.URL+"/")
	t.Setenv("COSMOS_KEY", account.Key())
	t.Setenv("USER", "ada")

	id, one, two := sessionstore.NewID(), t.TempDir(), t.TempDir()
	require.Contains(t, ask(t, one, id, "Will it rain?"), `You asked "Will it rain?"; I know 0 messages before that.`)
	require.NotContains(t, ask(t, one, id, "And tomorrow?"), "another answer", "nobody asked for a fork")
	said := ask(t, two, id, "-fork", "On another device?")
	require.Contains(t, said, "I know 4 messages before that.")

	fork := regexp.MustCompile(`another answer: agent -id (\S+)`).FindStringSubmatch(said)[1]
	require.Contains(t, ask(t, one, fork, "Once more?"), "I know 6 messages before that.")
}

// TestThreeDevices is the story of the README: a laptop, a desktop and a server
// take turns, and the laptop goes on without a network.
func TestThreeDevices(t *testing.T) {
	account := cosmostest.New(nil)
	require.NoError(t, account.CreateContainer(cosmos.DefaultDatabase, cosmos.DefaultContainer, ""))
	running := httptest.NewServer(account)
	t.Cleanup(running.Close)
	t.Setenv("COSMOS_ENDPOINT", running.URL+"/")
	t.Setenv("COSMOS_KEY", account.Key())
	t.Setenv("USER", "ada")
	const id = "forecast"
	laptop, desktop, server := t.TempDir(), t.TempDir(), t.TempDir()

	require.Contains(t, ask(t, laptop, id, "Will it rain?"), "I know 0 messages")
	require.Contains(t, ask(t, desktop, id, "And tomorrow?"), "I know 2 messages")
	require.Contains(t, ask(t, server, id, "And on Sunday?"), "I know 4 messages")

	t.Setenv("COSMOS_ENDPOINT", "") // on a train
	require.Contains(t, ask(t, laptop, id, "Shall I take a coat?"), "I know 2 messages")
}

func TestAgentWithoutAccount(t *testing.T) {
	t.Setenv("COSMOS_ENDPOINT", "")
	id, dir := sessionstore.NewID(), t.TempDir()
	ask(t, dir, id, "one")
	require.Contains(t, ask(t, dir, id, "two"), "I know 2 messages before that.")
	require.Contains(t, ask(t, dir, "ignored", "-last", "and on"), "I know 4 messages before that.")
	require.ErrorIs(t, run(t.Context(), new(bytes.Buffer), "-dir", t.TempDir(), "-last", "none"), sessionstore.ErrNotFound)
	require.Error(t, run(t.Context(), new(bytes.Buffer), "-dir", dir, "-id", "../elsewhere", "three"))
}

// TestAgentWithoutShare runs the agent while the shared directory is not mounted: it answers,
// and makes nothing at the mount point.
func TestAgentWithoutShare(t *testing.T) {
	t.Setenv("USER", "ada")
	id, dir, share := sessionstore.NewID(), t.TempDir(), filepath.Join(t.TempDir(), "share")
	require.Contains(t, ask(t, dir, id, "-remote", "dir:"+share, "-provision", "Will it rain?"), "I know 0 messages")
	require.NoError(t, os.Rename(share, share+" elsewhere"))
	require.Contains(t, ask(t, dir, id, "-remote", "dir:"+share, "And tomorrow?"), "I know 2 messages")
	require.NoDirExists(t, share)
	require.NoError(t, os.Mkdir(share, 0o700))
	require.Contains(t, ask(t, dir, id, "-remote", "dir:"+share, "And on Sunday?"), "I know 4 messages")
	require.NoError(t, os.Remove(share), "it is empty")
	require.NoError(t, os.Rename(share+" elsewhere", share))
	require.Contains(t, ask(t, dir, id, "-remote", "dir:"+share, "Shall I take a coat?"), "I know 6 messages")
	require.Contains(t, ask(t, t.TempDir(), id, "-remote", "dir:"+share, "On another device?"), "I know 8 messages")
}

func ask(t *testing.T, dir, id string, question ...string) string {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), &out, slices.Concat([]string{"-dir", dir, "-id", id}, question)...))
	return out.String()
}

// TestAgentWithoutNetwork gives the agent an account that cannot be reached: where nothing
// listens, where nobody answers, and where each connection is closed. It answers, the turn is
// on the disk, and it makes two connections at most. How long it waits is a matter of
// hybrid.TestNoNetworkNoWait.
func TestAgentWithoutNetwork(t *testing.T) {
	t.Setenv("COSMOS_KEY", "AA==")
	t.Setenv("USER", "ada")
	for name, accept := range map[string]func(net.Conn) error{
		"closed port": nil,
		"mute":        func(net.Conn) error { return nil },
		"closes":      net.Conn.Close,
	} {
		t.Run(name, func(t *testing.T) {
			account, err := net.Listen("tcp", "127.0.0.1:0")
			require.NoError(t, err)
			t.Setenv("COSMOS_ENDPOINT", "http://"+account.Addr().String()+"/")
			connections, ended := 0, make(chan struct{})
			go func() {
				defer close(ended)
				for accept != nil {
					c, err := account.Accept()
					if err != nil {
						return
					}
					defer c.Close()
					connections++
					assert.NoError(t, accept(c))
				}
			}()
			if accept == nil {
				require.NoError(t, account.Close())
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // ends a hang
			defer cancel()
			dir := t.TempDir()
			for n := range 2 {
				var out bytes.Buffer
				require.NoError(t, run(ctx, &out, "-dir", dir, "-id", "s", "Will it rain?"))
				require.Contains(t, out.String(), fmt.Sprintf("I know %d messages before that.", 2*n))
			}
			_ = account.Close() // it may be closed
			<-ended
			require.LessOrEqual(t, connections, 2*2)
		})
	}
}

// TestEditor serves an editor, which allows the call of a tool: with and without a model.
func TestEditor(t *testing.T) {
	asks, err := modelOf("")
	require.NoError(t, err)
	edit(t, asks)
	p := providersOf(t)[0]
	p.server.Script(strict.Answer{Parts: append(p.thinking, strict.Call("c1", toolName, `{}`))}, strict.Answer{Parts: []strict.Part{strict.Text("Done.")}})
	for _, v := range p.env(p.server.URL) {
		name, value, _ := strings.Cut(v, "=")
		t.Setenv(name, value)
	}
	asks, err = modelOf(p.model)
	require.NoError(t, err)
	edit(t, asks)
	require.Empty(t, p.server.Refusals())
	require.Len(t, p.server.Requests(), 2)
}

func edit(t *testing.T, asks *model) {
	t.Helper()
	in, requests := io.Pipe()
	answers, out := io.Pipe()
	served := make(chan error, 1)
	dir := t.TempDir()
	go func() { served <- serve(t.Context(), dir, asks, in, out) }()
	lines := bufio.NewScanner(answers)
	// until sends a line and returns the answer that has a text.
	until := func(line, text string) string {
		_, err := io.WriteString(requests, line+"\n")
		require.NoError(t, err)
		for lines.Scan() {
			if strings.Contains(lines.Text(), text) {
				return lines.Text()
			}
		}
		require.FailNow(t, "no answer")
		return ""
	}
	made := until(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":%q,"mcpServers":[]}}`, dir), `"id":1`)
	id := regexp.MustCompile(`"sessionId":"([^"]*)"`).FindStringSubmatch(made)[1]
	asked := until(`{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"`+id+`","prompt":[{"type":"text","text":"list"}]}}`, "request_permission")
	require.Contains(t, asked, "list_files")
	until(`{"jsonrpc":"2.0","id":1,"result":{"outcome":{"outcome":"selected","optionId":"once"}}}`, `"completed"`)
	ended := until("", `"id":2`)
	require.Contains(t, ended, "end_turn")
	require.NoError(t, requests.Close())
	require.NoError(t, <-served)
}
