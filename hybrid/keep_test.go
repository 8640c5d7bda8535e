package hybrid

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/cosmos"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

func TestBranchesAndOldTipsAreRestored(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a, b := c.device(t, "a"), c.device(t, "b", func(o *Options) { o.Conflict = Theirs })
	a.say("s", "one", "two", "three")
	a.sync()
	b.pull()
	a.cutTo("s", 1)
	a.say("s", "a's way")
	a.sync()
	b.say("s", "b's way")
	b.sync("s")
	require.Equal(t, []string{"one", "a's way"}, b.texts("s"))
	branches, err := a.Histories(t.Context(), "s")
	require.NoError(t, err)
	require.Len(t, branches, 2)
	byWhy := map[string]History{}
	for _, br := range branches {
		byWhy[br.Why] = br
	}
	require.Equal(t, 3, byWhy["rewrite"].Messages)
	require.Equal(t, 4, byWhy["branch"].Messages)
	require.NoError(t, a.Restore(t.Context(), "s", byWhy["branch"]))
	require.Equal(t, []string{"one", "two", "three", "b's way"}, a.texts("s"))
	require.NoError(t, a.Restore(t.Context(), "s", byWhy["branch"]), "again")
	b.sync("s")
	require.Equal(t, a.texts("s"), b.texts("s"))
	require.NoError(t, b.Restore(t.Context(), "s", byWhy["rewrite"]))
	require.Equal(t, []string{"one", "two", "three"}, b.texts("s"))
	a.sync("s")
	require.Equal(t, b.texts("s"), a.texts("s"))
	require.ErrorIs(t, a.Restore(t.Context(), "s", History{ID: "none"}), sessionstore.ErrNotFound)
}

// TestRestoreIsFound restores a former head. The other device, which asks the
// catalogue, finds it at once.
func TestRestoreIsFound(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a, b := c.device(t, "a"), c.device(t, "b")
	a.say("s", "one", "two")
	a.sync()
	a.cutTo("s", 1)
	a.sync()
	b.pull()
	branches, err := a.Histories(t.Context(), "s")
	require.NoError(t, err)
	require.Len(t, branches, 1)
	require.NoError(t, a.Restore(t.Context(), "s", branches[0]))
	b.pull()
	require.Equal(t, []string{"one", "two"}, b.texts("s"))
}

func TestOursWins(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a, b := c.device(t, "a"), c.device(t, "b", func(o *Options) { o.Conflict = Ours })
	a.say("s", "one")
	a.sync()
	b.pull()
	a.say("s", "from a")
	b.say("s", "from b")
	a.sync()
	b.sync()
	a.sync()
	require.Equal(t, []string{"one", "from b"}, a.texts("s"))
	branches, err := a.Histories(t.Context(), "s")
	require.NoError(t, err)
	require.Len(t, branches, 1)
	require.NoError(t, a.Restore(t.Context(), "s", branches[0]))
	require.Equal(t, []string{"one", "from a"}, a.texts("s"))
}

func TestRemove(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a, b, late := c.device(t, "a"), c.device(t, "b"), c.device(t, "late")
	for _, r := range []*testDevice{a, late} {
		if r == a {
			r.say("s", "one", "two")
			r.sync()
		}
	}
	b.pull()
	late.pull()
	require.NoError(t, a.Remove(t.Context(), "s"))
	require.Equal(t, map[string]int{"head": 1, "cat": 1}, c.documents(), "a tombstone and its entry")
	require.Zero(t, a.sync().Pushed)
	require.Zero(t, b.sync().Pushed)
	require.Equal(t, []string{"one", "two"}, b.texts("s"), "files stay")
	require.Equal(t, Removed, b.state("s").State)
	late.say("s", "written offline")
	_, err := late.Sync(t.Context())
	require.ErrorIs(t, err, ErrRemoved)
	require.Equal(t, Removed, late.state("s").State)
	require.Equal(t, []string{"one", "two", "written offline"}, late.texts("s"))
	require.Equal(t, map[string]int{"head": 1, "cat": 1}, c.documents())
	fresh := c.device(t, "fresh")
	require.Zero(t, fresh.pull().Pulled)
	_, err = fresh.Pull(t.Context(), "s")
	require.ErrorIs(t, err, ErrRemoved)
	require.NoError(t, a.Remove(t.Context(), "s"), "again")
	list, err := a.Remote(t.Context())
	require.NoError(t, err)
	require.True(t, list[0].Removed)
}

