package head

import (
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/segment"
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
	md, _ := segment.Pack(sid, []byte("{\n  \"name\": \"<x>\"\n}"))
	return &Head{
		SID: sid, Revision: 42, User: "ada", Session: "c3843177", Project: "x", Parent: "p", Born: "0123456789abcdef",
		Transcript: extent(131), Logs: map[segment.Stream]Extent{"e-1f3a9c02": extent(2210), "p-1f3a9c02": extent(1)},
		Files: map[string]File{
			Metadata:    {Blob: md, Clock: HLC{Wall: at.UnixMilli(), Count: 4, Device: "1f3a9c02"}, Summary: json.RawMessage(`{"turn_count":12}`)},
			"config.md": {Blob: segment.Blob{Sum: segment.Hash{9}, Bytes: 5000, Chunks: []string{strings.Repeat("a", 40)}}},
		},
		Old:      []Old{{Point: point(140), Bytes: 9, Why: "rewrite", Device: "1f3a9c02", At: at}},
		Branches: []Branch{{ID: segment.BranchID(sid, point(133)), Tip: point(133), Common: 120, Device: "1f3a9c02", KeptAs: "f", At: at}},
		OldMore:  []string{"a"}, BranchMore: []string{"b"},
		Op: "1f3a9c02-000317", Writer: Writer{"1f3a9c02", "box", "0.1.0"}, Redaction: "3", Updated: at,
		Anew: Anew{Rules: "2", Was: point(120), Now: point(121)},
	}
}

func TestDocumentsOfTips(t *testing.T) {
	t.Parallel()
	full := whole(t)
	branch, err := full.EncodeBranch()
	require.NoError(t, err)
	head, err := full.Encode()
	require.NoError(t, err)
	dead, err := full.Tombstone(90 * 24 * time.Hour).Encode()
	require.NoError(t, err)
	first, err := (&Head{SID: sid, Revision: 1, Logs: map[segment.Stream]Extent{"e-1f3a9c02": {}}}).Encode()
	require.NoError(t, err)
	cat := full.Catalogue(sid, "<name>")
	entry, err := cat.Encode()
	require.NoError(t, err)

	var got strings.Builder
	for _, d := range []segment.Document{head, branch, dead, first, entry} {
		got.Write(d.Body)
		got.WriteByte('\n')
		var names struct{ ID, PK, Type string }
		require.NoError(t, json.Unmarshal(d.Body, &names))
		require.Equal(t, [3]string{d.ID, d.PK, d.Type}, [3]string{names.ID, names.PK, names.Type})
	}
	if *update {
		require.NoError(t, os.WriteFile("testdata/tips.jsonl", []byte(got.String()), 0o644))
	}
	want, err := os.ReadFile("testdata/tips.jsonl")
	require.NoError(t, err)
	require.Equal(t, string(want), got.String())

	for _, d := range []segment.Document{head, branch} {
		back, err := Decode(d.Body, sid)
		require.NoError(t, err)
		require.Equal(t, full, back)
	}
	back, err := Decode(dead.Body, sid)
	require.NoError(t, err)
	require.True(t, back.Deleted)
	require.Equal(t, full.Revision+1, back.Revision)
	require.Equal(t, full.Transcript, back.Transcript)
	back, err = Decode(first.Body, sid)
	require.NoError(t, err)
	require.Equal(t, segment.Origin(segment.Transcript), back.Transcript.Point())
	require.Equal(t, segment.Origin("e-1f3a9c02"), back.Logs["e-1f3a9c02"].Point())
	same, err := DecodeCatalogue(entry.Body, sid)
	require.NoError(t, err)
	require.Equal(t, cat, same)
}

func TestTipIsSmall(t *testing.T) {
	t.Parallel()
	d, err := (&Head{SID: sid, Revision: 1, User: "ada", Session: "c", Project: "x", Transcript: extent(9), Writer: Writer{Device: "1f3a9c02"}}).Encode()
	require.NoError(t, err)
	require.Less(t, len(d.Body), 600)
	full := whole(t)
	for i := range int64(20) {
		full.Retire(Old{Point: point(i)})
		full.Branch(Branch{ID: segment.BranchID(sid, point(i)), Tip: point(i)}, nil)
	}
	d, err = full.Encode()
	require.NoError(t, err)
	require.Less(t, len(d.Body), 6<<10)
}

