package gc

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/head"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/memremote"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/remoteread"
)

// TestJournal asks which sessions are due when nothing happened, when a session
// changed, when its time has come, and with other options.
func TestJournal(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	c := &memremote.Remote{Now: func() time.Time { return now }}
	r := &remoteread.Reader{Remote: c}
	put := func(session string, revision int64) {
		id := identity(session)
		e := head.Catalogue{SID: id.SID(), UID: id.UID(), Revision: revision, Session: session, Project: "demo", Updated: now}
		_, err := r.WriteEntry(t.Context(), &e, "")
		require.NoError(t, err)
	}
	o := Options{Grace: time.Hour, Retention: time.Hour}
	j := ReadJournal([]byte("damaged"), o)
	due := func(all bool) map[string]*remoteread.Entry {
		text, err := j.Encode()
		require.NoError(t, err)
		j = ReadJournal(text, o)
		got, err := j.Due(t.Context(), r, identity(""), all)
		require.NoError(t, err)
		return got
	}
	ids := func(all bool) []string { return slices.Sorted(maps.Keys(due(all))) }
	for n := range 3 {
		put(fmt.Sprint("s", n), 1)
	}
	require.Equal(t, []string{"s0", "s1", "s2"}, ids(false))
	later := now.Add(time.Hour)
	for id, e := range due(false) {
		j.Note(e, map[string]time.Time{"s2": later}[id])
	}
	require.Empty(t, ids(false))
	require.Len(t, ids(true), 3)
	put("s1", 2)
	require.Equal(t, []string{"s1"}, ids(false))
	now = later
	require.Equal(t, []string{"s1", "s2"}, ids(false))
	require.Len(t, j.Sessions, 3)

	text, err := j.Encode()
	require.NoError(t, err)
	require.Empty(t, ReadJournal(text, Options{Grace: time.Minute, Retention: time.Hour}).Sessions)
	id := identity("s0")
	require.NoError(t, r.Discard(t.Context(), "u-"+id.UID(), []string{id.SID()}))
	require.Equal(t, []string{"s1", "s2"}, ids(false))
	require.Len(t, j.Sessions, 2, "one without an entry is forgotten")
}
