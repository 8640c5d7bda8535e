package sessionstore

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// OnChange may panic, and its caller go on: the session is free for the next call then, and
// Close ends.
func TestOnChangePanics(t *testing.T) {
	t.Parallel()
	panics := true
	st, err := Open(t.TempDir(), &Options{Durability: Relaxed, OnChange: func(Change) {
		if panics {
			panics = false
			panic("of the caller")
		}
	}})
	require.NoError(t, err)
	require.Panics(t, func() { _ = st.Append(t.Context(), "s", say(t, "one")) })
	ctx, stop := context.WithTimeout(t.Context(), time.Minute) // ends a hang
	defer stop()
	require.NoError(t, st.Append(ctx, "s", say(t, "two")))
	s, err := st.Load(ctx, "s")
	require.NoError(t, err)
	require.Len(testenv.Lost(t), s.Messages, 2)
	require.NoError(t, st.Close())
}

// A removal that comes as soon as a host has the session leaves the host's lock where other
// programs look for it.
func TestRemovalLeavesTheLockOfAHost(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "sessions")
	st, err := Open(dir, &Options{Durability: Relaxed})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, st.Close()) })
	require.NoError(t, st.Append(t.Context(), "s", say(t, "one")))
	hold := &Hold{st: st, s: st.cache.call("s")}
	if err := hold.take(t.Context(), Owner{App: "host"}); err != nil {
		st.cache.end(hold.s)
		t.Skip("the system has no such lock: ", err)
	}
	require.NoError(t, st.Delete(t.Context(), "s")) // in the moment before Acquire returns
	st.cache.end(hold.s)
	require.NoError(t, st.Append(t.Context(), "s", say(t, "two")))
	other, err := Open(dir, &Options{Durability: Relaxed})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, other.Close()) })
	_, err = other.Acquire(t.Context(), "s", Owner{App: "another"})
	require.ErrorIs(t, err, ErrLocked)
	require.NoError(t, hold.Check())
	require.NoError(t, hold.Release())
}

// What a store remembers of a session that a host had acquired goes with the last use, where
// there is no room for it.
func TestEntriesOfFormerHostsGo(t *testing.T) {
	t.Parallel()
	for _, bytes := range []int64{-1, 8 << 10} {
		st, err := Open(t.TempDir(), &Options{CacheBytes: bytes, Durability: Relaxed})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, st.Close()) })
		for i := range 50 {
			id := fmt.Sprint("s-", i)
			hold, err := st.Acquire(t.Context(), id, Owner{App: "host"})
			if err != nil {
				t.Skip("the system has no such lock: ", err)
			}
			for range 2 {
				require.NoError(t, st.Append(t.Context(), id, say(t, "one")))
			}
			require.NoError(t, hold.Release())
		}
		require.LessOrEqual(t, len(st.cache.sessions), 8)
		require.Equal(t, st.cache.used.Len(), len(st.cache.sessions), "each can make room")
	}
}

// A call that asks for the number of a content may come beside one that makes room.
func TestEpochBesideTheCache(t *testing.T) {
	t.Parallel()
	st, err := Open(t.TempDir(), &Options{CacheBytes: -1, Durability: Relaxed})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, st.Close()) })
	done := make(chan error)
	go func() {
		var err error
		for i := 0; i < 50 && err == nil; i++ {
			err = st.Append(context.Background(), "s", newMessage([]byte(`{"role": "user", "content": "x"}`)))
		}
		done <- err
	}()
	for {
		select {
		case err := <-done:
			require.NoError(t, err)
			return
		default:
			coreStore{st}.Epoch("s", sessiondir.Stamp{})
		}
	}
}
