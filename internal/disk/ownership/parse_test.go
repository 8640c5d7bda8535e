//go:build unix

package ownership

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
)

func TestParseOwner(t *testing.T) {
	t.Parallel()
	const rest = `,"app":"a","hostname":"h","user":"u","acquired_at":"t","workspace":"/w","session_id":"s"}`
	tests := []struct {
		name, data string
		want       bool
		pid        int64
	}{
		{"plain", `{"active":true,"pid":12` + rest, true, 12},
		{"white space around", " \n" + `{"active":true,"pid":12` + rest + "\r\n", true, 12},
		{"last of two counts", `{"active":false,"active":true,"pid":"x","pid":7` + rest, true, 7},
		{"false comes last", `{"active":true,"active":false,"pid":12` + rest, false, 0},
		{"true is an int", `{"active":true,"pid":true` + rest, true, 0},
		{"false is an int", `{"active":true,"pid":false` + rest, true, 0},
		{"float is none", `{"active":true,"pid":12.0` + rest, false, 0},
		{"number beyond 64 bits", `{"active":true,"pid":123456789012345678901234567890` + rest, true, 0},
		{"NaN elsewhere", `{"active":true,"pid":12,"x":NaN` + rest, true, 12},
		{"text that is no string", `{"active":true,"pid":12,"app":[1]` + strings.Replace(rest, `,"app":"a"`, "", 1), true, 12},
		{"not UTF-8", `{"active":true,"pid":12,"x":"` + "\xff" + `"` + rest, false, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			owner, ok := ParseOwner([]byte(tt.data))
			require.Equal(t, tt.want, ok)
			if !ok {
				return
			}
			require.Equal(t, tt.pid, owner.PID)
			require.Equal(t, "h", owner.Hostname)
			require.Equal(t, strings.TrimSpace(tt.data), string(owner.Raw))
		})
	}
}

func TestReadOwnerDoesNotWait(t *testing.T) {
	t.Parallel()
	dir := realTemp(t)
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, OwnerName), 0o600))
	require.Nil(t, ReadOwner(openRoot(t, dir)))
}

func TestStateTooLong(t *testing.T) {
	t.Parallel()
	s := newSession(t, testID)
	require.NoError(t, os.MkdirAll(s.NativeDirectory(), 0o755))
	require.NoError(t, os.WriteFile(s.FencePath(), nil, 0o600))
	require.NoError(t, os.Truncate(s.FencePath(), maxState+1))
	_, err := ReadFence(s)
	require.ErrorIs(t, err, ErrUnsafe)
	require.EqualError(t, err, "transfer-fence.json exceeds the size limit")
}

// TestRecord has records as json.dumps writes them without spaces, before and after they are
// released, and refuses what UTF-8 cannot write.
func TestRecord(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"a", "ü\u2028\x7f\x00\"\\/", "x\xffy", "😀", "\ufffd\t\n\r\b\f\x1f"} {
		record, err := newRecord(newSession(t, testID), Options{App: text, Extra: map[string]string{"b": text, "a": "", "ü\"": "y\n"}})
		require.NoError(t, err)
		for _, record := range [][]byte{record, released(record, time.Unix(0, 0))} {
			want, err := pyjson.Append(nil, record, pyjson.Style{Compact: true, Finite: true})
			require.NoError(t, err)
			require.Equal(t, string(want), string(record))
		}
	}
	_, err := Acquire(t.Context(), newSession(t, testID), Options{App: "a\xed\xa0\x80"})
	require.ErrorIs(t, err, ErrInvalid)
	require.ErrorIs(t, WriteState(nil, OwnerName, make([]byte, maxState+1)), ErrInvalid)
}
