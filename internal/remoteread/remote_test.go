package remoteread_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/cosmos"
	"github.com/amplifier-go/sessionstorage/internal/cosmos/memory"
	"github.com/amplifier-go/sessionstorage/internal/head"
	"github.com/amplifier-go/sessionstorage/internal/remoteread"
	"github.com/amplifier-go/sessionstorage/internal/segment"
)

var sid = segment.Identity{User: "ada", Project: "demo", Session: "s"}.SID()

// put replaces the head, whatever is there.
func put(t *testing.T, c *memory.Container, edit func(*head.Head)) []byte {
	t.Helper()
	next := &head.Head{SID: sid, Revision: 1, User: "ada", Project: "demo", Session: "s", Born: "0123456789abcdef", Updated: time.Unix(0, 0)}
	edit(next)
	doc, err := next.Encode()
	require.NoError(t, err)
	raw(t, c, doc.Body)
	return doc.Body
}

func raw(t *testing.T, c *memory.Container, body []byte) {
	t.Helper()
	a := c.Conn("").Batch(t.Context(), segment.SessionPK(sid), cosmos.Put(body))
	require.NoError(t, a.Err)
}

func TestTip(t *testing.T) {
	t.Parallel()
	c := &memory.Container{}
	r := &remoteread.Reader{Conn: c.Conn("")}
	read := func(known remoteread.Known) (*head.Head, remoteread.Known, error) {
		return r.Head(t.Context(), sid, known)
	}

	none, now, err := read(remoteread.Known{})
	require.NoError(t, err)
	require.Nil(t, none)
	require.Equal(t, remoteread.Known{}, now)

	put(t, c, func(next *head.Head) { next.Revision = 5 })
	five, known, err := read(remoteread.Known{})
	require.NoError(t, err)
	require.EqualValues(t, 5, five.Revision)
	require.EqualValues(t, 5, known.Head(sid).Revision)
	again, same, err := read(known)
	require.NoError(t, err)
	require.Equal(t, five, again)
	require.Equal(t, known, same)
	_, now, err = read(remoteread.Known{ETag: known.ETag})
	require.NoError(t, err)
	require.NotEmpty(t, now.Doc, "the document is not known")

	put(t, c, func(next *head.Head) { next.Revision = 4 })
	_, _, err = read(known)
	require.ErrorIs(t, err, cosmos.ErrLost, "a replica is behind")
	put(t, c, func(next *head.Head) { next.Born = "fedcba9876543210" })
	other, _, err := read(known)
	require.NoError(t, err)
	require.EqualValues(t, 1, other.Revision, "of a session that was made anew")
}

func TestTipThatCannotBeRead(t *testing.T) {
	t.Parallel()
	c := &memory.Container{}
	r := &remoteread.Reader{Conn: c.Conn("")}
	body := put(t, c, func(*head.Head) {})
	for _, tt := range []struct {
		old, new string
		is       error
	}{
		{fmt.Sprintf(`"v":%d`, segment.Version), `"v":99`, segment.ErrNewer},
		{fmt.Sprintf(`"v":%d`, segment.Version), `"v":0`, segment.ErrFormat},
		{`"type":"head"`, `"type":"note"`, segment.ErrForeign},
		{`"rev":1`, `"rev":0`, remoteread.ErrDamaged},
	} {
		require.Contains(t, string(body), tt.old)
		raw(t, c, bytes.Replace(body, []byte(tt.old), []byte(tt.new), 1))
		_, _, err := r.Head(t.Context(), sid, remoteread.Known{})
		require.ErrorIs(t, err, remoteread.ErrHead)
		require.ErrorIs(t, err, tt.is)
	}
}

// TestHistories lists what a head counts, and notices a list that lags or is damaged.
func TestHistories(t *testing.T) {
	t.Parallel()
	c := &memory.Container{}
	r := &remoteread.Reader{Conn: c.Conn("")}
	one := func(nonce, born, why string) head.History {
		h := head.History{ID: segment.HistoryID(sid, nonce), Born: born, Stream: segment.Transcript, Why: why, At: time.Unix(0, 0).UTC()}
		h.Extent.Hash = segment.Origin(segment.Transcript).Hash
		doc, err := h.Encode(sid)
		require.NoError(t, err)
		raw(t, c, doc.Body)
		return h
	}
	const born = "0123456789abcdef"
	list := func() ([]head.History, int, error) {
		now, known, err := r.Head(t.Context(), sid, remoteread.Known{})
		require.NoError(t, err)
		before := r.Usage().Requests
		all, err := r.Histories(t.Context(), now, known.ETag)
		return all, r.Usage().Requests - before, err
	}
	one("former", "fedcba9876543210", head.WhyBranch)
	put(t, c, func(*head.Head) {})
	all, requests, err := list()
	require.NoError(t, err)
	require.Empty(t, all)
	require.Zero(t, requests)

	want := []head.History{one("a", born, head.WhyBranch), one("b", born, head.WhyRewrite)}
	put(t, c, func(next *head.Head) { next.Histories = head.HistoriesOf(want) })
	all, requests, err = list()
	require.NoError(t, err)
	require.Equal(t, want, all)
	require.Equal(t, 1, requests)

	more := one("c", born, head.WhyRestore) // not counted
	all, requests, err = list()
	require.ErrorIs(t, err, remoteread.ErrDamaged)
	require.Len(t, all, 3)
	require.Equal(t, 3, requests)
	put(t, c, func(next *head.Head) { next.Histories = head.HistoriesOf(append(want, more)) })
	now, known, err := r.Head(t.Context(), sid, remoteread.Known{})
	require.NoError(t, err)
	a := r.Batch(t.Context(), segment.SessionPK(sid), cosmos.Delete(want[0].ID, ""))
	require.NoError(t, a.Err)
	all, err = r.Histories(t.Context(), now, known.ETag)
	require.ErrorIs(t, err, remoteread.ErrDamaged)
	require.Equal(t, []head.History{want[1], more}, all)
	put(t, c, func(next *head.Head) { next.Histories = head.HistoriesOf(all) })
	_, err = r.Histories(t.Context(), now, known.ETag)
	require.ErrorIs(t, err, cosmos.ErrLost)
	all, _, err = list()
	require.NoError(t, err)
	require.Len(t, all, 2)

	doc, err := more.Encode(sid)
	require.NoError(t, err)
	raw(t, c, bytes.Replace(doc.Body, fmt.Appendf(nil, `"v":%d`, segment.Version), []byte(`"v":99`), 1))
	_, _, err = list()
	require.ErrorIs(t, err, segment.ErrNewer)
}
