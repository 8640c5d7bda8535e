package hybrid

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/memremote"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
	"github.com/amplifier-go/sessionstorage/hybrid/remote"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// alias is a remote under one of its names.
type alias struct {
	remote.Remote
	identity string
	swaps    *atomic.Int32 // that were made or tried
}

func (n alias) Info(ctx context.Context) (remote.Info, error) {
	info, err := n.Remote.Info(ctx)
	info.Identity = n.identity
	return info, err
}

func (n alias) Commit(ctx context.Context, part string, objects []remote.Object, swap *remote.Swap) (remote.Version, error) {
	n.swaps.Add(1)
	return n.Remote.Commit(ctx, part, objects, swap)
}

// TestAnotherNameOfOneRemote opens a directory with another name of its remote: an entry or two of
// the catalogue show which one it is, only the heads that a Sync asks for anyway are read, and
// nothing is written. That is so for sessions that this device wrote, also since it listed the
// catalogue, and for those that came from another one.
func TestAnotherNameOfOneRemote(t *testing.T) {
	t.Parallel()
	for _, device := range []string{"a", "b"} {
		t.Run(device, func(t *testing.T) {
			t.Parallel()
			r := newNamed(t)
			r.fill()
			for i, name := range []string{"one", "other", "one", "other", "third"} {
				d := r.open(device, name)
				r.swaps.Store(0)
				r.reads.Store(0)
				r.lists.Store(0)
				got := d.sync()
				require.Zero(t, r.swaps.Load(), "all is there")
				require.LessOrEqual(t, r.reads.Load(), int64(1+askedEach), "the entry that is read last, as ever, and the heads of the newest sessions")
				require.EqualValues(t, 1, r.lists.Load())
				require.Equal(t, namedSessions, got.Sessions)
				d.say(fmt.Sprint("s", i), "three")
				d.sync()
				require.NoError(t, d.Close())
				r.reads.Store(0)
				require.NoError(t, r.open(device, name).Close())
				require.Zero(t, r.reads.Load(), "of a name that is known")
				require.NoError(t, r.open(device, name+" too").Close())
				require.LessOrEqual(t, r.reads.Load(), int64(2), "two entries of the catalogue")
				at, of := LastSync(d.Dir())
				require.NotZero(t, at)
				require.Equal(t, name, of)
			}
		})
	}
}

// TestAnotherNameWhileOthersWrite: where another device wrote the newest entry since, the sessions
// are compared; its lines come, and those of this device go.
func TestAnotherNameWhileOthersWrite(t *testing.T) {
	t.Parallel()
	for _, device := range []string{"a", "b"} {
		t.Run(device, func(t *testing.T) {
			t.Parallel()
			r := newNamed(t)
			r.fill()
			other := map[string]string{"a": "b", "b": "a"}[device]
			turn := func(device, name, text string, want ...string) {
				d := r.open(device, name)
				d.sync()
				require.Equal(t, want, d.texts("s0"))
				d.say("s0", text)
				r.swaps.Store(0)
				d.sync()
				require.EqualValues(t, 2, r.swaps.Load(), "the head and the entry")
				require.Len(t, d.ids(), namedSessions, "no second history")
				require.NoError(t, d.Close())
			}
			turn(other, "one", "three", "one", "two")
			turn(device, "other", "four", "one", "two", "three")
			turn(other, "third", "five", "one", "two", "three", "four")
			turn(device, "one", "six", "one", "two", "three", "four", "five")
		})
	}
}

