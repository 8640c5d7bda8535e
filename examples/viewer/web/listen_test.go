package web

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestListen(t *testing.T) {
	t.Parallel()
	for _, addr := range []string{"127.0.0.1:0", "localhost:0"} {
		l, err := Listen(t.Context(), addr)
		require.NoError(t, err, addr)
		require.NoError(t, l.Close())
	}
	for _, addr := range []string{"", ":0", ":8080", "0.0.0.0:0", "[::]:0", "192.0.2.1:0", "example.org:80", "127.0.0.1", "127.0.0.1:x"} {
		_, err := Listen(t.Context(), addr)
		require.Error(t, err, addr)
	}
}
