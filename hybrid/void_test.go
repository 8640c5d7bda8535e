package hybrid

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/memremote"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/replica"
	"github.com/amplifier-go/sessionstorage/hybrid/remote"
	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// counting is a remote that calls do after its commit number left.
type counting struct {
	alias
	left int
	do   func()
}

func (c *counting) Commit(ctx context.Context, part string, objects []remote.Object, swap *remote.Swap) (remote.Version, error) {
	v, err := c.alias.Commit(ctx, part, objects, swap)
	if c.left--; c.left == 0 {
		c.do()
	}
	return v, err
}

// voided is a directory whose sessions are in one bucket, and another bucket with the same address.
type voided struct {
	t     *testing.T
	at    string
	other *counting
}

const voidedSessions = 20

func newVoided(t *testing.T) *voided {
	swaps := new(atomic.Int32)
	of := func() *counting {
		return &counting{alias: alias{&memremote.Remote{}, "s3 https://one.example bucket/", swaps}}
	}
	v := &voided{t, filepath.Join(t.TempDir(), "sessions"), of()}
	first := of()
	for range 2 {
		a := v.open(v.at, first, nil)
		for i := range voidedSessions {
			if id := fmt.Sprint("s", i); !a.Exists(id) {
				a.say(id, "one", "two")
			}
		}
		a.sync()
		require.NoError(t, a.Close())
	}
	return v
}

func (v *voided) open(dir string, r remote.Remote, hooks *seam.Seam) *testDevice {
	s, err := open(v.t.Context(), dir, &Options{Remote: r, Project: "demo", User: "ada", Device: "a", Manual: true}, hooks, func(e *engine) { e.Alone = true })
	require.NoError(v.t, err)
	return &testDevice{s, v.t}
}

// requireSent syncs the directory, and requires that the other bucket has every session then.
func (v *voided) requireSent() {
	a := v.open(v.at, v.other, nil)
	a.sync()
	a.sync()
	require.NoError(v.t, a.Close())
	b := v.open(filepath.Join(v.t.TempDir(), "sessions"), v.other, nil)
	b.pull()
	require.Len(testenv.Lost(v.t), b.ids(), voidedSessions)
	require.NoError(v.t, b.Close())
}

// TestVoidOutlivesAKill kills a program that found another bucket under the known address, after
// each of some commits: the next program sends what the other bucket lacks.
func TestVoidOutlivesAKill(t *testing.T) {
	t.Parallel()
	for _, after := range []int{1, 2, 3, 8, 14, 20, 30, 38} {
		t.Run(fmt.Sprint(after), func(t *testing.T) {
			t.Parallel()
			v := newVoided(t)
			book, left := filepath.Join(v.at, sessiondir.Bookkeeping, statesDir), filepath.Join(t.TempDir(), "left")
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			v.other.left, v.other.do = after, func() {
				require.NoError(t, os.CopyFS(left, os.DirFS(book)))
				cancel()
			}
			a := v.open(v.at, v.other, nil)
			_, _ = a.Sync(ctx) // it is broken off
			require.NoError(t, a.Close())
			require.NoError(t, os.RemoveAll(book))
			require.NoError(t, os.CopyFS(book, os.DirFS(left)))
			v.requireSent()
		})
	}
}

// TestVoidIsSavedBeforeItSends: where the disk takes no file that says that the bucket is another
// one, a Sync sends nothing, and the next one tries again.
func TestVoidIsSavedBeforeItSends(t *testing.T) {
	t.Parallel()
	v := newVoided(t)
	full, errFull := true, errors.New("the disk is full")
	a := v.open(v.at, v.other, &seam.Seam{Before: func(op seam.Op) error {
		if full && strings.HasPrefix(op.To+op.Name, replica.Prefix) {
			return errFull
		}
		return nil
	}})
	before := v.other.swaps.Load()
	for range 2 {
		_, err := a.Sync(t.Context())
		require.ErrorIs(t, err, errFull)
		require.Equal(testenv.Lost(t), before, v.other.swaps.Load())
	}
	full = false
	a.sync()
	require.NoError(t, a.Close())
	v.requireSent()
}

// TestVoidAfterOneSession: whichever session a Sync by name stores in the other bucket, the next
// program sends the others, too.
func TestVoidAfterOneSession(t *testing.T) {
	t.Parallel()
	for i := range voidedSessions {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			v := newVoided(t)
			a := v.open(v.at, v.other, nil)
			a.sync(fmt.Sprint("s", i))
			require.NoError(t, a.Close())
			v.requireSent()
		})
	}
}
