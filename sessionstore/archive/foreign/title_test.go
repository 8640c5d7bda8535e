package foreign

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSummaries has titles that stand in the file of another session: they name the
// session that has the record which they are of, and no other one.
func TestSummaries(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	dir := filepath.Join(home, "projects", "-w")
	require.NoError(t, os.MkdirAll(dir, 0o700))
	of := func(leaf, title string) string {
		return fmt.Sprintf(`{"type":"summary","summary":%q,"leafUuid":%q}`+"\n", title, leaf)
	}
	ai := `{"type":"ai-title","aiTitle":"Its own"}` + "\n"
	for name, text := range map[string]string{
		"a": many("a", 2),
		"b": of("a-assistant-0", "Old of a") + of("a-assistant-1", "Of a") + of("gone", "Of none") + many("b", 1),
		"c": of("d-assistant-0", "Of d") + many("c", 1) + of("c-assistant-0", "Of c"),
		"d": many("d", 1) + ai,
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name+".jsonl"), []byte(text), 0o600))
	}
	all, err := Find(t.Context(), Claude, &FindOptions{Home: home})
	require.NoError(t, err)
	p, names := projects(t), map[string]string{}
	for _, h := range all {
		report, err := Import(t.Context(), p, h, nil)
		require.NoError(t, err)
		st, err := p.Store(report.Project)
		require.NoError(t, err)
		md, err := st.Metadata(t.Context(), report.Sessions[0].ID)
		require.NoError(t, err)
		names[h.ID] = md.Text("name")
	}
	require.Equal(t, map[string]string{"a": "Of a", "b": "", "c": "Of c", "d": "Its own"}, names)
}
