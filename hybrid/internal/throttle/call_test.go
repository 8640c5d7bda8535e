package throttle

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/jitter"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/memremote"
	"github.com/amplifier-go/sessionstorage/hybrid/remote"
)

// gets is a remote whose Get does something else.
type gets struct {
	memremote.Remote
	get func(context.Context) error
}

func (g *gets) Get(ctx context.Context, _, _ string, _ remote.Version) (remote.Object, error) {
	return remote.Object{}, g.get(ctx)
}

// mute never answers.
func mute(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

// took requires a call to take a time of the bubble, and returns its error.
func took(t *testing.T, want time.Duration, call func() error) error {
	t.Helper()
	start := time.Now()
	err := call()
	require.Equal(t, want, time.Since(start), "%v", err)
	return err
}

// TestWithin waits for the first answer of a remote that is mute: for as long as the work
// waits, once, and from then on nobody waits.
func TestWithin(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := NewBudget(0, nil)
		r := New(&gets{get: mute}, b, nil)
		ctx := b.Within(t.Context(), 5*time.Second)
		err := took(t, 5*time.Second, func() error { return get(ctx, r) })
		require.ErrorIs(t, err, remote.ErrUnreachable)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.EqualError(t, err, "the remote cannot be reached: no answer in 5s")
		require.ErrorIs(t, b.Away(), remote.ErrUnreachable)
		require.Equal(t, time.Now().Add(awayFor), b.Opens())
		for _, ctx := range []context.Context{ctx, t.Context()} {
			require.ErrorIs(t, took(t, 0, func() error { return get(ctx, r) }), remote.ErrUnreachable)
		}
		time.Sleep(awayFor)
		require.ErrorIs(t, took(t, 0, func() error { return get(ctx, r) }), remote.ErrUnreachable, "the wait of this work is over")
	})
}

// TestFirstAnswer waits no longer for the first answer when it begins to come, also where the
// rest takes minutes, nor for the answers of later calls.
func TestFirstAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := NewBudget(0, nil)
		r := New(&gets{get: func(ctx context.Context) error {
			if err := jitter.Pause(ctx, time.Second, nil); err != nil {
				return err
			}
			remote.Heard(ctx)
			require.True(t, b.Answers())
			return trickle(ctx, 2*time.Minute)
		}}, b, nil)
		ctx := b.Within(t.Context(), 5*time.Second)
		require.NoError(t, took(t, time.Second+2*time.Minute, func() error { return get(ctx, r) }))
		slow := New(&gets{get: func(ctx context.Context) error { return jitter.Pause(ctx, time.Minute, nil) }}, b, nil)
		require.NoError(t, took(t, time.Minute, func() error { return get(ctx, slow) }))
		fresh := b.Within(t.Context(), 5*time.Second)
		require.ErrorIs(t, took(t, 5*time.Second, func() error { return get(fresh, slow) }), remote.ErrUnreachable)
	})
}

// TestEndOfTheContext ends calls by their context: after a deadline in which the remote told
// nothing it is away, and a call that its caller broke off tells nothing of it.
func TestEndOfTheContext(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		wait time.Duration
		get  func(context.Context) error
		away bool
	}{
		"two seconds":         {2 * time.Second, mute, true},
		"too short":           {time.Second / 2, mute, false},
		"amid the answer":     {2 * time.Second, func(ctx context.Context) error { time.Sleep(time.Millisecond); remote.Heard(ctx); return mute(ctx) }, false},
		"told as unreachable": {2 * time.Second, func(ctx context.Context) error { _ = mute(ctx); return remote.ErrUnreachable }, true},
		"told as unknown":     {2 * time.Second, func(ctx context.Context) error { return unknown(mute(ctx)) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := NewBudget(0, nil)
				r := New(&gets{get: tt.get}, b, nil)
				ctx, cancel := context.WithTimeout(t.Context(), tt.wait)
				defer cancel()
				err := took(t, tt.wait, func() error { return get(ctx, r) })
				require.ErrorIs(t, err, context.DeadlineExceeded)
				require.ErrorIs(t, err, remote.ErrUnreachable)
				require.Equal(t, tt.away, b.Away() != nil)
			})
			synctest.Test(t, func(t *testing.T) {
				b := NewBudget(0, nil)
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(tt.wait, cancel)
				err := get(ctx, New(&gets{get: tt.get}, b, nil))
				require.ErrorIs(t, err, context.Canceled)
				require.NotErrorIs(t, err, remote.ErrUnreachable)
				require.NoError(t, b.Away())
			})
		})
	}
	for _, cause := range []error{remote.ErrFull, remote.ErrBlocked, unreachable(remote.Failed, 0), remote.ErrUnauthorized} {
		synctest.Test(t, func(t *testing.T) { // the reason of the caller is none of the remote
			b := NewBudget(0, nil)
			ctx, cancel := context.WithCancelCause(t.Context())
			why := fmt.Errorf("another one failed: %w", cause)
			r := New(&gets{get: func(ctx context.Context) error { cancel(why); return context.Cause(ctx) }}, b, nil)
			require.Equal(t, why, get(ctx, r))
			require.False(t, b.Answers())
			require.Zero(t, b.Opens())
			require.NoError(t, b.admit(t.Context(), 1))
		})
	}
	synctest.Test(t, func(t *testing.T) { // an answer that came counts
		b := NewBudget(0, nil)
		ctx, cancel := context.WithCancel(t.Context())
		r := New(&gets{get: func(context.Context) error { cancel(); return remote.ErrUnchanged }}, b, nil)
		require.ErrorIs(t, get(ctx, r), remote.ErrUnchanged)
		require.True(t, b.Answers())
	})
}

