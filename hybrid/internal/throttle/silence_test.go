package throttle

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/jitter"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/memremote"
	"github.com/amplifier-go/sessionstorage/hybrid/remote"
)

// trickle lets a part of an answer come each 20 seconds, for a time.
func trickle(ctx context.Context, left time.Duration) error {
	for ; left > 0; left -= 20 * time.Second {
		if err := jitter.Pause(ctx, 20*time.Second, nil); err != nil {
			return err
		}
		remote.Heard(ctx)
	}
	return nil
}

// acts is a remote whose calls first do something else. A list does it before its row n.
type acts struct {
	memremote.Remote
	act func(context.Context) error
	row int
}

func (a *acts) Get(ctx context.Context, part, name string, known remote.Version) (o remote.Object, err error) {
	if err := a.act(ctx); err != nil {
		return o, err
	}
	return a.Remote.Get(context.WithoutCancel(ctx), part, name, known)
}

func (a *acts) Commit(ctx context.Context, part string, objects []remote.Object, swap *remote.Swap) (remote.Version, error) {
	if err := a.act(ctx); err != nil {
		return "", err
	}
	return a.Remote.Commit(context.WithoutCancel(ctx), part, objects, swap)
}

func (a *acts) Delete(ctx context.Context, part string, names []string) error {
	if err := a.act(ctx); err != nil {
		return err
	}
	return a.Remote.Delete(context.WithoutCancel(ctx), part, names)
}

func (a *acts) List(ctx context.Context, part string, q remote.Query) iter.Seq2[remote.Object, error] {
	return func(yield func(remote.Object, error) bool) {
		n := 0
		for o, err := range a.Remote.List(context.WithoutCancel(ctx), part, q) {
			if n == a.row {
				if failed := a.act(ctx); failed != nil {
					yield(remote.Object{}, failed)
					return
				}
			}
			if n++; !yield(o, err) {
				return
			}
		}
	}
}

func (a *acts) Info(ctx context.Context) (remote.Info, error) {
	if err := a.act(ctx); err != nil {
		return remote.Info{Identity: "acts"}, err
	}
	return a.Remote.Info(ctx)
}

// methods are the calls of a remote with a part of three objects.
var methods = map[string]func(context.Context, remote.Remote) error{
	"Get":    get,
	"List":   last,
	"Commit": put,
	"Delete": func(ctx context.Context, r remote.Remote) error { return r.Delete(ctx, "p", []string{"none"}) },
	"swap": func(ctx context.Context, r remote.Remote) error {
		_, err := r.Commit(ctx, "p", named("x"), swapOf("head"))
		return err
	},
}

// acting returns a remote of three objects that acts from now on, and its budget.
func acting(t *testing.T, act func(context.Context) error) (*acts, *Budget, remote.Remote) {
	a, b := &acts{act: func(context.Context) error { return nil }}, NewBudget(0, nil)
	r := New(a, b, nil)
	_, err := r.Commit(t.Context(), "p", named("a", "b", "c"), nil)
	require.NoError(t, err)
	time.Sleep(time.Minute)
	a.act = act
	return a, b, r
}

// never lasts until the end of a bubble, in the context of its calls.
type never struct{}

// deaf does not return when its context ends.
func deaf(ctx context.Context) error {
	<-ctx.Value(never{}).(chan struct{})
	return context.Canceled
}

