package workflow

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

var research = Manifest{"research", []string{"phase_1", "phase_2", "phase_3"}}

// childVariable asks the test's program to write to a log, with the count in
// it, and to leave.
const childVariable = "WORKFLOW_TEST_CHILD"

// TestMain keeps tests from sharing state with the tools of whoever runs them.
func TestMain(m *testing.M) {
	if count := os.Getenv(childVariable); count != "" {
		if err := writeAsChild(os.Args[len(os.Args)-1], count); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	state, err := os.MkdirTemp("", "workflow-state-")
	if err == nil {
		err = os.Setenv("AMPLIFIER_SESSION_STATE_HOME", state)
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	code := m.Run()
	if err := os.RemoveAll(state); err != nil {
		fmt.Println(err)
		code = 1
	}
	os.Exit(code)
}

// writeAsChild adds messages and phases, and prints each message's id and
// content once it is acknowledged.
func writeAsChild(dir, count string) error {
	n, err := strconv.Atoi(count)
	if err != nil {
		return err
	}
	st, err := sessionstore.Open(dir, nil)
	if err != nil {
		return err
	}
	l := New(st, research)
	for i := range n {
		content := fmt.Sprintf("%d of %d", i, os.Getpid())
		id, err := l.AddMessage(context.Background(), "s", nil, userRole, content)
		if err != nil {
			return err
		}
		fmt.Println(id, content)
		_, err = l.SavePhaseOutput(context.Background(), "s", PhaseOutput{PhaseID: content, Status: running})
		if err != nil {
			return err
		}
	}
	return nil
}

// child returns this program as one that writes count times to the log in dir.
func child(t testing.TB, dir string, count int) *exec.Cmd {
	t.Helper()
	program, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), program, dir)
	cmd.Env = append(os.Environ(), childVariable+"="+strconv.Itoa(count))
	return cmd
}

// newLog returns a log of a store with the session s, whose clock goes a
// second on with every look.
func newLog(t testing.TB, metadata string, manifests ...Manifest) (*Log, *sessionstore.Store) {
	t.Helper()
	st := openStore(t, t.TempDir())
	md, err := sessionstore.ParseMetadata([]byte(metadata))
	require.NoError(t, err)
	require.NoError(t, st.Create(t.Context(), "s", md))
	return ticking(New(st, manifests...)), st
}

func openStore(t testing.TB, dir string) *sessionstore.Store {
	t.Helper()
	st, err := sessionstore.Open(dir, nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, st.Close()) })
	return st
}

func ticking(l *Log) *Log {
	now := time.Date(2026, 11, 18, 12, 0, 0, 0, time.UTC)
	l.now = func() time.Time {
		now = now.Add(time.Second)
		return now
	}
	return l
}

func save(t testing.TB, l *Log, p PhaseOutput) int64 {
	t.Helper()
	id, err := l.SavePhaseOutput(t.Context(), "s", p)
	require.NoError(t, err)
	return id
}

func add(t testing.TB, l *Log, phase *string, role, content string) int64 {
	t.Helper()
	id, err := l.AddMessage(t.Context(), "s", phase, role, content)
	require.NoError(t, err)
	return id
}

func outputs(t testing.TB, l *Log) []PhaseRecord {
	t.Helper()
	records, err := l.PhaseOutputs(t.Context(), "s")
	require.NoError(t, err)
	return records
}

func conversation(t testing.TB, l *Log) []SessionMessage {
	t.Helper()
	messages, err := l.Conversation(t.Context(), "s", nil)
	require.NoError(t, err)
	return messages
}

func contents(messages []SessionMessage) []string {
	all := make([]string, len(messages))
	for i, m := range messages {
		all[i] = m.Content
	}
	return all
}

func readFile(t testing.TB, st *sessionstore.Store, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(st.Dir(), "s", name))
	require.NoError(t, err)
	return string(data)
}

func writeFile(t testing.TB, st *sessionstore.Store, name, content string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(st.Dir(), "s", name), []byte(content), 0o600))
}
