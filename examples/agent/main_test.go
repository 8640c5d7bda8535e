package main

import (
	"bytes"
	"net/http/httptest"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid"
	"github.com/amplifier-go/sessionstorage/internal/cosmostest"
	"github.com/amplifier-go/sessionstorage/internal/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

func TestMain(m *testing.M) { testenv.Main(m, nil) }

// TestAgent goes on with a session on one device, and then on another one.
func TestAgent(t *testing.T) {
	account := cosmostest.New(nil)
	require.NoError(t, account.CreateContainer(hybrid.DefaultDatabase, hybrid.DefaultContainer, ""))
	server := httptest.NewServer(account)
	t.Cleanup(server.Close)
	t.Setenv("COSMOS_ENDPOINT", server.URL+"/")
	t.Setenv("COSMOS_KEY", account.Key())
	t.Setenv("USER", "ada")

	id, one, two := sessionstore.NewID(), t.TempDir(), t.TempDir()
	require.Contains(t, ask(t, one, id, "Will it rain?"), `You asked "Will it rain?"; I know 0 messages before that.`)
	require.Contains(t, ask(t, one, id, "And tomorrow?"), "I know 2 messages before that.")
	said := ask(t, two, id, "On another device?")
	require.Contains(t, said, "I know 4 messages before that.")

	fork := regexp.MustCompile(`another answer: agent -id (\S+)`).FindStringSubmatch(said)[1]
	require.Contains(t, ask(t, one, fork, "Once more?"), "I know 6 messages before that.")
}

// TestThreeDevices is the story of the README: a laptop, a desktop and a server
// take turns, and the laptop goes on without a network.
func TestThreeDevices(t *testing.T) {
	account := cosmostest.New(nil)
	require.NoError(t, account.CreateContainer(hybrid.DefaultDatabase, hybrid.DefaultContainer, ""))
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
	require.Error(t, run(t.Context(), new(bytes.Buffer), dir, "../elsewhere", "three"))
}

func ask(t *testing.T, dir, id, question string) string {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), &out, dir, id, question))
	return out.String()
}