// TestAnotherNameWithoutAnAnswer: a program opens with another name also where nothing answers,
// where the key may only read, and without a remote. Later all is as it was.
func TestAnotherNameWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{
		"away": &remote.Unreachable{Err: errors.New("no route"), Kind: remote.Away}, "refused": remote.ErrRefused, "damaged": errors.New("none of these"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newNamed(t)
				r.fill()
				r.Remote.Refuse = func() error { return err }
				d := r.open("a", "other")
				d.say("s0", "three")
				_, failed := d.Sync(t.Context())
				require.Error(t, failed)
				r.Remote.Refuse = nil
				time.Sleep(time.Hour)
				d.sync()
				require.NoError(t, d.Close())
				unasked, failed := Open(t.Context(), filepath.Join(r.top, "a"), &Options{Identity: "third", Project: "demo", User: "ada", Device: "a"})
				require.NoError(t, failed)
				_, failed = unasked.Sync(t.Context())
				require.ErrorIs(t, failed, ErrNoRemote)
				require.NotErrorIs(t, failed, ErrUnreachable)
				require.NoError(t, unasked.Close())
				b := r.open("b", "one")
				b.sync()
				require.Equal(t, []string{"one", "two", "three"}, b.texts("s0"))
				require.Len(t, b.ids(), namedSessions)
			})
		})
	}
}

// TestAnotherNameInTheBackground: the background of a device reads few heads, too.
func TestAnotherNameInTheBackground(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newNamed(t)
		r.fill()
		s, err := Open(t.Context(), filepath.Join(r.top, "a"), &Options{Remote: r.named("other"), Project: "demo", User: "ada", Device: "a"})
		require.NoError(t, err)
		r.swaps.Store(0)
		r.reads.Store(0)
		time.Sleep(10 * time.Minute)
		all, err := s.Status(t.Context())
		require.NoError(t, err)
		require.Len(t, all, namedSessions)
		for _, is := range all {
			require.Equal(t, UpToDate, is.State)
		}
		require.Zero(t, r.swaps.Load())
		require.LessOrEqual(t, r.reads.Load(), int64(1), "the entry of each hour")
		require.NoError(t, s.Close())
	})
}

// TestCopiedByAnotherTool opens a directory with a copy of all objects that another tool made, when
// it is current, before the last turn, before another device's turn, and when other sessions of
// the same names are there: the copy has everything in the end.
func TestCopiedByAnotherTool(t *testing.T) {
	t.Parallel()
	for name, when := range map[string]func(r *namedRemote, a, b *testDevice) *memremote.Remote{
		"current": func(r *namedRemote, _, _ *testDevice) *memremote.Remote { return r.Remote.Clone() },
		"before the last turns": func(r *namedRemote, a, _ *testDevice) *memremote.Remote {
			c := r.Remote.Clone()
			r.later()
			for i := range 10 {
				a.say(fmt.Sprint("s", i), "three", "four")
			}
			a.sync()
			return c
		},
		"before the other's turns": func(r *namedRemote, a, b *testDevice) *memremote.Remote {
			c := r.Remote.Clone()
			r.later()
			for i := range 10 {
				b.say(fmt.Sprint("s", i), "three", "four")
			}
			b.sync()
			a.pull()
			return c
		},
		"before a rewind": func(r *namedRemote, a, _ *testDevice) *memremote.Remote {
			c := r.Remote.Clone()
			r.later()
			for i := range 10 {
				a.cutTo(fmt.Sprint("s", i), 1)
			}
			a.sync()
			return c
		},
		"of each object, while the device syncs": func(r *namedRemote, a, _ *testDevice) *memremote.Remote {
			c := &memremote.Remote{Version: r.Remote.Version, Now: r.Remote.Now}
			r.later()
			r.copyTo(c, segment.SessionPK)
			r.later()
			for i := range namedSessions {
				a.say(fmt.Sprint("s", i), "three", "four")
			}
			a.sync()
			a.sync()
			r.later()
			uid := segment.Identity{User: "ada", Project: "demo"}.UID()
			r.copyTo(c, func(string) string { return segment.UserPK(uid) })
			return c
		},
		"empty": func(*namedRemote, *testDevice, *testDevice) *memremote.Remote { return &memremote.Remote{} },
		"of others": func(r *namedRemote, _, _ *testDevice) *memremote.Remote {
			c := newNamed(r.t)
			c.fill()
			return c.Remote
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newNamed(t)
			r.fill()
			a, b := r.open("a", "one"), r.open("b", "one")
			c := when(r, a, b)
			want := map[string][]string{}
			for _, id := range a.ids() {
				want[id] = a.texts(id)
			}
			require.NoError(t, errors.Join(a.Close(), b.Close()))
			r.Remote = c
			a = r.open("a", "copy")
			for range 2 {
				a.sync()
			}
			for id, texts := range want {
				if name != "before a rewind" && name != "of others" { // in these the histories there count
					require.Equal(testenv.Lost(t), texts, a.texts(id))
				}
			}
			d := r.open("fresh", "copy")
			d.pull()
			for id := range want {
				require.Equal(testenv.Lost(t), a.texts(id), d.texts(id), id)
				_, err := d.Check(t.Context(), id, nil)
				require.NoError(testenv.Lost(t), err, id)
			}
		})
	}
}

