package hybrid

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// TestPairs has 92 sessions of which two devices hold copies, as one user's
// devices had them (tawanorg/claude-sync, issue 69): of 91 one copy is the
// beginning of the other, and one went two ways. Neither device has ever
// synced. A prefix is no conflict, and nothing is lost of the one that is.
func TestPairs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCloud(t, nil)
		a, b := c.device(t, "a"), c.device(t, "b")
		want := map[string]string{}
		n := testenv.Share(31, 31, 91)
		for i := range n {
			id := fmt.Sprintf("pair-%02d", i)
			long := pairLines(i, i%90+2)
			short := strings.Join(strings.SplitAfter(long, "\n")[:1+(i%90+1)*(i%10)/10], "")
			if i%2 == 0 {
				long, short = short, long
			}
			pairCopy(t, a, id, long)
			pairCopy(t, b, id, short)
			want[id] = max(long, short) // a prefix is the lesser one
		}
		ours := pairLines(91, 40) + pairLine(91, "here", 1)
		theirs := pairLines(91, 40) + pairLine(91, "there", 1) + pairLine(91, "there", 2)
		pairCopy(t, a, "pair-91", ours)
		pairCopy(t, b, "pair-91", theirs)
		want["pair-91"] = ours // the first that came

		kept := ""
		for range 4 {
			for _, r := range []*testDevice{a, b} {
				for _, x := range append(r.sync().Conflicts, r.pull().Conflicts...) {
					require.Equal(t, "pair-91", x.SessionID, "only what went two ways is a conflict")
					kept = max(kept, x.KeptAs) // none as long as another program may have the lines in memory
				}
			}
			time.Sleep(11 * time.Minute)
		}
		want[kept] = theirs
		for _, r := range []*testDevice{a, b} {
			all, err := r.List(t.Context(), &sessionstore.ListOptions{All: true})
			require.NoError(t, err)
			require.Len(t, all, n+2, "the pairs and one fork")
		}
		for id, text := range want {
			require.Equal(t, text, a.file(id, "transcript.jsonl"), "%s on a", id)
			require.Equal(t, text, b.file(id, "transcript.jsonl"), "%s on b", id)
		}
		for i := range n {
			branches, err := a.Histories(t.Context(), fmt.Sprintf("pair-%02d", i))
			require.NoError(t, err)
			require.Empty(t, branches, "pair %d was moved on", i)
		}
	})
}

func pairLine(pair int, who string, n int) string {
	return fmt.Sprintf("{\"role\": \"user\", \"content\": \"pair %d, %s %d\"}\n", pair, who, n)
}

func pairLines(pair, n int) string {
	var text strings.Builder
	for i := range n {
		text.WriteString(pairLine(pair, "both", i))
	}
	return text.String()
}

// pairCopy puts a copy of a session on a device, as another program would.
func pairCopy(t *testing.T, r *testDevice, id, text string) {
	t.Helper()
	dir := filepath.Join(r.Dir(), id)
	require.NoError(t, os.Mkdir(dir, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "transcript.jsonl"), []byte(text), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "metadata.json"), fmt.Appendf(nil, `{"session_id": %q}`, id), 0o600))
}