// TestSilence ends each call in which nothing moves for half a minute, from its beginning or amid
// an answer, whether the remote returns then or not. A call in which a byte moves now and then
// goes on.
func TestSilence(t *testing.T) {
	t.Parallel()
	sent := func(act func(context.Context) error) func(context.Context) error {
		return func(ctx context.Context) error { remote.Moved(ctx); return act(ctx) }
	}
	for name, tt := range map[string]struct {
		act  func(context.Context) error
		took time.Duration // 0: it is done
		row  int
	}{
		"mute":        {sent(mute), silence, 0},
		"mute, later": {sent(mute), silence, 2},
		"mute since it sent": {func(ctx context.Context) error {
			remote.Moved(ctx)
			return cmp.Or(jitter.Pause(ctx, 20*time.Second, nil), sent(mute)(ctx))
		}, 20*time.Second + silence, 0},
		"mute amid a body": {func(ctx context.Context) error {
			return cmp.Or(trickle(ctx, 5*time.Minute), mute(ctx))
		}, 5*time.Minute + silence, 1},
		"deaf":             {sent(deaf), silence + lastWords, 0},
		"deaf, later":      {sent(deaf), silence + lastWords, 2},
		"a byte at a time": {func(ctx context.Context) error { return trickle(ctx, time.Hour) }, 0, 1},
	} {
		for method, call := range methods {
			t.Run(name+" "+method, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					a, b, r := acting(t, tt.act)
					a.row = tt.row
					release := make(chan struct{})
					defer close(release)
					ctx := context.WithValue(t.Context(), never{}, release)
					start := time.Now()
					err := call(ctx, r)
					if tt.took == 0 {
						require.NoError(t, err)
						require.Equal(t, time.Hour, time.Since(start))
						return
					}
					require.Equal(t, tt.took, time.Since(start))
					require.ErrorIs(t, err, remote.NoAnswer(silence))
					require.ErrorIs(t, err, remote.ErrUnreachable)
					require.Equal(t, method == "swap", errors.Is(err, remote.ErrUnknown), "%v", err)
					require.ErrorIs(t, b.Away(), remote.ErrUnreachable)
					a.act = func(context.Context) error { return nil }
					time.Sleep(awayFor)
					require.NoError(t, call(ctx, r), "it answers again")
				})
			})
		}
	}
}

// TestSilenceOfOthers gives remotes that tell of no part the time that bytes take: of a commit
// those that are sent, and of a read those of the largest object.
func TestSilenceOfOthers(t *testing.T) {
	t.Parallel()
	large := remote.Object{Name: "l", Label: []byte("{}"), Body: make([]byte, 3<<20)}
	for name, tt := range map[string]struct {
		call  func(context.Context, remote.Remote) error
		bytes int
	}{
		"Get":    {get, remote.MaxObject},
		"List":   {last, 0},
		"Delete": {methods["Delete"], 0},
		"Commit": {func(ctx context.Context, r remote.Remote) error {
			_, err := r.Commit(ctx, "p", []remote.Object{large}, nil)
			return err
		}, large.Size()},
		"swap": {func(ctx context.Context, r remote.Remote) error {
			_, err := r.Commit(ctx, "p", named("x"), &remote.Swap{Object: large})
			return err
		}, large.Size() + named("x")[0].Size()},
	} {
		for late, took := range map[time.Duration]time.Duration{-time.Second: -time.Second, time.Second: 0} {
			synctest.Test(t, func(t *testing.T) {
				limit := 30*time.Second + time.Duration(tt.bytes)*time.Second/(16<<10)
				_, _, r := acting(t, func(ctx context.Context) error { return jitter.Pause(ctx, limit+late, nil) })
				start := time.Now()
				err := tt.call(t.Context(), r)
				require.Equal(t, limit+took, time.Since(start), name)
				require.Equal(t, late > 0, errors.Is(err, remote.ErrUnreachable), "%s: %v", name, err)
			})
		}
	}
}

// TestSlowCaller takes an hour for each row of a list, in which the remote need not move anything,
// also while it reads ahead.
func TestSlowCaller(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, _, r := acting(t, func(ctx context.Context) error {
			time.AfterFunc(time.Minute, func() { remote.Heard(ctx) })
			return nil
		})
		n := 0
		for _, err := range r.List(t.Context(), "p", remote.Query{}) {
			require.NoError(t, err)
			time.Sleep(time.Hour)
			n++
		}
		require.Equal(t, 3, n)
	})
}

// TestLeft leaves calls that do not return: with four of them no further call is made, until one
// returns. What they do later is done, and what they return is dropped.
func TestLeft(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release, made := make(chan struct{}), atomic.Int64{}
		a, b, r := acting(t, func(ctx context.Context) error {
			made.Add(1)
			remote.Moved(ctx)
			<-release
			return nil
		})
		swap, objects := swapOf("head"), named("a")
		for range maxLeft {
			_, err := r.Commit(t.Context(), "p", objects, swap)
			require.ErrorIs(t, err, remote.ErrUnknown)
			time.Sleep(awayFor)
		}
		swap.Body, swap.If, objects[0].Body = []byte("changed since"), "another", []byte("changed since")
		for _, call := range methods {
			err := took(t, 0, func() error { return call(t.Context(), r) })
			require.ErrorIs(t, err, remote.ErrUnreachable)
			require.ErrorContains(t, err, "given up")
			require.NoError(t, b.Away())
		}
		_, err := r.Info(t.Context())
		require.Error(t, err)
		require.EqualValues(t, maxLeft, made.Load(), "calls that were made")
		a.act = func(context.Context) error { return nil }
		close(release)
		synctest.Wait()
		o, err := r.Get(t.Context(), "p", "head", "")
		require.NoError(t, err)
		require.Empty(t, o.Body)
		for _, call := range methods {
			if err := call(t.Context(), r); !errors.Is(err, remote.ErrChanged) {
				require.NoError(t, err)
			}
		}
	})
}

