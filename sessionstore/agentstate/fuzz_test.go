package agentstate

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// FuzzImport imports anything: it is refused and nothing is stored, or what is
// stored exports and imports to the same.
func FuzzImport(f *testing.F) {
	for _, seed := range []string{
		`{"id": "x", "state": {"history": [{"type": "a"}], "approvedCommands": ["x"], "tokenInfo": {"total": 1}, "latestRateLimits": {}}, "metadata": {"created": "2025-10-01T14:00:00Z"}}`,
		`{"state": {"history": {"items": [{"role": "\n"}]}}, "metadata": {"created": 1759320000000}}`,
		`{"conversationHistory": [{}], "approvedCommands": ["é", "\ud800"], "tokenInfo": {"total_tokens": 2, "input_tokens": 1}}`,
		`{"state": {"history": [{"role": "user", "a": 1, "a": 2}]}, "created": 1e3}`,
		`{"history": [{}], "state": {"history": null}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		st, err := sessionstore.Open(t.TempDir(), &sessionstore.Options{Durability: sessionstore.Relaxed})
		require.NoError(t, err)
		defer st.Close()
		exported := func(name string, in json.RawMessage) (json.RawMessage, error) {
			require.NoError(t, st.Create(t.Context(), name, sessionstore.Metadata{}))
			s, err := Open(st, name, nil)
			require.NoError(t, err)
			if err := s.Import(t.Context(), in); err != nil {
				require.ErrorIs(t, err, ErrInvalid)
				history, err := s.History(t.Context())
				require.NoError(t, err)
				require.Empty(t, history)
				return nil, ErrInvalid
			}
			out, err := s.Export(t.Context())
			require.NoError(t, err)
			return out, nil
		}
		out, err := exported("one", data)
		if err != nil {
			return
		}
		again, err := exported("two", out)
		require.NoError(t, err)
		require.Equal(t, string(member(out, "state")), string(member(again, "state")))
	})
}

// FuzzHistory reads any history and adds to it: what is whole is kept.
func FuzzHistory(f *testing.F) {
	f.Add([]byte("{\"type\": \"a\"}\n{\"b\": "))
	f.Add([]byte("{\"a\": 1}"))
	f.Add([]byte("noise\n\n{}\n\x00\x00\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		st, err := sessionstore.Open(t.TempDir(), &sessionstore.Options{Durability: sessionstore.Relaxed})
		require.NoError(t, err)
		defer st.Close()
		require.NoError(t, st.Create(t.Context(), id, sessionstore.Metadata{}))
		s, err := Open(st, id, nil)
		require.NoError(t, err)
		write(t, s, historyFile, string(data))
		before, _ := s.History(t.Context())
		require.NoError(t, s.RecordItems(t.Context(), items(`{"type": "new"}`)...))
		after, _ := s.History(t.Context())
		require.Equal(t, append(before, items(`{"type": "new"}`)...), after)
	})
}
