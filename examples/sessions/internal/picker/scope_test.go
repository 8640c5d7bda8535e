package picker

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestScope begins with a project, shows all of them with a key, and again the project.
func TestScope(t *testing.T) {
	t.Parallel()
	m, todo := newRecorded(Options{Now: time.Now, Project: "-a"})
	require.Equal(t, []call{{"list", 1, "-a", false}}, todo)
	a, b := at("/a", "1", "weather"), at("/b", "2", "pool")
	m.Update(Listed{Gen: 1, Sessions: []Session{a}, Done: true})
	m.Update(Previewed{Key: a.Key})
	require.Equal(t, 1, m.list.shown)
	require.Contains(t, press(m, "ctrl+a"), call{"list", 2, "", false})
	m.Update(Listed{Gen: 2, Sessions: []Session{b, a}, Done: true})
	require.Equal(t, 2, m.list.shown)
	require.Equal(t, a.Key, m.list.choice(), "the choice stays")
	require.Contains(t, press(m, "ctrl+a"), call{"list", 3, "-a", false})
	m.Update(Listed{Gen: 3, Sessions: []Session{a}, Done: true})
	require.Equal(t, 1, m.list.shown)
	require.Empty(t, press(newModel(t), "ctrl+a"), "all are shown already")
}