func TestForeignTips(t *testing.T) {
	t.Parallel()
	d, err := whole(t).Encode()
	require.NoError(t, err)
	b, err := whole(t).EncodeBranch()
	require.NoError(t, err)
	for _, c := range []struct {
		body, old, new string
		want           error
	}{
		{string(d.Body), `"v":1`, `"v":2`, segment.ErrNewer},
		{string(d.Body), `"v":1`, `"v":0`, segment.ErrFormat},
		{string(d.Body), `"v":1,`, ``, segment.ErrForeign},
		{string(d.Body), `"type":"head"`, `"type":"session"`, segment.ErrForeign},
		{string(d.Body), sid + "-head", sid, segment.ErrDamaged},
		{string(d.Body), `"rev":42`, `"rev":0`, segment.ErrDamaged},
		{string(d.Body), `"rev":42`, `"rev":"42"`, segment.ErrDamaged},
		{string(d.Body), `"n":131`, `"n":-1`, segment.ErrDamaged},
		{string(d.Body), `"n":131`, `"n":0`, segment.ErrDamaged},
		{string(d.Body), `"e-1f3a9c02"`, `"t"`, segment.ErrDamaged},
		{string(d.Body), `"e-1f3a9c02"`, `"logs"`, segment.ErrDamaged},
		{string(d.Body), `-0004-1f3a9c02`, `-4-1f3a9c02`, segment.ErrDamaged},
		{string(b.Body), `"n":131`, `"n":132,"h":"` + point(7).Hash.String() + `"},"t0":{"n":1`, segment.ErrDamaged},
		{"{}", "", "", segment.ErrForeign},
		{"", "", "", segment.ErrForeign},
	} {
		require.Contains(t, c.body, c.old)
		_, err := Decode([]byte(strings.Replace(c.body, c.old, c.new, 1)), sid)
		require.ErrorIs(t, err, c.want, "%s -> %s", c.old, c.new)
	}
	_, err = Decode(d.Body, strings.Repeat("a", 32))
	require.ErrorIs(t, err, segment.ErrDamaged, "of another session")
	_, err = DecodeCatalogue(d.Body, sid)
	require.ErrorIs(t, err, segment.ErrForeign)
}

func TestListsAreCapped(t *testing.T) {
	t.Parallel()
	tp := &Head{}
	var over []Old
	for i := range int64(12) {
		over = append(over, tp.Retire(Old{Point: point(i)})...)
	}
	require.Len(t, tp.Old, MaxOld)
	require.Equal(t, point(11), tp.Old[MaxOld-1].Point)
	require.Len(t, over, 4)
	require.Equal(t, point(0), over[0].Point)
	before := tp.Clone()
	require.Empty(t, tp.Retire(Old{Point: point(7), Why: "again"}))
	require.Len(t, tp.Old, MaxOld)
	require.Equal(t, "again", tp.Old[MaxOld-1].Why)
	require.Equal(t, point(11), before.Old[MaxOld-1].Point, "a clone does not change")

	var gone []Branch
	for i := range int64(9) {
		gone = append(gone, tp.Branch(Branch{ID: string(rune('a' + i))}, nil)...)
	}
	require.Equal(t, []Branch{{ID: "a"}}, gone)
	require.Empty(t, tp.Branch(Branch{ID: "z"}, []string{"c", "not here"}))
	require.Len(t, tp.Branches, MaxBranches)
	require.Equal(t, "z", tp.Branches[MaxBranches-1].ID)
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
		f.Add([]byte(doc))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if tp, err := Decode(body, sid); err == nil {
			d, err := tp.Encode()
			require.NoError(t, err)
			_, err = Decode(d.Body, sid)
			require.NoError(t, err)
		}
		_, _ = DecodeCatalogue(body, sid)
	})
}
