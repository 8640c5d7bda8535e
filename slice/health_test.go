package slice_test

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/amplifier-go/sessionstorage/sessionstore/projects"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice"
)

// Healthy and Broken choose sessions of a search.
func TestHealthyAndBroken(t *testing.T) {
	t.Parallel()
	all, err := projects.Open(t.TempDir(), nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, all.Close()) }()
	st, err := all.Store("p")
	require.NoError(t, err)
	user, err := sessionstore.NewMessage(json.RawMessage(`{"role":"user","content":"hi"}`))
	require.NoError(t, err)
	call, err := sessionstore.NewMessage(json.RawMessage(`{"role":"assistant","content":"","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]}`))
	require.NoError(t, err)
	require.NoError(t, st.Append(t.Context(), "good", user))
	require.NoError(t, st.Append(t.Context(), "bad", user, call))

	for name, match := range map[string]projects.Query{"good": {Match: slice.Healthy}, "bad": {Match: slice.Broken}} {
		found, err := all.Find(t.Context(), match)
		require.NoError(t, err)
		require.Len(t, found, 1)
		require.Equal(t, name, filepath.Base(found[0].Dir))
	}
	_, err = slice.Broken(t.Context(), st, "none")
	require.ErrorIs(t, err, sessionstore.ErrNotFound)
}
