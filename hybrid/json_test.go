package hybrid_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid"
	"github.com/amplifier-go/sessionstorage/hybrid/hybridtest"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// A list without entries is an empty array in the JSON of each result, never null.
func TestResultsHaveNoNullLists(t *testing.T) {
	t.Parallel()
	st, err := hybrid.Open(t.Context(), t.TempDir(), &hybrid.Options{Remote: hybridtest.New(), Project: "p", Manual: true})
	require.NoError(t, err)
	defer func() { require.NoError(t, st.Close()) }()
	require.NoError(t, st.Create(t.Context(), "s", sessionstore.Metadata{}))
	sent, err := st.Sync(t.Context())
	require.NoError(t, err)
	pulled, err := st.Pull(t.Context())
	require.NoError(t, err)
	preview, err := st.Preview(t.Context(), "s")
	require.NoError(t, err)
	report, err := st.Check(t.Context(), "s", nil)
	require.NoError(t, err)
	for _, v := range []any{
		sent, pulled, preview, report, hybrid.SyncResult{}, hybrid.PullResult{}, &hybrid.SyncResult{}, &hybrid.PullResult{},
	} {
		raw, err := json.Marshal(v)
		require.NoError(t, err)
		require.NotContains(t, string(raw), "null")
	}
	raw, err := json.Marshal(hybrid.SyncResult{Conflicts: []hybrid.Conflict{{SessionID: "a", KeptAs: "b"}}})
	require.NoError(t, err)
	require.Contains(t, string(raw), `"conflicts":[{`)
}
