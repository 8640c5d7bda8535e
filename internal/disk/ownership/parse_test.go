//go:build unix

package ownership

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
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

	_, err = Encode([]byte(`"` + strings.Repeat("x", maxState-2) + `"`))
	require.NoError(t, err)
	_, err = Encode([]byte(`"` + strings.Repeat("x", maxState-1) + `"`))
	require.ErrorIs(t, err, ErrInvalid)
}

func TestEncodeRefusesSurrogates(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{`"\ud800"`, `"\\\uDFFF"`, `["\n","\udbffx"]`} {
		_, err := Encode([]byte(bad))
		require.ErrorIs(t, err, ErrInvalid, bad)
	}
	for _, ok := range []string{`"\\ud800"`, `"\ud83d\ude00"`, `"\u0001\\"`} {
		_, err := Encode([]byte(ok))
		require.NoError(t, err, ok)
	}
}
