package hybrid

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/memremote"
	"github.com/amplifier-go/sessionstorage/hybrid/remote"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// noting is a remote that finds something out with its first write.
type noting struct {
	remote.Remote
	found string
	given string
}

func (n *noting) Note() string        { return n.found }
func (n *noting) SetNote(note string) { n.given, n.found = note, note }

// TestNoteOfTheRemote: what a process found out about its remote, a later one is told, for a week
// and for the same remote alone.
func TestNoteOfTheRemote(t *testing.T) {
	t.Parallel()
	at, here, other := filepath.Join(t.TempDir(), "sessions"), &memremote.Remote{}, &memremote.Remote{}
	process := func(r remote.Remote, finds string) (given string) {
		n := &noting{Remote: r}
		s, err := Open(t.Context(), at, &Options{Remote: n, Project: "demo", User: "ada", Device: "a", Manual: true})
		require.NoError(t, err)
		d := &testDevice{s, t}
		given = n.given
		if finds != "" {
			n.found = finds
		}
		d.say("s", "a turn")
		d.sync()
		require.NoError(t, d.Close())
		return given
	}
	require.Empty(t, process(here, ""))
	require.Empty(t, process(here, "it swaps"))
	require.Equal(t, "it swaps", process(here, ""))
	require.Equal(t, "it swaps", process(here, ""))
	require.Empty(t, process(other, "it lists"))
	require.Empty(t, process(here, "it swaps"))
	file := filepath.Join(at, ".sessionstore", "sync", noteFile)
	old := time.Now().Add(-noteLasts - time.Minute)
	require.NoError(t, os.Chtimes(file, old, old))
	require.Empty(t, process(here, "it swaps"), "it is found out again")
	require.Equal(t, "it swaps", process(here, ""))
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	require.Empty(t, process(here, ""))
}

// noted is a remote that keeps the notes with which it wrote.
type noted struct {
	alias

	mu           sync.Mutex // guards the fields below
	found, given string
	with         []string
}

func (n *noted) Note() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.found
}

func (n *noted) SetNote(note string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.given, n.found = note, note
}

func (n *noted) Commit(ctx context.Context, part string, objects []remote.Object, swap *remote.Swap) (remote.Version, error) {
	n.mu.Lock()
	n.with = append(n.with, n.found)
	n.mu.Unlock()
	return n.alias.Commit(ctx, part, objects, swap)
}

// TestNoteOfAnotherBucket: what was found out about a bucket says nothing of another one with the
// same address: nothing is written there before the note is forgotten, and no later program is
// told. It does not matter whether a session or the catalogue shows that it is another one.
func TestNoteOfAnotherBucket(t *testing.T) {
	t.Parallel()
	for _, sessions := range []int{1, 20} {
		t.Run(fmt.Sprint(sessions), func(t *testing.T) {
			t.Parallel()
			at, swaps := filepath.Join(t.TempDir(), "sessions"), new(atomic.Int32)
			process := func(r remote.Remote, finds string) *noted {
				n := &noted{alias: alias{r, "s3 https://one.example bucket/", swaps}}
				s, err := Open(t.Context(), at, &Options{Remote: n, Project: "demo", User: "ada", Device: "a", Manual: true})
				require.NoError(t, err)
				if finds != "" {
					n.SetNote(finds)
				}
				d := &testDevice{s, t}
				for i := range sessions {
					d.say(fmt.Sprint("s", i), "a turn")
				}
				d.sync()
				d.sync()
				require.NoError(t, d.Close())
				return n
			}
			other := &memremote.Remote{} // say, without conditions
			here := &memremote.Remote{}
			process(here, "conditions")
			require.Equal(t, "conditions", process(here, "").with[0])
			n := process(other, "")
			require.NotEmpty(t, n.with)
			for _, note := range n.with {
				require.Empty(testenv.Lost(t), note)
			}
			require.Empty(testenv.Lost(t), process(other, "").with[0])
			process(other, "other conditions")
			require.Equal(t, "other conditions", process(other, "").with[0])
		})
	}
}
