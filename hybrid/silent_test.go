package hybrid

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/hybridtest"
	"github.com/amplifier-go/sessionstorage/hybrid/remote"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// other is a remote by others, whose calls may be made otherwise.
type other struct {
	*hybridtest.Remote
	commits atomic.Int32  // that get no answer
	deaf    chan struct{} // they wait for it to be closed, and not for the end of their contexts; nil: for that
	get     func(name string) (remote.Object, bool)
	refuses func(objects []remote.Object) error
}

func (o *other) Commit(ctx context.Context, part string, objects []remote.Object, swap *remote.Swap) (remote.Version, error) {
	if o.commits.Add(-1) >= 0 {
		select {
		case <-o.deaf:
		case <-ended(ctx, o.deaf):
			return "", context.Cause(ctx)
		}
	}
	if o.refuses != nil {
		if err := o.refuses(objects); err != nil {
			return "", err
		}
	}
	return o.Remote.Commit(context.WithoutCancel(ctx), part, objects, swap)
}

// ended is closed when ctx ends, for calls that are not deaf.
func ended(ctx context.Context, deaf chan struct{}) <-chan struct{} {
	if deaf != nil {
		return nil
	}
	return ctx.Done()
}

func (o *other) Get(ctx context.Context, part, name string, known remote.Version) (remote.Object, error) {
	if o.get != nil {
		if object, ok := o.get(name); ok {
			return object, nil
		}
	}
	return o.Remote.Get(ctx, part, name, known)
}

// device opens a store with the remote.
func (o *other) device(t *testing.T, name string, edit func(*Options)) *Store {
	t.Helper()
	opts := &Options{Remote: o, Project: "p", User: "u", Device: name, Manual: true, Background: Background{CloseWait: -1}}
	if edit != nil {
		edit(opts)
	}
	st, err := Open(t.Context(), t.TempDir(), opts)
	require.NoError(t, err)
	testenv.Cleanup(t, func() { require.NoError(t, st.Close()) })
	return st
}

func append1(t *testing.T, st *Store, id, text string) {
	t.Helper()
	m, err := sessionstore.Text("user", text, time.Time{})
	require.NoError(t, err)
	require.NoError(t, st.Append(t.Context(), id, m))
}

// TestUnanswered has commits of the background get no answer, as on connections that are dead: the
// status says why, and when the remote answers again all is sent. That holds for a remote whose
// calls end with their contexts, and for one whose calls do not.
func TestUnanswered(t *testing.T) {
	t.Parallel()
	for name, deaf := range map[string]bool{"ends with the context": false, "deaf": true} {
		for _, n := range []int32{1, 4, 40} {
			t.Run(fmt.Sprint(name, n), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					r := &other{Remote: hybridtest.New()}
					if deaf {
						r.deaf = make(chan struct{})
					}
					st := r.device(t, "d", func(o *Options) { o.Manual = false })
					time.Sleep(time.Minute)
					r.commits.Store(n)
					for i := range 6 {
						append1(t, st, fmt.Sprint("s", i), "hello")
					}
					told := 0
					for range 20 {
						time.Sleep(10 * time.Second)
						all, err := st.Status(t.Context())
						require.NoError(t, err)
						for _, s := range all {
							if s.Err != nil {
								require.Equal(t, Deferred, s.State)
								require.ErrorIs(t, s.Err, ErrUnreachable)
								told++
							}
						}
					}
					if n >= 4 {
						require.Positive(t, told, "statuses with a reason")
					}
					if deaf {
						close(r.deaf)
					}
					time.Sleep(testenv.Share(2*time.Hour, 2*time.Hour, 24*time.Hour))
					all, err := st.Status(t.Context())
					require.NoError(t, err)
					require.Len(t, all, 6)
					for _, s := range all {
						require.Equal(t, UpToDate, s.State, "%s: %v", s.SessionID, s.Err)
					}
				})
			})
		}
	}
}

