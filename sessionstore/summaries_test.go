package sessionstore_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

func TestSummaryMembers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, user("<system-reminder>no")+"\n"+
		user("\\u202eHello\\u0007 there\\nsecond")+"\n"+
		`{"role": "assistant", "tool_calls": [{"id": "a"}, {"id": "b"}]}`+"\n"+
		`{"role": "tool", "tool_call_id": "a", "content": "x"}`+"\n", dir, "s", transcriptFile)
	write(t, `{"session_id": "s", "created": "2026-11-18T12:00:00+00:00", "model": "m", "bundle": "bundle:b", "working_dir": "/w"}`, dir, "s", metadataFile)
	st := open(t, dir, nil)
	for range 3 {
		s, err := st.Summary(t.Context(), "s")
		require.NoError(t, err)
		info, err := st.List(t.Context(), nil)
		require.NoError(t, err)
		require.True(t, s.Created.Equal(noon))
		s.Created = noon
		require.Equal(t, sessionstore.Summary{
			ID: "s", Title: "Hello there", FirstPrompt: "Hello there\nsecond", Turns: 2, Prompts: 1, Messages: 4,
			Bytes: int64(len(read(t, dir, "s", transcriptFile))), Created: noon, Changed: info[0].Modified, Model: "m", Bundle: "b", WorkingDir: "/w", Unanswered: 1,
		}, s)
	}
}
