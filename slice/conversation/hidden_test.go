package conversation_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice/conversation"
)

func TestHidden(t *testing.T) {
	t.Parallel()
	rows := func(yield func(sessionstore.Message, error) bool) {
		for _, line := range []string{
			`{"role": "user", "content": "<system-reminder>x</system-reminder>"}`,
			`{"role": "user", "content": "Build it."}`,
			`{"role": "assistant", "content": "I look.", "tool_calls": [{"id": "1", "tool": "bash", "arguments": {"command": "ls"}}, {"id": "2", "tool": "read", "arguments": {"path": "a.go"}}]}`,
			`{"role": "tool", "tool_call_id": "1", "content": "a.go"}`,
			`{"role": "assistant", "content": "", "tool_calls": [{"id": "3", "tool": "bash", "arguments": {"command": "ls"}}, {"id": "4", "tool": "read", "arguments": {"path": "b.go"}}]}`,
			`{"role": "user", "content": "Again."}`,
			`{"role": "assistant", "content": "Done.", "tool_calls": [{"id": "5", "tool": "bash", "arguments": {"command": "ls"}}]}`,
			`{"role": "user", "content": "After."}`,
		} {
			m, err := sessionstore.ParseMessage([]byte(line))
			if !yield(m, err) {
				return
			}
		}
		yield(sessionstore.Message{}, errors.New("damaged"))
	}
	told := func(n int) (all []string, last error) {
		for note, err := range conversation.Hidden(rows, n) {
			if err != nil {
				return all, err
			}
			all = append(all, fmt.Sprint(note.Message, "/", note.Turn, " ", note.Kind, " ", note.Text))
		}
		return all, nil
	}
	all, err := told(7)
	require.NoError(t, err)
	require.Equal(t, "2/2 prompt Build it., 3/2 answer I look., 3/2 command ls, 3/2 file a.go, 5/2 file b.go, 6/3 prompt Again., 7/3 answer Done., 7/3 command ls", strings.Join(all, ", "))
	_, err = told(9)
	require.ErrorContains(t, err, "damaged")
	all, err = told(0)
	require.NoError(t, err)
	require.Empty(t, all)
}