func TestRemovedHereStaysRemoved(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a := c.device(t, "a")
	a.say("s", "one")
	a.say("other", "one")
	a.sync()
	require.NoError(t, a.Delete(t.Context(), "s"))
	a.sync()
	require.Zero(t, a.pull().Pulled)
	require.False(t, a.Exists("s"))
	require.Equal(t, 1, a.pull("s").Pulled, "unless it is named")
	require.Equal(t, []string{"one"}, a.texts("s"))
	a.say("s", "two")
	require.Equal(t, 1, a.sync().Pushed)
}

func TestLocalOnlyAndPrivate(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	dir := filepath.Join(t.TempDir(), "sessions")
	private := func(o *Options) { o.Private = []string{"private-*", "Tax *"} }
	func() {
		s, err := Open(t.Context(), dir, &Options{Remote: cosmos.New(c.container), Project: "demo", User: "ada", Device: "a", Manual: true})
		require.NoError(t, err)
		require.NoError(t, s.KeepLocal(t.Context(), "mine"))
		require.NoError(t, s.Close())
	}()
	a := c.deviceAt(t, dir, "a", private)
	for _, id := range []string{"mine", "private-1", "named", "open"} {
		a.say(id, "one")
	}
	_, err := a.UpdateMetadata(t.Context(), "named", func(md *sessionstore.Metadata) error { return md.Set("name", "Tax 2026") })
	require.NoError(t, err)
	require.Equal(t, 1, a.sync().Pushed)
	require.Equal(t, Local, a.state("mine").State)
	require.Equal(t, Local, a.state("named").State)
	require.NoError(t, a.Release(t.Context(), "mine"))
	require.Equal(t, 1, a.sync().Pushed)
}

func TestDamagedSegmentIsNamedAndRepaired(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"damaged", "gone", "chunk"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCloud(t, nil)
			a, b := c.device(t, "a"), c.device(t, "b")
			for i := range 4 {
				a.say("s", noise(200<<10), fmt.Sprint("turn ", i))
				a.sync()
			}
			if name == "chunk" {
				a.say("s", noise(600<<10))
				a.sync()
			}
			harm(t, c, name)
			r, err := a.Check(t.Context(), "s", nil)
			require.ErrorIs(t, err, ErrDamaged)
			require.Len(t, r.Problems, 1)
			require.ErrorIs(t, r.Problems[0].Err, ErrDamaged)
			require.Equal(t, "t", r.Problems[0].Stream)
			require.Less(t, r.Problems[0].From, r.Problems[0].To)
			if name == "gone" {
				require.Empty(t, r.Problems[0].Document)
			} else {
				require.True(t, strings.HasPrefix(r.Problems[0].Document, a.engine.SID("s")+"-s-t-"), r.Problems[0].Document)
			}
			_, err = b.Pull(t.Context(), "s")
			require.ErrorIs(t, err, ErrDamaged)
			require.False(t, b.Exists("s"))
			r, err = a.Check(t.Context(), "s", &CheckOptions{Mend: true})
			require.NoError(t, err)
			require.Equal(t, 1, r.Mended)
			r, err = a.Check(t.Context(), "s", nil)
			require.NoError(t, err)
			require.Empty(t, r.Problems)
			b.pull("s")
			require.Equal(t, a.file("s", "transcript.jsonl"), b.file("s", "transcript.jsonl"))
		})
	}
}

// harm changes or removes one segment or chunk in the middle.
func harm(t *testing.T, c *cloud, how string) {
	t.Helper()
	kind := `"type":"seg"`
	if how == "chunk" {
		kind = `"type":"chunk"`
	}
	n := 0
	for _, d := range c.Docs(testDatabase, testContainer) {
		if !strings.Contains(string(d.Body), kind) {
			continue
		}
		if n++; n < 2 {
			continue
		}
		if how != "damaged" {
			require.NoError(t, c.Remove(testDatabase, testContainer, d.Partition, d.ID))
			return
		}
		require.NoError(t, c.Edit(testDatabase, testContainer, d.Partition, d.ID, func(body []byte) []byte {
			at := strings.Index(string(body), `"data":"`) + 60
			out := []byte(string(body))
			out[at] ^= 1
			return out
		}))
		return
	}
	require.Fail(t, "nothing to harm")
}

