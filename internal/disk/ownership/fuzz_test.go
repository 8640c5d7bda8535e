package ownership

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
)

// FuzzParse reads the records of owners and of transfers.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"active": true, "app": "a", "hostname": "h", "user": "u", "pid": 1, "acquired_at": "2026", "workspace": "/w", "session_id": "s"}`), "s")
	f.Add([]byte(`{"active": true, "app": 1, "hostname": "h", "user": null, "pid": true, "acquired_at": "2026", "workspace": "/w", "session_id": "s"}`), "s")
	f.Add([]byte(`{"version": 1, "session_id": "s", "transfer_id": "t", "destination_host": "h", "role": "source", "phase": "staged"}`), "s")
	f.Add([]byte("{\"a\": \"\\ud800\"}"), "-s")
	f.Fuzz(func(t *testing.T, data []byte, id string) {
		if owner, ok := ParseOwner(data); ok {
			require.Equal(t, string(pyjson.Trim(data)), string(owner.Raw))
		}
		if fence, err := ParseFence(data, id); err != nil {
			require.ErrorIs(t, err, ErrUnsafe)
		} else {
			require.Equal(t, id, fence.SessionID)
		}
		if ValidID(id) {
			require.LessOrEqual(t, len(id), 128)
			require.NotContains(t, id, "/")
		}
		out, err := Encode(data)
		if err != nil {
			require.True(t, errors.Is(err, ErrInvalid), "%v", err)
			return
		}
		require.NoError(t, pyjson.Check(out, pyjson.Strict))
		again, err := Encode(out)
		require.NoError(t, err)
		require.Equal(t, string(out), string(again))
	})
}
