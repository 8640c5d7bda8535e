package hybrid

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
)

// formatWorld is a session with documents of all types, and a device that knew them before.
type formatWorld struct {
	*cloud
	author, reader *testDevice
}

func newFormatWorld(t *testing.T) *formatWorld {
	t.Helper()
	c := newCloud(t, nil)
	w := &formatWorld{cloud: c, author: c.device(t, "author", under(1)), reader: c.device(t, "reader", under(1), func(o *Options) { o.Conflict = Theirs })}
	a := w.author
	a.say("other", "one")
	a.say("s", noise(64<<10), "two")
	a.put("s", "large.md", noise(64<<10))
	a.setMember("s", "note", noise(8<<10))
	a.put("s", "events.jsonl", "{\"event\":\"x\"}\n")
	a.sync()
	w.reader.pull()
	w.reader.say("s", "of the reader")
	for i := range 3 {
		a.say("s", fmt.Sprint("way ", i))
		a.sync("s")
		a.cutTo("s", 2)
		a.sync("s")
	}
	a.say("s", "three")
	a.sync()
	w.reader.sync() // its line is a branch
	w.reader.pull()
	w.reader.say("s", "four")
	return w
}

// reformat makes the documents of a type of session s documents of another format, and
// returns how many there are.
func (w *formatWorld) reformat(t *testing.T, kind string, v int) (n int) {
	t.Helper()
	sid := w.author.engine.SID("s")
	for _, d := range w.Docs(testDatabase, testContainer) {
		if documentOf(d).Type != kind || !strings.HasPrefix(d.ID, sid) {
			continue
		}
		n++
		body := strings.Replace(string(d.Body), fmt.Sprintf(`"v":%d`, segment.Version), fmt.Sprintf(`"v":%d`, v), 1)
		require.NoError(t, w.Put(testDatabase, testContainer, body))
	}
	return n
}

// versions returns the versions of all documents, by their ids.
func (w *formatWorld) versions() map[string]string {
	all := map[string]string{}
	for _, d := range w.Docs(testDatabase, testContainer) {
		all[d.ID] = d.ETag
	}
	return all
}

// calls are what a program may ask of session s.
func (w *formatWorld) calls(fresh *testDevice) map[string]func(context.Context) error {
	r := w.reader
	return map[string]func(context.Context) error{
		"sync":      func(ctx context.Context) error { _, err := r.Sync(ctx, "s"); return err },
		"sync all":  func(ctx context.Context) error { _, err := r.Sync(ctx); return err },
		"pull":      func(ctx context.Context) error { _, err := fresh.Pull(ctx, "s"); return err },
		"pull all":  func(ctx context.Context) error { _, err := fresh.Pull(ctx); return err },
		"refresh":   func(ctx context.Context) error { _, err := r.Refresh(ctx, "s"); return err },
		"preview":   func(ctx context.Context) error { _, err := r.Preview(ctx, "s"); return err },
		"histories": func(ctx context.Context) error { _, err := r.Histories(ctx, "s"); return err },
		"verify":    func(ctx context.Context) error { _, err := r.Check(ctx, "s", nil); return err },
		"repair": func(ctx context.Context) error {
			_, err := w.author.Check(ctx, "s", &CheckOptions{Mend: true})
			return err
		},
		"prune": func(ctx context.Context) error {
			_, err := r.Prune(ctx, &PruneOptions{Grace: time.Nanosecond, HistoryRetention: -1}, "s")
			return err
		},
		"recreate": func(ctx context.Context) error { return w.author.Recreate(ctx, "s") },
		"remote":   func(ctx context.Context) error { _, err := fresh.Remote(ctx); return err },
		"remove":   func(ctx context.Context) error { return r.Remove(ctx, "s") },
	}
}

// TestOtherFormats meets documents of a greater and of a smaller format, of each type. Every
// call that meets one is refused with an error that names the session and what to do, and
// changes nothing in the cloud.
func TestOtherFormats(t *testing.T) {
	t.Parallel()
	meet := map[string]string{ // the calls that meet a document of a type, at least
		"head":    "sync, sync all, pull, pull all, refresh, preview, histories, verify, repair, prune, recreate, remove",
		"seg":     "pull, pull all, preview, verify, repair, prune, recreate, remove",
		"chunk":   "pull, pull all, prune, recreate, remove",
		"history": "histories, prune, recreate, remove",
		"cat":     "pull all, remote, recreate, remove",
	}
	for kind, calls := range meet {
		for _, v := range []int{segment.Version - 1, segment.Version + 1} {
			t.Run(fmt.Sprintf("%s of format %d", kind, v), func(t *testing.T) {
				t.Parallel()
				w := newFormatWorld(t)
				require.Positive(t, w.reformat(t, kind, v))
				before := w.versions()
				all := w.calls(w.device(t, "fresh", under(1)))
				for name := range strings.SplitSeq(calls, ", ") {
					err := all[name](t.Context())
					require.ErrorIs(t, err, segment.ErrFormat, name)
					require.Equal(t, v > segment.Version, errors.Is(err, ErrNewer), name)
					require.NotErrorIs(t, err, ErrDamaged, name)
					require.ErrorContains(t, err, `"s"`, name)
					require.ErrorContains(t, err, map[bool]string{true: "update this program", false: "move the data away"}[v > segment.Version], name)
					require.Equal(t, before, w.versions(), name)
				}
				if strings.HasPrefix(calls, "sync") {
					require.Equal(t, Blocked, w.reader.state("s").State)
				}
				require.Equal(t, []string{"two", "three", "four"}, w.reader.texts("s")[1:])
			})
		}
	}
}
