package head

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
	"github.com/amplifier-go/sessionstorage/hybrid/remote"
)

var update = flag.Bool("update", false, "write the documents in testdata anew")

const sid = "abcdefghijklmnopqrstuvwxyz234567"

func point(n int64) segment.Point {
	return segment.Point{N: n, Hash: segment.Hash{0: byte(n), 31: 1}}
}

func extent(n int64) Extent {
	return Extent{N: n, Hash: point(n).Hash, Bytes: 3000 * n, Turns: 12}
}

// whole is a head with every field set.
func whole(t testing.TB) *Head {
	at := time.Date(2026, 11, 20, 10, 20, 30, 123456789, time.UTC)
	md, _ := segment.Pack(sid, []byte("{\n  \"name\": \"<x>\"\n}"), "0123456789abcdef")
	return &Head{
		SID: sid, Revision: 42, User: "ada", Session: "c3843177", Project: "x", Parent: "p", Born: "0123456789abcdef",
		Transcript: extent(131), Logs: map[segment.Stream]Extent{"e-1f3a9c02": extent(2210), "p-1f3a9c02": extent(1)},
		Files: map[string]File{
			Metadata:    {Blob: md, Clock: HLC{Wall: at.UnixMilli(), Count: 4, Device: "1f3a9c02"}, Summary: json.RawMessage(`{"turn_count":12}`)},
			"config.md": {Blob: segment.Blob{Sum: segment.Hash{9}, Bytes: 5000, Chunks: []string{strings.Repeat("a", 40)}}},
		},
		Histories: Histories{Former: []string{"1"}, Branches: []string{"0123456789abcdef"}},
		Gone:      []string{segment.GoneID(sid, "0123456789abcdef")}, Fence: "0123456789abcdef",
		Op: "1f3a9c02-000317", Writer: Writer{"1f3a9c02", "box", "0.1.0"}, Redaction: "3", Updated: at,
		Anew: Anew{Rules: "2", Was: point(120), Now: point(121)},
	}
}

// branch is a history with every field set.
func branch(at time.Time) History {
	return History{
		ID: segment.HistoryID(sid, "0123456789abcdef"), Stream: segment.Transcript, Extent: extent(133),
		Common: 120, Why: WhyBranch, Device: "1f3a9c02", KeptAs: "f", At: at,
	}
}

// golden is the form of documents in testdata. All their bodies are JSON.
type golden struct {
	ID    string          `json:"id"`
	PK    string          `json:"pk"`
	Label json.RawMessage `json:"label"`
	Body  json.RawMessage `json:"body,omitempty"`
}

func TestDocumentsOfTips(t *testing.T) {
	t.Parallel()
	full := whole(t)
	h := branch(full.Updated)
	history, err := h.Encode(sid)
	require.NoError(t, err)
	head, err := full.Encode()
	require.NoError(t, err)
	dead, err := full.Tombstone().Encode()
	require.NoError(t, err)
	first, err := (&Head{SID: sid, Revision: 1, Logs: map[segment.Stream]Extent{"e-1f3a9c02": {}}}).Encode()
	require.NoError(t, err)
	cat := full.Catalogue(sid, "<name>")
	entry, err := cat.Encode()
	require.NoError(t, err)

	gone, err := (&Gone{ID: segment.GoneID(sid, "0123456789abcdef"), Names: []string{sid + "-s-x", sid + "-c-y"}}).Encode(sid)
	require.NoError(t, err)

	var got strings.Builder
	for _, d := range []segment.Document{head, history, dead, first, entry, gone} {
		require.NoError(t, segment.Probe(d.Label, d.Type))
		text, err := marshal(golden{d.ID, d.PK, d.Label, d.Body})
		require.NoError(t, err)
		got.Write(text)
		got.WriteByte('\n')
	}
	if *update {
		require.NoError(t, os.WriteFile("testdata/tips.jsonl", []byte(got.String()), 0o644))
	}
	want, err := os.ReadFile("testdata/tips.jsonl")
	require.NoError(t, err)
	require.Equal(t, string(want), got.String())

	back, err := Decode(head.Body, sid)
	require.NoError(t, err)
	require.Equal(t, full, back)
	left, err := DecodeHistory(history.ID, history.Label, sid)
	require.NoError(t, err)
	require.Equal(t, h, left)
	back, err = Decode(dead.Body, sid)
	require.NoError(t, err)
	require.True(t, back.Deleted)
	require.Equal(t, full.Revision+1, back.Revision)
	require.Equal(t, full.Transcript, back.Transcript)
	require.Zero(t, back.Histories)
	require.Empty(t, back.Files)
	back, err = Decode(first.Body, sid)
	require.NoError(t, err)
	require.Equal(t, segment.Origin(segment.Transcript), back.Transcript.Point())
	require.Equal(t, segment.Origin("e-1f3a9c02"), back.Logs["e-1f3a9c02"].Point())
	same, err := DecodeCatalogue(entry.ID, entry.Label, sid)
	require.NoError(t, err)
	require.Equal(t, cat, same)
	condemned, err := DecodeGone(gone.ID, gone.Body)
	require.NoError(t, err)
	require.Equal(t, Gone{gone.ID, []string{sid + "-s-x", sid + "-c-y"}}, condemned)
}