// TestLargeObject has a remote return an object of a session that is larger than any: that session
// is blocked and says why, and the others go on.
func TestLargeObject(t *testing.T) {
	t.Parallel()
	for _, of := range []string{"-head", "-t-"} {
		synctest.Test(t, func(t *testing.T) {
			r := &other{Remote: hybridtest.New()}
			a, b := r.device(t, "a", nil), r.device(t, "b", nil)
			for _, id := range []string{"s0", "s1"} {
				append1(t, a, id, "hello")
			}
			_, err := a.Sync(t.Context())
			require.NoError(t, err)
			large := remote.Object{Version: "v", Label: []byte(`{"type":"head","v":3}`), Body: make([]byte, remote.MaxObject+1)}
			var mu sync.Mutex // guards bad
			bad := ""
			r.get = func(name string) (remote.Object, bool) {
				mu.Lock()
				defer mu.Unlock()
				if bad == "" && strings.Contains(name, of) {
					bad = name
				}
				object := large
				object.Name = name
				return object, name == bad
			}
			out, err := b.Pull(t.Context())
			require.ErrorIs(t, err, remote.ErrTooLarge, of)
			require.Equal(t, 1, out.Pulled, "the other one came")
			append1(t, a, "s0", "more")
			append1(t, a, "s1", "more")
			_, err = a.Sync(t.Context())
			states := map[State]int{}
			all, failed := a.Status(t.Context())
			require.NoError(t, failed)
			for _, s := range all {
				if states[s.State]++; s.State == Blocked {
					require.ErrorIs(t, s.Err, remote.ErrTooLarge)
				}
			}
			if of == "-head" {
				require.ErrorIs(t, err, remote.ErrTooLarge)
				require.Equal(t, map[State]int{Blocked: 1, UpToDate: 1}, states)
			}
			r.get = nil
			_, err = a.Sync(t.Context())
			require.NoError(t, err)
			_, err = b.Pull(t.Context())
			require.NoError(t, err)
			ids, err := b.List(t.Context(), nil)
			require.NoError(t, err)
			require.Len(t, ids, 2)
		})
	}
}

// TestLineRepeatsItself syncs lines whose pieces are equal: a remote gets each name once in a
// commit, and another device the same lines.
func TestLineRepeatsItself(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"a letter":     strings.Repeat("x", 3_000_000),
		"a pattern":    strings.Repeat("0123456789abcdef", 1_250_000),
		"zeros":        strings.Repeat("0", 1_000_000),
		"with an end":  strings.Repeat("x", 3_000_000) + "y",
		"a long piece": strings.Repeat(strings.Repeat("x", 512<<10)+strings.Repeat("y", 512<<10), 3),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := &other{Remote: hybridtest.New()}
			r.refuses = func(objects []remote.Object) error {
				seen := map[string]bool{}
				for _, o := range objects {
					if seen[o.Name] {
						return fmt.Errorf("%w: a row is changed twice", remote.ErrRefused)
					}
					seen[o.Name] = true
				}
				return nil
			}
			a, b := r.device(t, "a", nil), r.device(t, "b", nil)
			append1(t, a, "s", text)
			append1(t, a, "s", text)
			_, err := a.Sync(t.Context())
			require.NoError(t, err)
			_, err = b.Pull(t.Context())
			require.NoError(t, err)
			want, err := os.ReadFile(filepath.Join(a.Dir(), "s", "transcript.jsonl"))
			require.NoError(t, err)
			require.Greater(t, len(want), 2*len(text))
			got, err := os.ReadFile(filepath.Join(b.Dir(), "s", "transcript.jsonl"))
			require.NoError(t, err)
			require.True(t, bytes.Equal(want, got), "the same lines")
		})
	}
}

// TestUnitsAreNotCounted opens stores with a limit of request units, at remotes that count them and
// that do not.
func TestUnitsAreNotCounted(t *testing.T) {
	t.Parallel()
	r := hybridtest.New()
	open := func(limit float64) error {
		st, err := Open(t.Context(), t.TempDir(), &Options{Remote: r, Project: "p", Manual: true, Limits: &Limits{RequestUnitsPerSecond: limit}})
		if err == nil {
			err = st.Close()
		}
		return err
	}
	require.NoError(t, open(0))
	require.ErrorContains(t, open(10), "RequestUnitsPerSecond")
}