// TestSilentInfo asks for the properties of a remote that does not answer.
func TestSilentInfo(t *testing.T) {
	t.Parallel()
	for name, act := range map[string]func(context.Context) error{"mute": mute, "deaf": deaf} {
		synctest.Test(t, func(t *testing.T) {
			release := make(chan struct{})
			defer close(release)
			_, b, r := acting(t, act)
			start := time.Now()
			_, err := r.Info(context.WithValue(context.Background(), never{}, release))
			require.ErrorIs(t, cmp.Or(err, b.Away()), remote.ErrUnreachable, name)
			require.LessOrEqual(t, time.Since(start), silence+lastWords, name)
		})
	}
}

// planted is a remote of which others filled the part p.
type planted struct {
	memremote.Remote
	all map[string]remote.Object
}

func (p *planted) Get(ctx context.Context, part, name string, known remote.Version) (remote.Object, error) {
	if part == "p" {
		return p.all[name], nil
	}
	return p.Remote.Get(ctx, part, name, known)
}

func (p *planted) List(ctx context.Context, part string, q remote.Query) iter.Seq2[remote.Object, error] {
	if part != "p" {
		return p.Remote.List(ctx, part, q)
	}
	return func(yield func(remote.Object, error) bool) {
		for _, name := range slices.Sorted(maps.Keys(p.all)) {
			if !yield(p.all[name], nil) {
				return
			}
		}
	}
}

// TestTooLarge has a remote return more than it may, and take more.
func TestTooLarge(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &planted{all: map[string]remote.Object{}}
		r := New(m, NewBudget(0, nil), nil)
		fits := remote.Object{Name: "fits", Label: []byte(`"` + strings.Repeat("l", remote.MaxLabel-2) + `"`), Body: make([]byte, remote.MaxObject)}
		body, label := fits, fits
		body.Name, body.Body = "body", make([]byte, remote.MaxObject+1)
		label.Name, label.Label = "label", append(fits.Label, ' ')
		for _, o := range []remote.Object{body, label} {
			m.all[o.Name] = o
			_, err := r.Get(t.Context(), "p", o.Name, "")
			require.ErrorIs(t, err, remote.ErrTooLarge)
			_, err = r.Commit(t.Context(), "q", append(named("a"), o), nil)
			require.ErrorIs(t, err, remote.ErrTooLarge)
			_, err = r.Commit(t.Context(), "q", named("a"), &remote.Swap{Object: o})
			require.ErrorIs(t, err, remote.ErrTooLarge)
		}
		_, err := r.Commit(t.Context(), "q", nil, &remote.Swap{Object: fits})
		require.NoError(t, err)
		_, err = r.Get(t.Context(), "q", "fits", "")
		require.NoError(t, err)
		for o, err := range r.List(t.Context(), "p", remote.Query{}) {
			require.NoError(t, err)
			require.Equal(t, o.Name != "label", o.Label != nil, o.Name)
		}
		for o, err := range r.List(t.Context(), "q", remote.Query{}) {
			require.NoError(t, err)
			require.Equal(t, "fits", o.Name, "what else was stored")
		}
	})
}

// TestTwice stores an object once that a commit has twice, and refuses two objects of one name.
func TestTwice(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &fake{}
		r := New(f, NewBudget(0, nil), nil)
		twice := append(named("a", "b", "a"), named("b")...)
		_, err := r.Commit(t.Context(), "p", twice, swapOf("head"))
		require.NoError(t, err)
		require.Equal(t, []string{"a", "b"}, f.stored)
		other := named("c", "c")
		other[1].Body = []byte("other")
		for _, objects := range [][]remote.Object{other, named("head")} {
			_, err = r.Commit(t.Context(), "p", objects, swapOf("head"))
			require.ErrorContains(t, err, "two objects of the name")
		}
		require.Equal(t, 1, f.made())
	})
}
