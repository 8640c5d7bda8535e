package workload

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/powercut/cloud"
	"github.com/amplifier-go/sessionstorage/internal/test/powercut/history"
	"github.com/amplifier-go/sessionstorage/internal/test/powercut/reader"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// synced is what a workload of devices did.
type synced struct {
	root     string
	requests []byte
	at       int
	all      []*history.History
}

func syncInto(t *testing.T, root string, seed uint64) *synced {
	t.Helper()
	t.Setenv("AMPLIFIER_HOME", filepath.Join(root, "home"))
	s := &synced{root: root}
	var log, requests bytes.Buffer
	position := func() uint64 { s.at++; return uint64(s.at) }
	account, err := cloud.New(t.Context(), &requests, position)
	require.NoError(t, err)
	r := reader.New(root)
	b := NewNotebook(&log, position, r, account, seed)
	c, err := b.client(root, "p", "durable")
	require.NoError(t, err)
	require.NoError(t, c.clouds(t.Context(), 20))
	require.NoError(t, c.st.Close())
	require.NoError(t, r.Close())
	s.all, err = history.Read(&log)
	require.NoError(t, err)
	s.requests = requests.Bytes()
	return s
}

// look lets the devices sync with the account, and returns what is wrong then.
func (s *synced) look(t *testing.T, a *cloud.Account) (wrong []string) {
	t.Helper()
	var subjects []history.Subject
	for _, h := range s.all {
		subjects = append(subjects, h.Subject)
	}
	states, err := a.Look(t.Context(), s.root, subjects)
	require.NoError(t, err)
	for i, h := range s.all {
		if v := h.Judge(s.at, states[i]); v.What != "" {
			wrong = append(wrong, fmt.Sprintf("%+v: %s, lost %d: %+v", h.Subject, v.What, v.Lost, states[i]))
		}
	}
	return wrong
}

func (s *synced) account(t *testing.T) *cloud.Account {
	t.Helper()
	a, err := cloud.Again(context.Background(), bytes.NewReader(s.requests), s.at, io.Discard, func() uint64 { return 0 })
	require.NoError(t, err)
	return a
}

// TestClouds lets devices write and sync, and judges what each of them finds when
// no power was cut, and then without the state of the sync.
func TestClouds(t *testing.T) {
	seed := testenv.Seed(t)
	for i := range testenv.Share[uint64](1, 2, 20) {
		s := syncInto(t, t.TempDir(), seed+i)
		a := s.account(t)
		require.Empty(t, s.look(t, a), "seed %d", seed+i)
		states, err := filepath.Glob(filepath.Join(s.root, "p-cloud-*", ".sessionstore", "sync"))
		require.NoError(t, err)
		require.Len(t, states, 2)
		for _, name := range states {
			require.NoError(t, os.RemoveAll(name))
		}
		require.Empty(t, s.look(t, a), "seed %d, without state", seed+i)
	}
}

// TestCloudsTell takes the last row from a transcript that was sent: the devices
// take that for a rewind, and it is told as a loss.
func TestCloudsTell(t *testing.T) {
	s := syncInto(t, t.TempDir(), 1)
	a := s.account(t)
	require.Empty(t, s.look(t, a))
	files, err := filepath.Glob(filepath.Join(s.root, "p-cloud-durable", "*", "transcript.jsonl"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	content, err := os.ReadFile(files[0])
	require.NoError(t, err)
	rest := content[:strings.LastIndexByte(strings.TrimSuffix(string(content), "\n"), '\n')+1]
	require.NoError(t, os.WriteFile(files[0], rest, 0o600))
	require.NotEmpty(t, s.look(t, a))
}
