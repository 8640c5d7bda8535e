package remote_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/cosmos"
	"github.com/amplifier-go/sessionstorage/internal/cosmos/memory"
	"github.com/amplifier-go/sessionstorage/internal/head"
	"github.com/amplifier-go/sessionstorage/internal/remote"
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
	r := &remote.Reader{Conn: c.Conn("")}
	read := func(known remote.Known) (*head.Head, remote.Known, error) { return r.Head(t.Context(), sid, known) }

	none, now, err := read(remote.Known{})
	require.NoError(t, err)
	require.Nil(t, none)
	require.Equal(t, remote.Known{}, now)

	put(t, c, func(next *head.Head) { next.Revision = 5 })
	five, known, err := read(remote.Known{})
	require.NoError(t, err)
	require.EqualValues(t, 5, five.Revision)
	require.EqualValues(t, 5, known.Head(sid).Revision)
	again, same, err := read(known)
	require.NoError(t, err)
	require.Equal(t, five, again)
	require.Equal(t, known, same)
	_, now, err = read(remote.Known{ETag: known.ETag})
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
	r := &remote.Reader{Conn: c.Conn("")}
	body := put(t, c, func(*head.Head) {})
	for _, tt := range []struct {
		old, new string
		is       error
	}{
		{fmt.Sprintf(`"v":%d`, segment.Version), `"v":99`, segment.ErrNewer},
		{fmt.Sprintf(`"v":%d`, segment.Version), `"v":0`, segment.ErrFormat},
		{`"type":"head"`, `"type":"note"`, segment.ErrForeign},
		{`"rev":1`, `"rev":0`, remote.ErrDamaged},
	} {
		require.Contains(t, string(body), tt.old)
		raw(t, c, bytes.Replace(body, []byte(tt.old), []byte(tt.new), 1))
		_, _, err := r.Head(t.Context(), sid, remote.Known{})
		require.ErrorIs(t, err, remote.ErrHead)
		require.ErrorIs(t, err, tt.is)
	}
}

// TestLists adds more former heads than some documents hold, and loses one of these.
func TestLists(t *testing.T) {
	t.Parallel()
	c := &memory.Container{}
	r := &remote.Reader{Conn: c.Conn("")}
	next := &head.Head{SID: sid, BranchMore: []string{}}
	var pages []string
	for i := range 2*head.MaxMore + 10 {
		docs, err := r.Lists(sid).Apply(t.Context(), &next.OldMore, remote.Change{Old: []head.Old{{Device: fmt.Sprint(i)}}})
		require.NoError(t, err)
		require.Len(t, docs, 1)
		raw(t, c, docs[0].Body)
		pages = append(pages, docs[0].ID)
	}
	next.Old = []head.Old{{Device: "in the tip"}}
	former, err := r.Lists(sid).Former(t.Context(), next)
	require.NoError(t, err)
	require.Len(t, former, 1+2*head.MaxMore+10)
	seen := map[string]bool{}
	for _, o := range former {
		seen[o.Device] = true
	}
	require.Len(t, seen, len(former))

	last := pages[head.MaxMore-1] // the first full one: the end of the list
	a := c.Conn("").Batch(t.Context(), segment.SessionPK(sid), cosmos.Delete(last, ""))
	require.NoError(t, a.Err)
	former, err = r.Lists(sid).Former(t.Context(), next)
	require.ErrorIs(t, err, remote.ErrDamaged)
	require.Len(t, former, 1+head.MaxMore+10, "the others are there")
	_, err = r.Lists(sid).Apply(t.Context(), &next.OldMore, remote.Change{Old: []head.Old{{Device: "later"}}})
	require.NoError(t, err, "damage hinders nobody from adding")
	branches, err := r.Lists(sid).Branches(t.Context(), next)
	require.NoError(t, err)
	require.Empty(t, branches)
}

// TestReplacedBranches leaves branches out of lists of several documents. Only the
// documents from that of the first one on are made anew.
func TestReplacedBranches(t *testing.T) {
	t.Parallel()
	c := &memory.Container{}
	r := &remote.Reader{Conn: c.Conn("")}
	next := &head.Head{SID: sid}
	apply := func(change remote.Change) int {
		t.Helper()
		docs, err := r.Lists(sid).Apply(t.Context(), &next.BranchMore, change)
		require.NoError(t, err)
		for _, doc := range docs {
			raw(t, c, doc.Body)
		}
		return len(docs)
	}
	want := map[string]bool{}
	listed := func() map[string]bool {
		all := map[string]bool{}
		branches, err := r.Lists(sid).Branches(t.Context(), next)
		require.NoError(t, err)
		for _, b := range branches {
			require.False(t, all[b.ID], "%s is listed twice", b.ID)
			all[b.ID] = true
		}
		return all
	}
	for i := range 2*head.MaxMore + 10 {
		id := fmt.Sprint(i)
		apply(remote.Change{Branches: []head.Branch{{ID: id}}})
		want[id] = true
	}
	require.Equal(t, want, listed())
	require.Zero(t, apply(remote.Change{}))
	require.Zero(t, apply(remote.Change{Replaced: []string{"not there"}}))

	require.Equal(t, 1, apply(remote.Change{Replaced: []string{fmt.Sprint(2*head.MaxMore + 1)}}), "the first document")
	delete(want, fmt.Sprint(2*head.MaxMore+1))
	require.Equal(t, want, listed())
	require.Equal(t, 3, apply(remote.Change{Branches: []head.Branch{{ID: "longer"}}, Replaced: []string{"0", "1"}}), "the last one, and those before")
	delete(want, "0")
	delete(want, "1")
	want["longer"] = true
	require.Equal(t, want, listed())

	var second []string
	for i := range head.MaxMore {
		second = append(second, fmt.Sprint(head.MaxMore+i))
		delete(want, second[i])
	}
	require.Equal(t, 1, apply(remote.Change{Replaced: second}), "nothing is left of the second")
	require.Equal(t, want, listed())

	last := next.BranchMore[0]
	docs, err := r.Lists(sid).Branches(t.Context(), next)
	require.NoError(t, err)
	var all []string
	for _, b := range docs {
		all = append(all, b.ID)
	}
	a := c.Conn("").Batch(t.Context(), segment.SessionPK(sid), cosmos.Delete(last, ""))
	require.NoError(t, a.Err)
	require.Zero(t, apply(remote.Change{Replaced: all}), "what cannot be read stays")
	require.Equal(t, []string{last}, next.BranchMore)
	raw(t, c, func() []byte {
		doc, err := (&head.More{SID: sid, Branches: []head.Branch{{ID: "only"}}}).Encode()
		require.NoError(t, err)
		next.BranchMore = []string{doc.ID}
		return doc.Body
	}())
	require.Zero(t, apply(remote.Change{Replaced: []string{"only"}}))
	require.Empty(t, next.BranchMore, "nothing is left")
}
