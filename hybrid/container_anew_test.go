package hybrid

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/cosmos"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/syncer"
)

// TestContainerIsMadeAnew takes the container away beneath a store that runs on, and
// puts an empty one or an older state of it there. Both know less than the session
// tokens that the store holds. The store goes on by itself, and sends also the sessions
// that nobody changes any more.
func TestContainerIsMadeAnew(t *testing.T) {
	t.Parallel()
	for name, manual := range map[string]bool{"empty": false, "restored": false, "empty, synced by calls": true, "restored, synced by calls": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c := newCloud(t, nil)
				a := c.device(t, "a", func(o *Options) { o.Manual = manual })
				wait := func(d time.Duration) {
					for range 4 {
						time.Sleep(d / 4)
						if manual {
							_, _ = a.Sync(t.Context()) // at first the account is not what it was
						}
					}
				}
				turn := func(ids ...string) {
					for _, id := range ids {
						a.say(id, fmt.Sprint("question ", time.Now()), "answer")
						a.appendTo(id, "events.jsonl", timedEvents(id, 0, 1))
					}
					wait(2 * time.Minute)
				}
				turn("s", "idle")
				turn("s", "idle")
				before := c.Snapshot()
				for range 5 {
					turn("s", "idle")
				}
				turn("s", "idle", "late")
				c.Restore(before)
				if strings.HasPrefix(name, "empty") {
					_, err := c.container.Delete(t.Context(), nil)
					require.NoError(t, err)
					require.NoError(t, cosmos.Provision(t.Context(), dial(t, c.Server, c.Key()), testDatabase, testContainer))
				}
				turn("s")
				wait(2 * time.Hour)
				for _, id := range []string{"s", "idle", "late"} {
					told := a.state(id)
					require.NoError(t, told.Err, id)
					require.Equal(t, UpToDate, told.State, id)
				}
				require.Len(t, a.texts("s"), 2*9)
				b := c.device(t, "b")
				require.Empty(t, b.pull().Failed)
				for _, id := range []string{"s", "idle", "late"} {
					require.Equal(t, a.texts(id), b.texts(id), id)
					require.Equal(t, a.file(id, "events.jsonl"), b.file(id, "events.jsonl"))
				}
				turn("s", "late")
				b.pull()
				require.Equal(t, a.texts("s"), b.texts("s"))
				branches, err := b.Histories(t.Context(), "s")
				require.NoError(t, err)
				require.Empty(t, branches)
				require.Len(t, a.ids(), 3, "no copies")
			})
		})
	}
}

// TestContainerIsMadeAnewBesideAList lists the catalogue of an empty container just after one
// session was sent there anew, and before anything told that the container is another one. The
// others are sent, too.
func TestContainerIsMadeAnewBesideAList(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCloud(t, nil)
		a := c.device(t, "a")
		e := a.engine
		for range 2 {
			for i := range askedEach + 1 { // so many that a sync does not ask for the head of each
				a.say(fmt.Sprint("idle-", i), fmt.Sprint("question ", time.Now()))
			}
			a.say("s", fmt.Sprint("question ", time.Now()))
			a.sync()
			time.Sleep(time.Minute)
		}
		_, err := e.readCatalogue(t.Context())
		require.NoError(t, err)
		_, err = c.container.Delete(t.Context(), nil)
		require.NoError(t, err)
		require.NoError(t, cosmos.Provision(t.Context(), dial(t, c.Server, c.Key()), testDatabase, testContainer))
		time.Sleep(time.Minute)
		a.say("s", "more")
		out, _ := e.syncOne(t.Context(), "s", syncer.Options{})
		require.NoError(t, out.Err)
		e.doubted.Store(false)
		require.NoError(t, e.listCatalogue(t.Context(), e.Connect()))
		_, err = e.readCatalogue(t.Context())
		require.NoError(t, err)
		a.sync()
		b := c.device(t, "b")
		b.pull()
		for _, id := range a.ids() {
			require.Equal(t, a.texts(id), b.texts(id), id)
		}
	})
}
