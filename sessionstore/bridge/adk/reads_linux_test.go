package adk

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/adk/v2/session"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// bytesRead returns how many bytes this process asks the system for.
func bytesRead(t *testing.T, do func()) int {
	t.Helper()
	count := func() (all int) {
		data, err := os.ReadFile("/proc/self/io")
		testenv.Need(t, err == nil, "the system does not count what a process reads")
		_, err = fmt.Sscanf(string(data), "rchar: %d", &all)
		require.NoError(t, err)
		return all
	}
	before := count()
	alone := count() - before // which reads as well
	before = count()
	do()
	return count() - before - alone
}

// poisoned adds n messages to a session whose events cannot be read, and says in the event
// after them what the state is. That event is of noon, and more events are of the minutes after.
func poisoned(t *testing.T, dir string, n, size, more int) {
	t.Helper()
	s, _ := open(t, dir)
	ctx := t.Context()
	_, err := s.Create(ctx, &session.CreateRequest{AppName: "a", UserID: "u", SessionID: "s"})
	require.NoError(t, err)
	st, err := s.store("a", "u")
	require.NoError(t, err)
	bad, err := sessionstore.ParseMessage([]byte(`{"role": "assistant", "content": "` + strings.Repeat("x", size) + `", "adk_event": 1}`))
	require.NoError(t, err)
	rows := make([]sessionstore.Message, n)
	for i := range rows {
		rows[i] = bad
	}
	require.NoError(t, st.Append(ctx, "s", rows...))
	v, err := st.View(ctx, "s")
	require.NoError(t, err)
	before := &kept{State: `{"begun":true}`, Sum: sumOf(`{"begun":true}`)}
	before.Cursor, err = v.Cursor(ctx, n)
	require.NoError(t, err)
	require.NoError(t, v.Close())
	for i := range spacing { // which Get reads at least
		m, _, err := messageOf(event(i, size), before)
		require.NoError(t, err)
		require.NoError(t, st.Append(ctx, "s", m))
		before = nil
	}
	got, err := s.Get(ctx, &session.GetRequest{AppName: "a", UserID: "u", SessionID: "s", NumRecentEvents: 1})
	require.NoError(t, err)
	for i := spacing; i <= more; i++ {
		require.NoError(t, s.AppendEvent(ctx, got.Session, event(i, size)))
	}
}

// TestReads counts what is read of sessions of 1,000 and 100,000 events. Older events could
// not be read at all.
func TestReads(t *testing.T) { //nolint:paralleltest // it counts what the process reads
	const more = 30
	for _, of := range []struct{ messages, size int }{{1000, 100}, {1000, 2000}, {100_000, 100}, {100_000, 700}} {
		t.Run(fmt.Sprint(of.messages, " of ", of.size), func(t *testing.T) { //nolint:paralleltest // see above
			dir := t.TempDir()
			poisoned(t, dir, of.messages-more-1, of.size, more)
			time.Sleep(50 * time.Millisecond) // the stamp of the index is believed from now on
			read := func(do func(s *Service, st *sessionstore.Store)) int {
				s, _ := open(t, dir)
				st, err := s.store("a", "u")
				require.NoError(t, err)
				return bytesRead(t, func() { do(s, st) })
			}
			view := func(s *Service, st *sessionstore.Store) {
				v, err := st.View(t.Context(), "s")
				require.NoError(t, err)
				require.Equal(t, of.messages, v.Len())
				rows, err := v.Range(t.Context(), of.messages-9, 10)
				require.NoError(t, err)
				require.Len(t, rows, 10)
				require.NoError(t, v.Close())
			}
			get := func(r session.GetRequest, events int) func(*Service, *sessionstore.Store) {
				r.AppName, r.UserID, r.SessionID = "a", "u", "s"
				return func(s *Service, _ *sessionstore.Store) {
					got, err := s.Get(t.Context(), &r)
					require.NoError(t, err)
					require.Equal(t, events, got.Session.Events().Len())
					for key, want := range map[string]any{"begun": true, "last": 30.0, "of 0": 30.0, "of 1": 28.0, "of 2": 29.0} {
						value, err := got.Session.State().Get(key)
						require.NoError(t, err)
						require.Equal(t, want, value, key)
					}
				}
			}
			read(view) // makes the index
			most := 2 * read(view)
			n := read(get(session.GetRequest{NumRecentEvents: 10}, 10))
			t.Logf("a view of ten reads %d bytes, Get %d", most/2, n)
			require.LessOrEqual(t, n, most)
			require.LessOrEqual(t, read(get(session.GetRequest{NumRecentEvents: 1}, 1)), most)
			// The events before the answer are in one block more.
			require.LessOrEqual(t, read(get(session.GetRequest{After: noon.Add((more - 3) * time.Minute)}, 4)), most+most/2)
			require.LessOrEqual(t, read(get(session.GetRequest{After: noon.AddDate(1, 0, 0)}, 0)), most+most/2)
			require.LessOrEqual(t, read(get(session.GetRequest{After: noon, NumRecentEvents: 5}, 5)), most)

			list := func(s *Service, _ *sessionstore.Store) {
				all, err := s.List(t.Context(), &session.ListRequest{AppName: "a", UserID: "u"})
				require.NoError(t, err)
				require.Len(t, all.Sessions, 1)
			}
			read(list)
			require.Less(t, read(list), 32<<10, "no transcript")
			read(func(s *Service, _ *sessionstore.Store) {
				all, err := s.List(t.Context(), &session.ListRequest{AppName: "a"})
				require.NoError(t, err)
				require.LessOrEqual(t, bytesRead(t, func() {
					last, err := all.Sessions[0].State().Get("last")
					require.NoError(t, err)
					require.Equal(t, 30.0, last)
				}), most)
				require.NoError(t, s.AppendEvent(t.Context(), all.Sessions[0], event(31, 1)), "a listed session takes events")
				require.Equal(t, 1, all.Sessions[0].Events().Len())
			})
		})
	}
}