// TestNoAnswerAmidOthers has a remote give up a request after half a minute in which others
// were answered, or were not.
func TestNoAnswerAmidOthers(t *testing.T) {
	t.Parallel()
	for _, others := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			b := NewBudget(0, nil)
			b.hear()
			made := 0
			r := New(&gets{get: func(context.Context) error {
				made++
				time.Sleep(awayFor)
				return remote.NoAnswer(awayFor)
			}}, b, nil)
			time.AfterFunc(time.Second, func() {
				if others {
					b.hear()
				}
			})
			require.ErrorIs(t, get(t.Context(), r), remote.ErrUnreachable)
			require.Equal(t, 1, made)
			require.Equal(t, others, b.Away() == nil)
		})
	}
}

// TestWaitingForOtherWork waits for work that waits for a mute remote: for as long as for a
// first answer, or not at all where the remote is away.
func TestWaitingForOtherWork(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := NewBudget(0, nil)
		wait := func(ctx context.Context) error {
			ctx, stop := Waiting(ctx)
			defer stop()
			select {
			case <-ctx.Done():
				return context.Cause(ctx)
			case <-time.After(time.Minute):
				return nil
			}
		}
		require.NoError(t, took(t, time.Minute, func() error { return wait(t.Context()) }))
		time.AfterFunc(time.Second, b.hear)
		require.NoError(t, took(t, time.Minute, func() error { return wait(b.Within(t.Context(), 5*time.Second)) }))
		require.ErrorIs(t, took(t, 5*time.Second, func() error { return wait(b.Within(t.Context(), 5*time.Second)) }), remote.ErrUnreachable)
		require.ErrorIs(t, took(t, 0, func() error { return wait(b.Within(t.Context(), 5*time.Second)) }), remote.ErrUnreachable)
	})
}

// TestRoleOnItsWay lets a role assignment arrive after a time: calls wait for it, one a
// minute for half an hour and then one in 15 minutes.
func TestRoleOnItsWay(t *testing.T) {
	t.Parallel()
	for after, asked := range map[time.Duration]int{5 * time.Minute: 6, 2 * time.Hour: 38} {
		synctest.Test(t, func(t *testing.T) {
			start, made := time.Now(), 0
			r := New(&gets{get: func(context.Context) error {
				if made++; time.Since(start) < after {
					return remote.ErrUnauthorized
				}
				return nil
			}}, NewBudget(0, nil), nil)
			for get(t.Context(), r) != nil {
				time.Sleep(5 * time.Second)
			}
			require.Less(t, time.Since(start), after+16*time.Minute)
			require.InDelta(t, asked, made, 2)
		})
	}
}

// sleeps is a remote whose changes fail. The machine sleeps during the first one.
type sleeps struct {
	memremote.Remote
	asleep time.Duration
	made   int
}

func (s *sleeps) change(ctx context.Context) error {
	if s.made++; s.made == 1 {
		for end := time.Now().Add(s.asleep); time.Now().Before(end); time.Sleep(20 * time.Second) {
			remote.Moved(ctx) // the limits of silence do not count that time
		}
	}
	return &remote.Unreachable{Err: errBroken}
}

func (s *sleeps) Commit(ctx context.Context, _ string, _ []remote.Object, _ *remote.Swap) (remote.Version, error) {
	return "", s.change(ctx)
}

func (s *sleeps) Delete(ctx context.Context, _ string, _ []string) error { return s.change(ctx) }

var errBroken = errors.New("the connection broke")

// TestRepeatedLate: what stores or removes is not made again when the machine slept for more
// than an hour since its first try.
func TestRepeatedLate(t *testing.T) {
	t.Parallel()
	for slept, want := range map[time.Duration]int{50 * time.Minute: maxTries, 70 * time.Minute: 1} {
		for name, change := range map[string]func(context.Context, remote.Remote) error{
			"commit": func(ctx context.Context, r remote.Remote) error {
				_, err := r.Commit(ctx, "p", []remote.Object{{Name: "n", Body: []byte("x")}}, nil)
				return err
			},
			"delete": func(ctx context.Context, r remote.Remote) error { return r.Delete(ctx, "p", []string{"n"}) },
		} {
			t.Run(fmt.Sprint(name, " ", slept), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					b, s := NewBudget(0, nil), &sleeps{asleep: slept}
					b.heard = time.Now() // a remote that never answered is away at its first failure
					require.ErrorIs(t, change(t.Context(), New(s, b, nil)), remote.ErrUnreachable)
					require.Equal(t, want, s.made)
				})
			})
		}
	}
}
