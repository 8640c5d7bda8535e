package sessionstore_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// TestSummaryKinds tells what kind of session metadata makes one.
func TestSummaryKinds(t *testing.T) {
	t.Parallel()
	type kind struct{ Fork, Sub, Internal bool }
	tests := []struct {
		id, metadata string
		want         kind
	}{
		{"plain", `{}`, kind{}},
		{"a_b", `{}`, kind{Sub: true}},
		{"a_chat", `{"session_visibility": "chat"}`, kind{}},
		{"child", `{"parent_id": "p"}`, kind{Sub: true}},
		{"orphan_x", `{"parent_id": null}`, kind{}},
		{"chatchild", `{"parent_id": "p", "session_visibility": "chat"}`, kind{Sub: true}},
		{"newer", `{"parent_session_id": "p"}`, kind{Sub: true}},
		{"fork", `{"parent_id": "p", "forked_from_turn": 0, "forked_at": "now"}`, kind{Fork: true}},
		{"my_fork", `{"parent_id": "p", "forked_from_turn": 3, "forked_at": "now", "session_visibility": "internal"}`, kind{Fork: true}},
		{"nofork", `{"parent_id": "p", "forked_from_turn": 3}`, kind{Sub: true}},
		{"internal", `{"parent_id": "p", "session_visibility": "internal"}`, kind{Internal: true}},
	}
	dir := t.TempDir()
	for _, tt := range tests {
		write(t, user("x")+"\n", dir, tt.id, transcriptFile)
		write(t, tt.metadata, dir, tt.id, metadataFile)
	}
	all := summaries(t, open(t, dir, nil))
	for _, tt := range tests {
		s := all[tt.id]
		require.Equal(t, tt.want, kind{s.Fork, s.Sub, s.Internal}, tt.id)
	}
}

// TestSummaryConflictOf tells which sessions keep what one of two devices wrote at once, also
// when the index remembers them. Forks of them are not.
func TestSummaryConflictOf(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for id, metadata := range map[string]string{
		"copy": `{"parent_id": "talk", "conflict_of": "talk", "forked_from_turn": 1, "forked_at": "now", "name": "n"}`,
		"fork": `{"parent_id": "copy", "conflict_of": "talk", "forked_from_turn": 1, "forked_at": "now"}`,
		"talk": `{"conflict_of": ""}`,
		"none": `{"parent_id": "", "conflict_of": "", "forked_from_turn": 1, "forked_at": "now"}`,
		"odd":  `{"parent_id": "talk", "conflict_of": ["talk"], "forked_from_turn": 1, "forked_at": "now"}`,
	} {
		write(t, user("x")+"\n", dir, id, transcriptFile)
		write(t, metadata, dir, id, metadataFile)
	}
	for range 2 {
		found := map[string]string{}
		for id, s := range summaries(t, open(t, dir, nil)) {
			if s.ConflictOf != "" {
				found[id] = s.Title + " of " + s.ConflictOf
			}
		}
		require.Equal(t, map[string]string{"copy": "n of talk"}, found)
	}
}

// TestSummaryOfImport has the time of the last line in the local zone, whether it was read or comes
// from the index.
func TestSummaryOfImport(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, user(strings.Repeat("x", 1<<20))+"\n", dir, "s", transcriptFile)
	write(t, `{"import": {}}`, dir, "s", metadataFile)
	require.NoError(t, os.Chtimes(filepath.Join(dir, "s", transcriptFile), noon, noon))
	for more := 1; more >= 0; { // once more when the index is there
		st := open(t, dir, nil)
		require.Equal(t, noon.Local(), summaries(t, st)["s"].Changed)
		require.NoError(t, st.Close())
		if _, files := indexed(t, dir); len(files) > 1 {
			more--
		}
	}
}

// TestSummaryTexts tells what is shown of names and prompts.
func TestSummaryTexts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, `{"role": "user", "content": [{"type": "image"}]}`+"\n"+
		`{"role": "user", "content": "<system-reminder source=\"hook\">no", "metadata": {"ephemeral": true}}`+"\n"+
		`{"role": "user", "content": " \n\u001b[31mred\u2066 x\tone\nnext"}`+"\n", dir, "s", transcriptFile)
	st := open(t, dir, nil)
	s, err := st.Summary(t.Context(), "s")
	require.NoError(t, err)
	require.Equal(t, sessionstore.Summary{
		ID: "s", Title: "[31mred x one", FirstPrompt: "[31mred x\tone\nnext", Turns: 3, Prompts: 2, Messages: 3, Bytes: s.Bytes, Changed: s.Changed,
	}, s)
	write(t, `{"name": "\u202eNamed\nlines", "model": "unknown"}`, dir, "s", metadataFile)
	s, err = st.Summary(t.Context(), "s")
	require.NoError(t, err)
	require.Equal(t, "Named", s.Title)
	require.Empty(t, s.Model)
}

// TestSummaryOfTornMetadata marks a session whose metadata cannot be read, with and without its
// backup, at every look, and no longer when it was mended.
func TestSummaryOfTornMetadata(t *testing.T) {
	t.Parallel()
	for _, backup := range []string{"", `{"name": "kept"}`} {
		dir := t.TempDir()
		write(t, user("q1")+"\n", dir, "s", transcriptFile)
		write(t, `{"name": "ke`, dir, "s", metadataFile)
		if backup != "" {
			write(t, backup, dir, "s", metadataFile+".backup")
		}
		st := open(t, dir, nil)
		for range 3 {
			sum, err := st.Summary(t.Context(), "s")
			require.NoError(t, err)
			require.True(t, sum.Damaged)
			require.Equal(t, 1, sum.Messages)
		}
		_, err := st.UpdateMetadata(t.Context(), "s", func(md *sessionstore.Metadata) error { return md.Set("name", "mended") })
		require.NoError(t, err)
		sum, err := st.Summary(t.Context(), "s")
		require.NoError(t, err)
		require.False(t, sum.Damaged)
		require.Equal(t, "mended", sum.Title)
	}
}