const namedSessions = 20

// namedRemote is a remote with several names.
type namedRemote struct {
	*memremote.Remote
	t     *testing.T
	top   string
	swaps atomic.Int32
	reads atomic.Int64
	lists atomic.Int64
	clock atomic.Int64 // in seconds, before the machine's
}

// later moves the remote's clock on: it tells whole seconds.
func (n *namedRemote) later() { n.clock.Add(2) }

// copyTo stores the objects of parts, which partOf returns for sessions, in another remote.
func (n *namedRemote) copyTo(to *memremote.Remote, partOf func(sid string) string) {
	for i := range namedSessions {
		part := partOf(segment.Identity{User: "ada", Project: "demo", Session: fmt.Sprint("s", i)}.SID())
		for o, err := range n.Remote.List(n.t.Context(), part, remote.Query{}) {
			require.NoError(n.t, err)
			whole, err := n.Remote.Get(n.t.Context(), part, o.Name, "")
			require.NoError(n.t, err)
			_, err = to.Commit(n.t.Context(), part, []remote.Object{whole}, nil)
			require.NoError(n.t, err)
		}
	}
}

func newNamed(t *testing.T) *namedRemote {
	version := func(o *remote.Object) remote.Version { // as S3 names those of equal content
		return remote.Version(fmt.Sprintf("%x", sha256.Sum256(slices.Concat(o.Label, o.Body))))
	}
	n := &namedRemote{Remote: &memremote.Remote{Version: version}, t: t, top: t.TempDir()}
	n.Now = func() time.Time { return time.Now().Add(time.Duration(n.clock.Load()-60) * time.Second) }
	return n
}

func (n *namedRemote) named(name string) remote.Remote {
	return &countedReads{alias{n.Remote, name, &n.swaps}, n}
}

// countedReads is a remote that counts what is read of it.
type countedReads struct {
	alias
	of *namedRemote
}

func (c *countedReads) Get(ctx context.Context, part, name string, known remote.Version) (remote.Object, error) {
	c.of.reads.Add(1)
	return c.alias.Get(ctx, part, name, known)
}

func (c *countedReads) List(ctx context.Context, part string, q remote.Query) iter.Seq2[remote.Object, error] {
	c.of.lists.Add(1)
	return c.alias.List(ctx, part, q)
}

func (n *namedRemote) open(device, name string) *testDevice {
	s, err := Open(n.t.Context(), filepath.Join(n.top, device), &Options{Remote: n.named(name), Project: "demo", User: "ada", Device: device, Manual: true})
	require.NoError(n.t, err)
	testenv.Cleanup(n.t, func() { require.NoError(n.t, s.Close()) })
	return &testDevice{s, n.t}
}

// fill lets device a send sessions and device b fetch them, under name one.
func (n *namedRemote) fill() {
	a, b := n.open("a", "one"), n.open("b", "one")
	for i := range namedSessions {
		a.say(fmt.Sprint("s", i), "one", "two")
	}
	a.sync()
	a.sync() // which reads what the first one wrote
	b.pull()
	require.NoError(n.t, errors.Join(a.Close(), b.Close()))
}