// noise returns a text of n bytes that does not compress, another one each time.
func noise(n int) string {
	b := make([]byte, n*3/4)
	_, _ = rand.NewChaCha8([32]byte(fmt.Appendf(nil, "%32d", noises.Add(1)))).Read(b) // never fails
	return base64.StdEncoding.EncodeToString(b)
}

var noises atomic.Int64 // texts that noise made

func TestOddLinesComeBack(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a, b := c.device(t, "a"), c.device(t, "b")
	a.say("s", "one")
	lines := []string{
		"x", "", "\x00", "{\"role\":\"user\"}\r", "bad \xff\xfe utf-8", strings.Repeat("\u2028", 3), noise(5 << 20), noise(300 << 10),
		`{"role":"user","content":"` + noise(20<<10) + `"}`,
	}
	whole := a.file("s", "transcript.jsonl") + strings.Join(lines, "\n") + "\n"
	a.put("s", "transcript.jsonl", whole)
	a.put("s", "events.jsonl", whole+"torn")
	a.sync()
	b.pull()
	require.Equal(t, sha256.Sum256([]byte(whole)), sha256.Sum256([]byte(b.file("s", "transcript.jsonl"))))
	require.Equal(t, sha256.Sum256([]byte(whole)), sha256.Sum256([]byte(b.file("s", "events.jsonl"))))
	require.Zero(t, b.sync().Pushed)
}

func TestListOrderIsTheSame(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a, b := c.device(t, "a"), c.device(t, "b")
	for i, id := range []string{"first", "second", "third"} {
		a.say(id, "one")
		at := time.Date(2026, 1, i+1, 0, 0, 0, 0, time.UTC)
		require.NoError(t, os.Chtimes(filepath.Join(a.Dir(), id), at, at))
	}
	before := a.ids()
	a.sync()
	require.Equal(t, before, a.ids())
	b.pull()
	require.Equal(t, before, b.ids())
	n, err := b.Cleanup(t.Context(), 30)
	require.NoError(t, err)
	require.Equal(t, 3, n, "their age is that of the last change")
	n, err = a.Cleanup(t.Context(), 30)
	require.NoError(t, err)
	require.Equal(t, 3, n, "also where they were before")
	require.Zero(t, b.pull().Pulled)
}

func TestCopiedDirectory(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a := c.device(t, "a")
	a.say("s", "one", "two")
	a.put("s", "events.jsonl", "{\"event\":\"x\"}\n")
	a.sync()
	dir := filepath.Join(t.TempDir(), "copy")
	require.NoError(t, os.CopyFS(dir, os.DirFS(a.Dir())))
	b := c.deviceAt(t, dir, "b")
	require.NoError(t, os.CopyFS(filepath.Join(dir, "copied"), os.DirFS(filepath.Join(a.Dir(), "s"))))
	require.Equal(t, 2, b.sync().Pushed, "the copy under another name, and a log of the other device")
	b.say("s", "three")
	b.sync()
	a.sync()
	require.Equal(t, []string{"one", "two", "three"}, a.texts("s"))
	require.Equal(t, []string{"one", "two"}, b.texts("copied"))
	require.Empty(t, b.sync().Conflicts)
}

func TestStateIsLost(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a, b := c.device(t, "a"), c.device(t, "b")
	a.say("s", "one", "two")
	a.put("s", "events.jsonl", "{\"event\":\"x\"}\n")
	a.sync()
	b.pull()
	for _, r := range []*testDevice{a, b} {
		require.NoError(t, os.RemoveAll(filepath.Join(r.Dir(), ".sessionstore", "sync")))
	}
	require.Zero(t, a.sync().Pushed)
	a.say("s", "three")
	a.sync()
	require.Empty(t, b.sync().Conflicts)
	require.Equal(t, Behind, b.state("s").State, "nobody knows any more who wrote it a short time ago")
	for _, name := range []string{"", "{", `{"v":99}`, `{"v":1,"session_id":"other"}`} {
		files, err := filepath.Glob(filepath.Join(a.Dir(), ".sessionstore", "sync", "*.json"))
		require.NoError(t, err)
		require.NotEmpty(t, files)
		for _, f := range files {
			require.NoError(t, os.WriteFile(f, []byte(name), 0o600))
		}
		require.Zero(t, a.sync().Pushed)
		require.Equal(t, []string{"one", "two", "three"}, a.texts("s"))
	}
}
