package sessionstore_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

func init() { children["killed delete"] = killedDeleteChild }

// killedDeleteChild deletes the session s, and kills itself before a step of that.
func killedDeleteChild(dir, _ string) error {
	st, err := sessionstore.OpenWithSeam(dir, nil, testenv.KillPoint())
	if err != nil {
		return err
	}
	if err := st.Delete(context.Background(), "s"); err != nil {
		return err
	}
	return st.Close()
}

// TestIndexOfRemade kills a process before each step of a Delete. Another tool
// then makes a session of that id. The text of the deleted one leaves the index
// with the next Summaries, whatever the new session holds, and also when
// Summaries does not get as far as the session, or does not list it.
func TestIndexOfRemade(t *testing.T) {
	t.Parallel()
	again := []string{"", "{", user("words of another one") + "\n", user(strings.Repeat("other ", 300_000)) + "\n"}
	for _, size := range []int{10, 1 << 20} {
		for limit := range 2 {
			t.Run(fmt.Sprintf("size=%d/limit=%d", size, limit), func(t *testing.T) {
				t.Parallel()
				left := 0 // kills that left text of the session
				for _, made := range testenv.Some(t, 1, again...) {
					for step, killed := 1, true; killed; step++ {
						var kept bool
						if kept, killed = killDelete(t, size, step, made, &sessionstore.ListOptions{Limit: limit}); kept {
							left++
						}
					}
				}
				require.Positive(t, left)
			})
		}
	}
}

// killDelete kills a Delete of a session of about that size before a step, makes
// the session anew and lists. kept tells whether the kill left text of the session
// in the index. killed is false when Delete had fewer steps.
func killDelete(t *testing.T, size, step int, transcript string, o *sessionstore.ListOptions) (kept, killed bool) {
	t.Helper()
	dir := t.TempDir()
	secretSession(t, dir, "s", size)
	time.Sleep(30 * time.Millisecond)
	summaries(t, open(t, dir, nil))
	_, killed = testenv.Spawn(t, "killed delete", dir, "", append(homeIn(t.TempDir()), testenv.KillAt(step))...).Killed(t)
	if !killed {
		return false, false
	}
	text := indexText(t, dir)
	if _, err := os.Stat(filepath.Join(dir, "s")); err == nil {
		return false, true // it was not removed
	}
	kept = strings.Contains(text, "secret words of s")
	write(t, transcript, dir, "s", transcriptFile)
	newer := time.Now().Add(time.Hour)
	require.NoError(t, os.Mkdir(filepath.Join(dir, "newer"), 0o700))
	require.NoError(t, os.Chtimes(filepath.Join(dir, "newer"), newer, newer))
	for _, err := range open(t, dir, nil).Summaries(t.Context(), o) {
		require.NoError(t, err)
	}
	require.False(t, strings.Contains(indexText(t, dir), "secret"), "step %d, made anew: %.20q", step, transcript)
	return kept, true
}

// indexText returns all that is in the files of the index.
func indexText(t *testing.T, dir string) (text string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, ".sessionstore", "index", "*"))
	require.NoError(t, err)
	for _, name := range files {
		text += read(t, name)
	}
	return text
}
