package sessionstore_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

func TestCloseRefusesLaterCalls(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, user("hi")+"\n", dir, "s", transcriptFile)
	st, err := sessionstore.Open(dir, nil)
	require.NoError(t, err)
	require.NoError(t, st.Close())
	require.NoError(t, st.Close())
	before := tree(t, dir)
	for _, call := range calls {
		require.ErrorIs(t, call.do(t.Context(), st, "s"), sessionstore.ErrClosed, call.name)
	}
	_, err = st.List(t.Context(), nil)
	require.ErrorIs(t, err, sessionstore.ErrClosed)
	_, err = st.Find(t.Context(), "s", nil)
	require.ErrorIs(t, err, sessionstore.ErrClosed)
	_, err = st.Cleanup(t.Context(), 0)
	require.ErrorIs(t, err, sessionstore.ErrClosed)
	require.Equal(t, before, tree(t, dir))
}

// TestCloseWaits closes a store while a call is under way.
func TestCloseWaits(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	st, err := sessionstore.Open(dir, nil)
	require.NoError(t, err)
	require.NoError(t, st.Save(t.Context(), "s", nil, sessionstore.Metadata{}))
	synctest.Test(t, func(t *testing.T) {
		proceed, closed := make(chan struct{}), false
		var updated, closeErr error
		var wg sync.WaitGroup
		wg.Go(func() {
			_, updated = st.UpdateMetadata(context.Background(), "s", func(md *sessionstore.Metadata) error {
				<-proceed
				return md.Set("n", 1)
			})
		})
		synctest.Wait()
		wg.Go(func() {
			closeErr = st.Close()
			closed = true
		})
		synctest.Wait()
		if closed {
			t.Error("Close did not wait")
		}
		close(proceed)
		wg.Wait()
		require.NoError(t, updated)
		require.NoError(t, closeErr)
	})
	require.Contains(t, read(t, dir, "s", metadataFile), `"n": 1`)
}

// TestWaitingEndsWithTheContext has a second writer give up.
func TestWaitingEndsWithTheContext(t *testing.T) {
	t.Parallel()
	st := open(t, t.TempDir(), nil)
	require.NoError(t, st.Save(t.Context(), "s", nil, sessionstore.Metadata{}))
	started, proceed := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		_, _ = st.UpdateMetadata(context.Background(), "s", func(*sessionstore.Metadata) error {
			close(started)
			<-proceed
			return nil
		})
	})
	<-started
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, st.Save(ctx, "s", nil, sessionstore.Metadata{}), context.DeadlineExceeded)
	require.NoError(t, st.Save(t.Context(), "other", nil, sessionstore.Metadata{}), "another session does not wait")
	close(proceed)
	wg.Wait()
}

func TestCancelledContextChangesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	st := open(t, dir, nil)
	require.NoError(t, st.Save(t.Context(), "s", parse(t, user("hi")), sessionstore.Metadata{}))
	before := tree(t, dir)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, call := range calls {
		require.ErrorIs(t, call.do(ctx, st, "s"), context.Canceled, call.name)
		require.ErrorIs(t, call.do(ctx, st, "new"), context.Canceled, call.name)
	}
	_, err := st.List(ctx, nil)
	require.ErrorIs(t, err, context.Canceled)
	_, err = st.Cleanup(ctx, 0)
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, before, tree(t, dir))
}

func TestMessages(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	st := open(t, dir, nil)
	all := []string{user("1"), `{"role": "tool", "n": NaN}`, user(strings.Repeat("x", 1<<20)), user("last")}
	write(t, strings.Join(all, "\n")+"\n", dir, "s", transcriptFile)
	var got []string
	for m, err := range st.Messages(t.Context(), "s") {
		require.NoError(t, err)
		got = append(got, string(m.AppendTo(nil)))
	}
	require.Equal(t, all, got)

	for range st.Messages(t.Context(), "s") {
		break
	}
	ctx, cancel := context.WithCancel(t.Context())
	var last error
	for _, err := range st.Messages(ctx, "s") {
		last = err
		cancel()
	}
	require.ErrorIs(t, last, context.Canceled)
	cancel()
	// Everything is released: a later save does not wait, nor does Close.
	require.NoError(t, st.Save(t.Context(), "s", parse(t, user("new")), sessionstore.Metadata{}))
}

func TestMessagesOfADamagedSession(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	st := open(t, dir, nil)
	write(t, user("1")+"\nbad\n"+user("2")+"\n", dir, "s", transcriptFile)
	var got []string
	var errs []error
	for m, err := range st.Messages(t.Context(), "s") {
		if err != nil {
			errs = append(errs, err)
			continue
		}
		require.Empty(t, errs, "the error comes last")
		got = append(got, string(m.AppendTo(nil)))
	}
	require.Equal(t, []string{user("1"), user("2")}, got)
	require.Len(t, errs, 1)
	var corrupt *sessionstore.CorruptError
	require.ErrorAs(t, errs[0], &corrupt)
	require.Equal(t, 2, corrupt.Line)
	require.EqualValues(t, len(user("1"))+1, corrupt.Offset)
}

// TestSavesDuringMessages shows that an iteration sees the transcript of its
// beginning.
func TestSavesDuringMessages(t *testing.T) {
	t.Parallel()
	st := open(t, t.TempDir(), nil)
	require.NoError(t, st.Save(t.Context(), "s", parse(t, user("1"), user("2"), user("3")), sessionstore.Metadata{}))
	var got []string
	for m, err := range st.Messages(t.Context(), "s") {
		require.NoError(t, err)
		got = append(got, m.Content())
		require.NoError(t, st.Save(t.Context(), "s", parse(t, user("new")), sessionstore.Metadata{}))
	}
	require.Equal(t, []string{"1", "2", "3"}, got)
}
