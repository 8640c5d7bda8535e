package inspect

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/powercut/history"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

func TestPython(t *testing.T) {
	p, err := StartPython(testenv.Python(t))
	require.NoError(t, err)
	defer func() { require.NoError(t, p.Close()) }()
	dir := t.TempDir()
	write := func(id, name, content string) {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, id), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, id, name), []byte(content), 0o600))
	}
	write("whole", "transcript.jsonl", `{"content":"a 1"}`+"\n"+`{"content":[{"type":"text","text":"b 2"}]}`+"\n")
	write("whole", "metadata.json", `{"n":3}`)
	write("backup", "transcript.jsonl", `{"content":`)
	write("backup", "transcript.jsonl.backup", `{"content":"old 1"}`)
	write("odd", "transcript.jsonl", "[]")
	none, err := p.load(nil)
	require.NoError(t, err)
	require.Empty(t, none)
	states, err := p.load([]place{{dir, "whole"}, {dir, "backup"}, {dir, "odd"}, {dir, "none"}})
	require.NoError(t, err)
	require.Len(t, states, 4)
	require.Equal(t, history.State{Rows: []string{"a", "b"}, Number: 3}, states[0])
	require.Equal(t, history.State{Rows: []string{"old"}, Number: -1}, states[1])
	require.NotEmpty(t, states[2].Err)
	require.Equal(t, history.State{Gone: true, Number: -1}, states[3])
}
