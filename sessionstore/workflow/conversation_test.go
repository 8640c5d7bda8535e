package workflow

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

func TestConversation(t *testing.T) {
	t.Parallel()
	l, st := newLog(t, `{}`, research)
	require.Equal(t, []SessionMessage{}, conversation(t, l))
	require.Equal(t, int64(1), add(t, l, new("phase_1"), userRole, "a"))
	require.Equal(t, int64(2), add(t, l, nil, assistantRole, ""))
	require.Equal(t, int64(3), add(t, New(st), new("phase_2"), systemRole, "c"))
	require.Equal(t, int64(4), add(t, l, new("phase_1"), userRole, "d"))
	all := conversation(t, l)
	require.Len(t, all, 4)
	require.Equal(t, SessionMessage{ID: 1, SessionID: "s", PhaseID: new("phase_1"), Role: "user", Content: "a", CreatedAt: all[0].CreatedAt}, all[0])
	one, err := l.Conversation(t.Context(), "s", new("phase_1"))
	require.NoError(t, err)
	require.Equal(t, []string{"a", "d"}, contents(one))
	none, err := l.Conversation(t.Context(), "s", new(""))
	require.NoError(t, err)
	require.Equal(t, []SessionMessage{}, none, "a message without phase is of no phase")
}

// TestConversationErrors are the errors of the original contract.
func TestConversationErrors(t *testing.T) {
	t.Parallel()
	l, _ := newLog(t, `{}`)
	for _, role := range []string{"developer", "", "User"} {
		_, err := l.AddMessage(t.Context(), "none", nil, role, "x")
		require.EqualError(t, err, "Invalid role: "+role+". Must be 'user', 'assistant', or 'system'", "the role comes first")
	}
	_, err := l.AddMessage(t.Context(), "none", nil, userRole, "x")
	require.EqualError(t, err, "Session none not found")
	require.ErrorIs(t, err, sessionstore.ErrNotFound)
}

// TestOrder has times that are equal, written otherwise, and unreadable.
func TestOrder(t *testing.T) {
	t.Parallel()
	l, st := newLog(t, `{}`)
	line := func(id int, at string) string {
		return fmt.Sprintf(`{"id": %d, "role": "user", "content": "%d", "created_at": %q}`+"\n", id, id, at)
	}
	writeFile(t, st, conversationFile, line(5, "2026-01-01T00:00:00.000Z")+line(2, "2026-01-01T01:00:00+01:00")+
		line(9, "2025-12-31T23:59:59.999Z")+line(3, "soon")+line(1, "2026-01-02T00:00:00.000Z"))
	require.Equal(t, []string{"3", "9", "2", "5", "1"}, contents(conversation(t, l)))
	require.Equal(t, int64(10), add(t, l, nil, userRole, "x"))
}

// TestTorn cuts the log at every byte of its last line, and goes on.
func TestTorn(t *testing.T) {
	t.Parallel()
	l, st := newLog(t, `{}`)
	add(t, l, nil, userRole, "one")
	first := readFile(t, st, conversationFile)
	add(t, l, nil, userRole, "two")
	both := readFile(t, st, conversationFile)
	for size := len(first); size <= len(both); size++ {
		writeFile(t, st, conversationFile, both[:size])
		want := []string{"one"}
		if size >= len(both)-1 {
			want = append(want, "two") // whole but for its LF
		}
		require.Equal(t, want, contents(conversation(t, l)))
		require.Equal(t, both[:size], readFile(t, st, conversationFile), "reading repairs nothing")
		require.Equal(t, int64(len(want)+1), add(t, l, nil, userRole, "three"))
		require.Equal(t, append(want, "three"), contents(conversation(t, l)))
		require.Equal(t, len(want)+1, strings.Count(readFile(t, st, conversationFile), "\n"))
	}
	for name, tail := range map[string]string{"zeros": "\x00\x00\x00", "spaces": "  ", "no object": "17", "zeros in its middle": "{\x00\x00}\n"} {
		writeFile(t, st, conversationFile, both+tail)
		require.Equal(t, int64(3), add(t, l, nil, userRole, "three"), name)
		require.Len(t, conversation(t, l), 3, name)
	}
	writeFile(t, st, conversationFile, "")
	require.Equal(t, int64(1), add(t, l, nil, userRole, "first"))
}

// TestDamaged has lines in the log that are no records.
func TestDamaged(t *testing.T) {
	t.Parallel()
	for name, bad := range map[string]string{"no JSON": `{"id": 2, "ro`, "null": "null", "wrong type": `{"id": "2", "content": "secret"}`, "binary": "\x01\xff"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, st := newLog(t, `{}`)
			add(t, l, nil, userRole, "one")
			first := readFile(t, st, conversationFile)
			writeFile(t, st, conversationFile, first+"\n"+bad+"\n")
			require.Equal(t, int64(3), add(t, l, nil, userRole, "three"), "the damaged line may have had 2")
			require.True(t, strings.HasPrefix(readFile(t, st, conversationFile), first+"\n"+bad+"\n"), "it is kept")
			messages, err := l.Conversation(t.Context(), "s", nil)
			require.Equal(t, []string{"one", "three"}, contents(messages))
			var damage *sessionstore.CorruptError
			require.ErrorAs(t, err, &damage)
			require.ErrorIs(t, err, sessionstore.ErrCorrupt)
			require.Equal(t, 3, damage.Line)
			require.Equal(t, int64(len(first)+1), damage.Offset)
			require.NotContains(t, err.Error(), "secret")
		})
	}
}

func TestIDs(t *testing.T) {
	t.Parallel()
	l, st := newLog(t, `{}`)
	writeFile(t, st, conversationFile, `{"role": "user", "content": "a"}`+"\n"+`{"id": -7, "content": "b"}`+"\n")
	require.Equal(t, int64(3), add(t, l, nil, userRole, "c"))
	messages := conversation(t, l)
	require.Equal(t, []int64{1, 2, 3}, []int64{messages[0].ID, messages[1].ID, messages[2].ID})
	last := fmt.Sprintf(`{"id": %d}`+"\n{}\n?\n", int64(math.MaxInt64))
	writeFile(t, st, conversationFile, last)
	_, err := l.AddMessage(t.Context(), "s", nil, userRole, "d")
	require.EqualError(t, err, `add message to session "s": no id is left`)
	require.Equal(t, last, readFile(t, st, conversationFile))
}

// TestGoroutines writes one log from many goroutines and stores at once.
func TestGoroutines(t *testing.T) {
	t.Parallel()
	l, st := newLog(t, `{}`)
	logs := []*Workflow{l, New(st), New(openStore(t, st.Dir()))}
	const each = 10
	done := make(chan error)
	for _, l := range logs {
		go func() {
			for range each {
				if _, err := insist(func() (int64, error) { return l.AddMessage(t.Context(), "s", nil, userRole, "x") }); err != nil {
					done <- err
					return
				}
			}
			done <- nil
		}()
	}
	for range logs {
		require.NoError(t, <-done)
	}
	seen := map[int64]bool{}
	for _, m := range conversation(t, l) {
		seen[m.ID] = true
	}
	require.Len(t, seen, each*len(logs))
	require.True(t, seen[1] && seen[int64(each*len(logs))])
}
