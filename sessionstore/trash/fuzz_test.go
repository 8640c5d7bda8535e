package trash

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// FuzzReceipt puts foreign bytes in the place of a receipt. They hide no session
// that is in the trash, add none, and lead nowhere else: the session comes back
// as it was.
func FuzzReceipt(f *testing.F) {
	for _, text := range []string{
		"", "{", "null", "[]", "\x00", `{"v": 2}`, `{"v": 1, "id": "../x", "from": "/etc", "sessions": null}`,
		`{"v": 1, "id": "20260101T000000Z-aaaaaa", "at": "2026-01-01T00:00:00Z", "sessions": [{"id": "a"}, {"id": "a"}, {"id": "../../b"}, {"id": ""}]}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, receipt []byte) {
		st, err := sessionstore.Open(filepath.Join(t.TempDir(), "sessions"), &sessionstore.Options{Durability: sessionstore.Relaxed})
		require.NoError(t, err)
		defer func() { require.NoError(t, st.Close()) }()
		m, err := sessionstore.ParseMessage([]byte(`{"role": "user", "content": "hello"}`))
		require.NoError(t, err)
		for _, id := range []string{"a", "b"} {
			require.NoError(t, st.Save(t.Context(), id, []sessionstore.Message{m}, sessionstore.Metadata{}))
		}
		gone, err := Delete(t.Context(), st, []string{"a"}, &Options{Quiet: -1})
		require.NoError(t, err)
		require.False(t, st.Exists("a"))
		require.NoError(t, os.WriteFile(filepath.Join(st.Dir(), sessiondir.Trash, gone.Receipt.ID, receiptFile), receipt, 0o600))

		all, err := List(t.Context(), st)
		if err != nil {
			require.ErrorContains(t, err, "read receipt "+gone.Receipt.ID)
		}
		require.Len(t, all, 1)
		require.Equal(t, gone.Receipt.ID, all[0].ID)
		require.Len(t, all[0].Sessions, 1)
		require.Equal(t, "a", all[0].Sessions[0].ID)
		back, err := undo(t.Context(), st, "")
		require.NoError(t, err)
		require.Empty(t, back.Failed)
		for _, id := range []string{"a", "b"} {
			s, err := st.Load(t.Context(), id)
			require.NoError(t, err)
			require.Len(t, s.Messages, 1)
		}
	})
}