func TestTipIsSmall(t *testing.T) {
	t.Parallel()
	d, err := (&Head{SID: sid, Revision: 1, User: "ada", Session: "c", Project: "x", Transcript: extent(9), Writer: Writer{Device: "1f3a9c02"}}).Encode()
	require.NoError(t, err)
	require.Less(t, len(d.Body), 600)
	full := whole(t)
	d, err = full.Encode()
	require.NoError(t, err)
	for i := range 2 * MaxFormer {
		full.Histories.Add(&History{ID: segment.HistoryID(sid, fmt.Sprintf("%016x", i)), Why: WhyRewrite})
	}
	many, err := full.Encode()
	require.NoError(t, err)
	require.InDelta(t, len(d.Body)+19*MaxFormer, len(many.Body), 20)
}

func TestForeignTips(t *testing.T) {
	t.Parallel()
	d, err := whole(t).Encode()
	require.NoError(t, err)
	for _, c := range []struct {
		body, old, new string
		want           error
	}{
		{string(d.Body), `"v":3`, `"v":4`, segment.ErrNewer},
		{string(d.Body), `"v":3`, `"v":2`, segment.ErrFormat},
		{string(d.Body), `"v":3,`, ``, segment.ErrForeign},
		{string(d.Body), `"type":"head"`, `"type":"session"`, segment.ErrForeign},
		{string(d.Body), `"rev":42`, `"rev":0`, segment.ErrDamaged},
		{string(d.Body), `"rev":42`, `"rev":"42"`, segment.ErrDamaged},
		{string(d.Body), `"n":131`, `"n":-1`, segment.ErrDamaged},
		{string(d.Body), `"n":131`, `"n":0`, segment.ErrDamaged},
		{string(d.Body), `"e-1f3a9c02"`, `"t"`, segment.ErrDamaged},
		{string(d.Body), `"e-1f3a9c02"`, `"logs"`, segment.ErrDamaged},
		{string(d.Body), `-0004-1f3a9c02`, `-4-1f3a9c02`, segment.ErrDamaged},
		{string(d.Body), `"former":["1"]`, `"former":[1]`, segment.ErrDamaged},
		{"{}", "", "", segment.ErrForeign},
		{"", "", "", segment.ErrForeign},
	} {
		require.Contains(t, c.body, c.old)
		_, err := Decode([]byte(strings.Replace(c.body, c.old, c.new, 1)), sid)
		require.ErrorIs(t, err, c.want, "%s -> %s", c.old, c.new)
	}
	_, err = DecodeCatalogue(d.ID, d.Label, sid)
	require.ErrorIs(t, err, segment.ErrForeign)
}

// TestHistoriesAreNamed: a head names each branch, and the newest former heads.
func TestHistoriesAreNamed(t *testing.T) {
	t.Parallel()
	var all []History
	for i := range 2 * MaxFormer {
		why := WhyRewrite
		if i%2 == 0 {
			why = WhyBranch
		}
		all = append(all, History{ID: segment.HistoryID(sid, fmt.Sprint(i)), Why: why})
	}
	of := &Head{SID: sid}
	for i := range all {
		require.False(t, of.Histories.Has(all[i].ID))
		of.Histories.Add(&all[i])
		require.Equal(t, i+1, of.Histories.Len())
		require.True(t, of.Histories.Has(all[i].ID))
	}
	require.False(t, of.Histories.Has(sid+"-h-"))
	require.False(t, of.Histories.Has(sid+"-g-1"))

	next := of.Clone()
	next.Histories.Add(&History{ID: segment.HistoryID(sid, "new"), Why: WhyRestore})
	next.Histories.Add(&History{ID: segment.HistoryID(sid, "own"), Why: WhyBranch})
	require.Len(t, next.Histories.Former, MaxFormer)
	require.Len(t, next.Histories.Branches, MaxFormer+1)
	require.False(t, next.Histories.Has(all[1].ID), "the oldest")
	require.True(t, next.Histories.Has(all[0].ID), "a branch")
	require.True(t, next.Histories.Has(all[3].ID))

	for i := range all {
		require.True(t, of.Histories.Has(all[i].ID), "a clone shares nothing")
		last := of.Clone()
		of.Histories.Drop(&all[i])
		require.True(t, last.Histories.Has(all[i].ID))
		require.False(t, of.Histories.Has(all[i].ID))
	}
	require.Zero(t, of.Histories.Len())
	none, err := of.Encode()
	require.NoError(t, err)
	same, err := (&Head{SID: sid}).Encode()
	require.NoError(t, err)
	require.Equal(t, same, none)
}

