package head

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/segment"
)

// TestMoreKeepsEverything spills one entry after the other and finds all.
func TestMoreKeepsEverything(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 20, 10, 20, 30, 123456789, time.UTC)
	full := whole(t)
	full.Old, full.Branches = nil, nil
	docs := map[string][]byte{}
	store := func(m *More) string {
		d, err := m.Encode()
		require.NoError(t, err)
		docs[d.ID] = d.Body
		return d.ID
	}
	load := func(id string) *More {
		if id == "" {
			return nil
		}
		m, err := DecodeMore(docs[id], sid, id)
		require.NoError(t, err)
		return m
	}
	const all = 3*MaxMore + 7
	old, branches := "", ""
	for i := range int64(all) {
		if over := full.Retire(Old{Point: point(i), Bytes: i, Why: "rewrite", Device: "d", At: at}); len(over) > 0 {
			old = store(load(old).With(sid, old, over, nil))
		}
		if over := full.Branch(Branch{ID: segment.BranchID(sid, point(i)), Tip: point(i), Common: i, Device: "d", KeptAs: "k", At: at}, nil); len(over) > 0 {
			branches = store(load(branches).With(sid, branches, nil, over))
		}
	}
	require.Len(t, full.Old, MaxOld)
	seen := map[segment.Point]int{}
	for _, o := range full.Old {
		seen[o.Point]++
	}
	for _, b := range full.Branches {
		seen[b.Tip]++
	}
	for id := old; id != ""; {
		m := load(id)
		require.LessOrEqual(t, len(m.Old), MaxMore)
		for _, o := range m.Old {
			require.Equal(t, at, o.At)
			seen[o.Point]++
		}
		id = m.Next
	}
	for id := branches; id != ""; {
		m := load(id)
		for _, b := range m.Branches {
			require.Equal(t, "k", b.KeptAs)
			seen[b.Tip]++
		}
		id = m.Next
	}
	require.Len(t, seen, all)
	for p, n := range seen {
		require.Equal(t, 2, n, "%d", p.N)
	}
}

func TestForeignMore(t *testing.T) {
	t.Parallel()
	d, err := (&More{SID: sid, Old: []Old{{Point: point(3), Why: "rewrite"}}, Next: "x"}).Encode()
	require.NoError(t, err)
	back, err := DecodeMore(d.Body, sid, d.ID)
	require.NoError(t, err)
	require.Equal(t, "x", back.Next)
	for _, c := range []struct {
		old, new string
		want     error
	}{
		{`"v":1`, `"v":2`, segment.ErrNewer},
		{`"v":1`, `"v":0`, segment.ErrFormat},
		{`"v":1,`, ``, segment.ErrForeign},
		{`"type":"more"`, `"type":"head"`, segment.ErrForeign},
		{`"n":3`, `"n":4`, segment.ErrDamaged},
		{`"n":3`, `"n":"3"`, segment.ErrDamaged},
		{`"next":"x"`, `"next":"y"`, segment.ErrDamaged},
		{`"id":"`, `"id":"z`, segment.ErrDamaged},
	} {
		body := bytes.Replace(d.Body, []byte(c.old), []byte(c.new), 1)
		require.NotEqual(t, d.Body, body)
		_, err := DecodeMore(body, sid, d.ID)
		require.ErrorIs(t, err, c.want, c.new)
	}
	_, err = DecodeMore(d.Body, sid, "other")
	require.ErrorIs(t, err, segment.ErrDamaged)
}
