package remoteread_test

import (
	"bytes"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/head"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/memremote"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/remoteread"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
	"github.com/amplifier-go/sessionstorage/hybrid/remote"
)

var sid = segment.Identity{User: "ada", Project: "demo", Session: "s"}.SID()

// put replaces the head, whatever is there.
func put(t *testing.T, c *memremote.Remote, edit func(*head.Head)) segment.Document {
	t.Helper()
	next := &head.Head{SID: sid, Revision: 1, User: "ada", Project: "demo", Session: "s", Born: "0123456789abcdef", Updated: time.Unix(0, 0)}
	edit(next)
	doc, err := next.Encode()
	require.NoError(t, err)
	raw(t, c, doc)
	return doc
}

func raw(t *testing.T, c *memremote.Remote, d segment.Document) {
	t.Helper()
	_, err := c.Commit(t.Context(), segment.SessionPK(sid), []remote.Object{{Name: d.ID, Label: d.Label, Body: d.Body}}, nil)
	require.NoError(t, err)
}

// edited returns text in which old is replaced, which must be in it.
func edited(t *testing.T, text []byte, old, by string) []byte {
	t.Helper()
	require.Contains(t, string(text), old)
	return bytes.Replace(text, []byte(old), []byte(by), 1)
}

func TestTip(t *testing.T) {
	t.Parallel()
	c := &memremote.Remote{}
	r := &remoteread.Reader{Remote: c}
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
	_, now, err = read(remoteread.Known{Version: known.Version})
	require.NoError(t, err)
	require.NotEmpty(t, now.Doc, "the document is not known")

	put(t, c, func(next *head.Head) { next.Revision = 4 })
	_, _, err = read(known)
	require.ErrorIs(t, err, remoteread.ErrLost, "a replica is behind")
	put(t, c, func(next *head.Head) { next.Born = "fedcba9876543210" })
	other, _, err := read(known)
	require.NoError(t, err)
	require.EqualValues(t, 1, other.Revision, "of a session that was made anew")
}

func TestTipThatCannotBeRead(t *testing.T) {
	t.Parallel()
	c := &memremote.Remote{}
	r := &remoteread.Reader{Remote: c}
	doc := put(t, c, func(*head.Head) {})
	for _, tt := range []struct {
		old, new string
		is       error
	}{
		{fmt.Sprintf(`"v":%d`, segment.Version), `"v":99`, segment.ErrNewer},
		{fmt.Sprintf(`"v":%d`, segment.Version), `"v":0`, segment.ErrFormat},
		{`"type":"head"`, `"type":"note"`, segment.ErrForeign},
		{`"rev":1`, `"rev":0`, remoteread.ErrDamaged},
	} {
		is := func(d segment.Document) {
			raw(t, c, d)
			_, _, err := r.Head(t.Context(), sid, remoteread.Known{})
			require.ErrorIs(t, err, remoteread.ErrHead)
			require.ErrorIs(t, err, tt.is)
		}
		other := doc
		other.Body = edited(t, doc.Body, tt.old, tt.new)
		is(other)
		if tt.is == remoteread.ErrDamaged {
			continue // a label does not hold that
		}
		other.Label = edited(t, doc.Label, tt.old, tt.new)
		is(other)
		other.Body = doc.Body
		is(other)
	}
	for _, body := range []string{"", "{", "null", "\xff\x00"} { // none of them says of which format it is
		raw(t, c, segment.Document{ID: doc.ID, Label: doc.Label, Body: []byte(body)})
		_, _, err := r.Head(t.Context(), sid, remoteread.Known{})
		require.ErrorIs(t, err, remoteread.ErrHead)
	}
}

// TestHistories lists what a head names, and nothing else, and notices a list that lags or
// is damaged.
func TestHistories(t *testing.T) {
	t.Parallel()
	c := &memremote.Remote{}
	r := &remoteread.Reader{Remote: c}
	one := func(nonce, why string) head.History {
		h := head.History{ID: segment.HistoryID(sid, nonce), Stream: segment.Transcript, Why: why, At: time.Unix(0, 0).UTC()}
		h.Extent.Hash = segment.Origin(segment.Transcript).Hash
		doc, err := h.Encode(sid)
		require.NoError(t, err)
		raw(t, c, doc)
		return h
	}
	names := func(all ...head.History) {
		put(t, c, func(next *head.Head) {
			for i := range all {
				next.Histories.Add(&all[i])
			}
		})
	}
	list := func() ([]head.History, int, error) {
		now, known, err := r.Head(t.Context(), sid, remoteread.Known{})
		require.NoError(t, err)
		before := r.Usage().Requests
		all, err := r.Histories(t.Context(), now, known.Version)
		return all, r.Usage().Requests - before, err
	}
	one("stray", head.WhyBranch)
	names()
	all, requests, err := list()
	require.NoError(t, err)
	require.Empty(t, all)
	require.Zero(t, requests)

	want := []head.History{one("a", head.WhyBranch), one("b", head.WhyRewrite)}
	names(want...)
	more := one("c", head.WhyRestore)
	all, requests, err = list()
	require.NoError(t, err)
	require.Equal(t, want, all)
	require.Equal(t, 1, requests)

	names(append(want, more)...)
	now, known, err := r.Head(t.Context(), sid, remoteread.Known{})
	require.NoError(t, err)
	require.NoError(t, r.Discard(t.Context(), segment.SessionPK(sid), []string{want[0].ID}))
	before := r.Usage().Requests
	all, err = r.Histories(t.Context(), now, known.Version)
	require.ErrorIs(t, err, remoteread.ErrDamaged)
	require.Equal(t, []head.History{want[1], more}, all)
	require.Equal(t, 3, r.Usage().Requests-before)
	names(all...)
	_, err = r.Histories(t.Context(), now, known.Version)
	require.ErrorIs(t, err, remoteread.ErrLost)
	all, _, err = list()
	require.NoError(t, err)
	require.Len(t, all, 2)

	doc, err := more.Encode(sid)
	require.NoError(t, err)
	doc.Label = edited(t, doc.Label, fmt.Sprintf(`"v":%d`, segment.Version), `"v":99`)
	raw(t, c, doc)
	_, _, err = list()
	require.ErrorIs(t, err, segment.ErrNewer)
}

// TestDiscardsLate: what was read more than an hour ago removes nothing, until it is read again.
func TestDiscardsLate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := &memremote.Remote{}
		head := put(t, c, func(*head.Head) {})
		r := &remoteread.Reader{Remote: c}
		there := func() bool {
			o, err := (&remoteread.Reader{Remote: c}).HeadDocument(t.Context(), sid)
			require.NoError(t, err)
			return o != nil
		}
		for range 2 {
			_, err := r.HeadDocument(t.Context(), sid)
			require.NoError(t, err)
			time.Sleep(time.Hour + time.Second)
			require.ErrorIs(t, r.Discard(t.Context(), head.PK, []string{head.ID}), remoteread.ErrLost)
			require.True(t, there())
		}
		for range r.List(t.Context(), head.PK, remote.Query{}) {
			time.Sleep(time.Hour)
		}
		require.NoError(t, r.Discard(t.Context(), head.PK, []string{head.ID}))
		require.False(t, there())
	})
}