func TestForeignHistories(t *testing.T) {
	t.Parallel()
	h := branch(time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC))
	d, err := h.Encode(sid)
	require.NoError(t, err)
	for _, c := range []struct {
		old, new string
		want     error
	}{
		{`"v":3`, `"v":4`, segment.ErrNewer},
		{`"v":3`, `"v":2`, segment.ErrFormat},
		{`"v":3,`, ``, segment.ErrForeign},
		{`"type":"history"`, `"type":"head"`, segment.ErrForeign},
		{`"n":133`, `"n":-1`, segment.ErrDamaged},
		{`"n":133`, `"n":"133"`, segment.ErrDamaged},
		{`"t":{`, `"u":{`, segment.ErrDamaged},
		{`"st":"t"`, `"st":"x"`, segment.ErrDamaged},
	} {
		label := strings.Replace(string(d.Label), c.old, c.new, 1)
		require.NotEqual(t, string(d.Label), label)
		_, err := DecodeHistory(d.ID, []byte(label), sid)
		require.ErrorIs(t, err, c.want, c.new)
	}
	_, err = DecodeHistory("z"+d.ID, d.Label, sid)
	require.ErrorIs(t, err, segment.ErrDamaged)
	_, err = DecodeHistory(d.ID, d.Label, strings.Repeat("a", 32))
	require.ErrorIs(t, err, segment.ErrDamaged, "of another session")
}

func TestReachOf(t *testing.T) {
	t.Parallel()
	m := segment.Mark{N: 5, Hash: point(5).Hash, Bytes: 9 << 30, Turn: 2}
	require.Equal(t, Extent{N: 5, Hash: point(5).Hash, Bytes: 9 << 30, Turns: 2}, ExtentOf(m))
}

func FuzzDecode(f *testing.F) {
	data, err := os.ReadFile("testdata/tips.jsonl")
	require.NoError(f, err)
	for doc := range strings.Lines(string(data)) {
		var d golden
		require.NoError(f, json.Unmarshal([]byte(doc), &d))
		f.Add([]byte(d.Label))
		f.Add([]byte(d.Body))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		id := segment.HistoryID(sid, "0123456789abcdef")
		if tp, err := Decode(text, sid); err == nil {
			d, err := tp.Encode()
			require.NoError(t, err)
			_, err = Decode(d.Body, sid)
			require.NoError(t, err)
		}
		if h, err := DecodeHistory(id, text, sid); err == nil {
			d, err := h.Encode(sid)
			require.NoError(t, err)
			_, err = DecodeHistory(d.ID, d.Label, sid)
			require.NoError(t, err)
		}
		if c, err := DecodeCatalogue(sid, text, sid); err == nil {
			d, err := c.Encode()
			require.NoError(t, err)
			again, err := DecodeCatalogue(d.ID, d.Label, sid)
			require.NoError(t, err)
			require.Equal(t, c.Session, again.Session)
		}
		_, _ = DecodeGone(id, text)
	})
}

// TestLargestHead makes a head of more devices and histories than any session has: remotes take it.
func TestLargestHead(t *testing.T) {
	t.Parallel()
	h := &Head{SID: "s", Revision: 1, Logs: map[segment.Stream]Extent{}}
	for i := range 20_000 {
		h.Logs[segment.Stream(fmt.Sprintf("e-%08x", i))] = Extent{N: 1 << 40, Bytes: 1 << 50, Turns: 1 << 30, Rules: []Rules{{1 << 40, "secrets/1"}}}
	}
	for i := range 200_000 {
		h.Histories.Branches = append(h.Histories.Branches, fmt.Sprintf("%016x", i))
	}
	d, err := h.Encode()
	require.NoError(t, err)
	require.NoError(t, remote.TooLarge(int64(len(d.Label)), 4*int64(len(d.Body))))
}
