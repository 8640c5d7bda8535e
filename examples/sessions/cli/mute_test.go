package cli

import (
	"bytes"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/remote"
)

// TestMuteRemote asks remotes that take connections and never answer.
func TestMuteRemote(t *testing.T) { //nolint:paralleltest // it sets the environment, and answerTime
	t.Setenv("AMPLIFIER_HOME", t.TempDir())
	t.Setenv("AWS_ACCESS_KEY_ID", "test-access-key")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "test-secret-key")
	before := answerTime
	t.Cleanup(func() { answerTime = before })
	answerTime = 100 * time.Millisecond
	mute, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { require.NoError(t, mute.Close()) }()
	for _, place := range []string{"postgres://ada@%s/db?sslmode=disable", "s3://bucket?endpoint=http://%s"} {
		place = strings.ReplaceAll(place, "%s", mute.Addr().String())
		var stderr bytes.Buffer
		code := Run(t.Context(), Process{Args: []string{"remote", "check", "--remote", place}, Stdin: strings.NewReader(""), Stdout: &stderr, Stderr: &stderr})
		require.Equal(t, exitError, code)
		require.Contains(t, stderr.String(), "the remote cannot be reached: no answer in 100ms. Nothing is lost: run the command again when "+place+" answers.")
	}
}

// TestAdvice: a remote that answers and does not serve is not told to be away.
func TestAdvice(t *testing.T) {
	t.Parallel()
	for kind, does := range map[remote.Kind]string{remote.Failed: "does", remote.Throttled: "does", remote.Away: "answers", remote.Stale: "answers"} {
		err := &remote.Unreachable{Err: errors.New("the reason"), Kind: kind}
		require.Equal(t, "Nothing is lost: run the command again when dir:/x "+does+".", place("dir:/x").advice(err))
		require.Equal(t, does == "answers", strings.HasPrefix(err.Error(), "the remote cannot be reached: "))
	}
}
