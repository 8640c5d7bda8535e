package hybrid

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/memremote"
	"github.com/amplifier-go/sessionstorage/hybrid/remote"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// keeps is a remote without the right to remove objects.
type keeps struct{ remote.Remote }

func (k keeps) Commit(ctx context.Context, part string, objects []remote.Object, swap *remote.Swap) (remote.Version, error) {
	if swap != nil {
		copied := *swap
		copied.Remove, swap = nil, &copied
	}
	return k.Remote.Commit(ctx, part, objects, swap)
}

func (keeps) Delete(context.Context, string, []string) error { return remote.ErrUnauthorized }

// goesOn adds a message to a session over a remote, as a device that has nothing before.
func goesOn(t *testing.T, r remote.Remote, text string) {
	t.Helper()
	d := at(t, r, filepath.Join(t.TempDir(), "d"), "d")
	d.pull()
	d.say("s", text)
	d.sync()
	requireClosed(t, d.Store)
}

// textsThere returns the messages that a remote has of a session.
func textsThere(t *testing.T, r remote.Remote) []string {
	t.Helper()
	d := at(t, r, filepath.Join(t.TempDir(), "d"), "d")
	d.pull()
	defer requireClosed(t, d.Store)
	return d.texts("s")
}

// TestCopyBack takes sessions to another remote, where devices go on, and back, several
// times, also where no remote lets anything be removed. Where devices went on in both, the
// session is named.
func TestCopyBack(t *testing.T) {
	t.Parallel()
	for _, kept := range []bool{false, true} {
		memory, a := filled(t)
		requireClosed(t, a.Store)
		here, there := remote.Remote(memory), remote.Remote(&memremote.Remote{})
		if kept {
			here, there = keeps{here}, keeps{there}
		}
		_, err := Copy(t.Context(), here, there, "ada", "demo", nil)
		require.NoError(t, err)
		for i := range 4 {
			d := at(t, there, filepath.Join(t.TempDir(), "d"), "d")
			d.pull()
			d.cutTo("s", 1)
			d.say("s", fmt.Sprint("another way ", i))
			d.say(fmt.Sprint("new-", i), "one")
			d.sync()
			if !kept {
				_, err = d.Prune(t.Context(), &PruneOptions{Grace: time.Nanosecond, HistoryRetention: time.Nanosecond, All: true})
				require.NoError(t, err)
			}
			requireClosed(t, d.Store)
			again, err := Copy(t.Context(), here, there, "ada", "demo", nil)
			require.NoError(t, err)
			require.Zero(t, again.Copied)
			again, err = Copy(t.Context(), there, here, "ada", "demo", nil)
			require.NoError(t, err)
			require.GreaterOrEqual(t, again.Copied, 2)
			sameThere(t, there, here)
			here, there = there, here
		}
		goesOn(t, here, "here")
		goesOn(t, there, "there")
		for _, way := range [][2]remote.Remote{{here, there}, {there, here}} {
			again, err := Copy(t.Context(), way[0], way[1], "ada", "demo", nil)
			require.ErrorIs(t, err, ErrElsewhere)
			require.ErrorContains(t, err, `copy session "s": the other remote has`)
			require.Zero(t, again.Copied)
		}
	}
}

// TestCopyFromTwo copies a session from two remotes, where devices went on in both.
func TestCopyFromTwo(t *testing.T) {
	t.Parallel()
	one, a := filled(t)
	requireClosed(t, a.Store)
	two, to := &memremote.Remote{}, &memremote.Remote{}
	_, err := Copy(t.Context(), one, two, "ada", "demo", nil)
	require.NoError(t, err)
	goesOn(t, one, "in one")
	_, err = Copy(t.Context(), one, to, "ada", "demo", nil)
	require.NoError(t, err)
	goesOn(t, two, "in two")
	goesOn(t, two, "and again")
	want := textsThere(t, to)
	_, err = Copy(t.Context(), two, to, "ada", "demo", nil)
	require.ErrorIs(t, err, ErrElsewhere)
	require.Equal(t, want, textsThere(t, to))
}

// stepped is a remote that ends a context ahead of a step: a request, or the swap of one.
type stepped struct {
	remote.Remote
	step func() error
}

func (s *stepped) Get(ctx context.Context, part, name string, known remote.Version) (remote.Object, error) {
	if err := s.step(); err != nil {
		return remote.Object{}, err
	}
	return s.Remote.Get(ctx, part, name, known)
}

func (s *stepped) Commit(ctx context.Context, part string, objects []remote.Object, swap *remote.Swap) (remote.Version, error) {
	if err := s.step(); err != nil {
		return "", err
	}
	if _, err := s.Remote.Commit(ctx, part, objects, nil); err != nil || swap == nil {
		return "", err
	}
	if err := s.step(); err != nil {
		return "", err
	}
	return s.Remote.Commit(ctx, part, nil, swap)
}

// TestCopyBackIsKilled ends a copy back before each of its steps. Another copy goes on, also
// where devices went on with the source. Where they went on with the other remote before it,
// nothing of them is lost; where they did so after it, nothing is to be copied.
func TestCopyBackIsKilled(t *testing.T) {
	t.Parallel()
	one, a := filled(t)
	requireClosed(t, a.Store)
	two := &memremote.Remote{}
	_, err := Copy(t.Context(), one, two, "ada", "demo", nil)
	require.NoError(t, err)
	goesOn(t, two, "in the copy")
	killed := errors.New("killed")
	step := testenv.Share(3, 2, 1)
	for end := 0; ; end += step {
		for _, after := range []string{"nothing", "source", "other"} {
			from, to := two.Clone(), one.Clone()
			ctx, cancel := context.WithCancelCause(t.Context())
			var steps atomic.Int64 // several sessions are copied at once
			count := func() error {
				if steps.Add(1) > int64(end) {
					cancel(killed)
					return killed
				}
				return nil
			}
			_, err := Copy(ctx, from, &stepped{to, count}, "ada", "demo", nil)
			cancel(nil)
			if err == nil && after == "other" {
				require.Greater(t, end, 20)
				return
			}
			if after == "source" {
				goesOn(t, from, "in the source")
			}
			if after != "other" {
				_, err := Copy(t.Context(), from, to, "ada", "demo", nil)
				require.NoError(t, err, end)
				sameThere(t, from, to)
				goesOn(t, to, "in the other")
				sum, err := Copy(t.Context(), from, to, "ada", "demo", nil)
				require.NoError(t, err, end)
				require.Zero(t, sum.Copied)
				_, err = Copy(t.Context(), to, from, "ada", "demo", nil)
				require.NoError(t, err, end)
				sameThere(t, from, to)
				continue
			}
			goesOn(t, to, "in the other")
			want := textsThere(t, to)
			_, err = Copy(t.Context(), from, to, "ada", "demo", nil)
			if err != nil {
				require.ErrorIs(t, err, ErrElsewhere)
			}
			require.Equal(t, want, textsThere(t, to))
			if err == nil {
				require.Contains(t, want, "in the copy")
			}
		}
	}
}
