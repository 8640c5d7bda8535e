package slice_test

import (
	"encoding/json"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice"
)

func TestPreviewFork(t *testing.T) {
	t.Parallel()
	st := openStore(t, "")
	broken(t, st)
	p, err := slice.PreviewFork(t.Context(), st, parentID, nil)
	require.NoError(t, err)
	id := parentID
	require.Equal(t, slice.Preview{
		ParentID: &id, Turn: 3, MaxTurns: 3, Messages: 6, Orphaned: true, OrphanedCount: 1, LastUser: "drei", LastAssistant: "b",
	}, p)
	p, err = slice.PreviewFork(t.Context(), st, parentID, new(1))
	require.NoError(t, err)
	text, err := json.Marshal(p)
	require.NoError(t, err)
	require.JSONEq(t, `{"parent_id": "parent", "turn": 1, "max_turns": 3, "message_count": 2, "has_orphaned_tools": false,
		"orphaned_tool_count": 0, "last_user_message": "eins <ü>", "last_assistant_message": "a"}`, string(text))
}

func TestPreviewForkShowsContent(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ü", 120)
	for _, tt := range []struct{ content, want string }{
		{`"` + long + `"`, long[:200]},
		{`[{"type": "image"}, {"type": "text", "text": "` + long + `"}, {"type": "text", "text": "x"}]`, long[:200]},
		{`[{"type": "image", "n": [1, 2.50, true, false, null, "it's"], "n": {}}]`, `[{'type': 'image', 'n': {}}]`},
		{`[1, 2.50, 1e400, -0, true, false, null, "it's", {"a": "b\n"}]`, `[1, 2.5, inf, 0, True, False, None, "it's", {'a': 'b\n'}]`},
		{`[]`, `[]`},
		{`[{"type": "text"}, {"type": "text", "text": "x"}]`, ""},
		{`{"a": 1}`, `{'a': 1}`},
		{`{}`, ""},
		{`5`, "5"},
		{`0`, ""},
		{`0.0`, ""},
		{`true`, "True"},
		{`null`, ""},
		{`["` + strings.Repeat("x", 500) + `"]`, "['" + strings.Repeat("x", 98)},
	} {
		t.Run(tt.content, func(t *testing.T) {
			t.Parallel()
			st := openStore(t, "")
			put(t, st, parentID, map[string]string{transcriptFile: `{"role": "user", "content": ` + tt.content + "}\n"})
			p, err := slice.PreviewFork(t.Context(), st, parentID, new(1))
			require.NoError(t, err)
			require.Equal(t, tt.want, p.LastUser)
		})
	}
}

func TestPreviewForkRefusals(t *testing.T) {
	t.Parallel()
	st := openStore(t, "")
	broken(t, st)
	put(t, st, "other", nil)
	put(t, st, "torn", map[string]string{transcriptFile: firstTwo + "{", metadataFile: `{"session_id": 5}`})
	_, err := slice.PreviewFork(t.Context(), st, parentID, new(4))
	require.EqualError(t, err, "Turn 4 out of range (1-3)")
	_, err = slice.PreviewFork(t.Context(), st, parentID, new(0))
	require.EqualError(t, err, "Turn 0 out of range (1-3)")
	_, err = slice.PreviewFork(t.Context(), st, parentID, new(-1))
	require.EqualError(t, err, "Turn -1 out of range (1-3)")
	_, err = slice.PreviewFork(t.Context(), st, "other", new(1))
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.ErrorContains(t, err, "No transcript.jsonl in "+filepath.Join(st.Dir(), "other"))
	_, err = slice.PreviewFork(t.Context(), st, "nobody", new(1))
	require.ErrorIs(t, err, sessionstore.ErrNotFound)
	p, err := slice.PreviewFork(t.Context(), st, "torn", new(2))
	require.NoError(t, err)
	require.ErrorIs(t, p.Damage, sessionstore.ErrCorrupt)
	require.Nil(t, p.ParentID)
	require.Equal(t, 4, p.Messages)
}
