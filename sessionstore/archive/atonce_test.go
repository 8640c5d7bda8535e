package archive

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// TestTarWhileWritten archives a session that grows: what is archived is
// the transcript as it was at some instant.
func TestTarWhileWritten(t *testing.T) {
	t.Parallel()
	st := store(t)
	m, err := sessionstore.Text("user", strings.Repeat("x", 1000), time.Unix(0, 0))
	require.NoError(t, err)
	line := string(m.AppendTo(nil)) + "\n"
	require.NoError(t, st.Append(t.Context(), "s", m))
	const appends = 60
	var wait sync.WaitGroup
	failed := error(nil)
	done := make(chan struct{})
	wait.Go(func() {
		defer close(done)
		for range appends {
			failed = errors.Join(failed, st.Append(t.Context(), "s", m))
		}
	})
	last := 0
	for finished := false; !finished; {
		select {
		case <-done:
			finished = true
		default:
		}
		var out bytes.Buffer
		require.NoError(t, Write(t.Context(), &out, st, []string{"s"}, nil))
		for in := tar.NewReader(&out); ; {
			h, err := in.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(t, err)
			text, err := io.ReadAll(in)
			require.NoError(t, err)
			if h.Name == "s/transcript.jsonl" {
				n := len(text) / len(line)
				require.Equal(t, strings.Repeat(line, n), string(text))
				require.GreaterOrEqual(t, n, last)
				last = n
			}
		}
	}
	wait.Wait()
	require.NoError(t, failed)
	require.Equal(t, appends+1, last)
}
