package segment

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/remote"
)

var update = flag.Bool("update", false, "write the documents in testdata anew")

// session is a short transcript in the forms that messages have.
func session() (lines [][]byte) {
	for _, l := range []string{
		`{"role": "user", "content": "why?", "timestamp": "2026-11-20T10:20:30.123+00:00"}`,
		`{"role": "assistant", "content": [{"type": "text", "text": "<hm>"}, {"type": "tool_call", "id": "call_1", "name": "bash"}], "ts": "2026-11-20T10:20:31Z"}`,
		`{"role": "tool", "tool_call_id": "call_1", "content": "caf` + "\xe9" + `"}`,
		`{"role": "assistant", "tool_calls": [{"id": "call_2", "tool": "bash"}, {"id": "call_3", "function": {"name": "grep"}}], "metadata": {"timestamp": "t"}}`,
		`not JSON`,
		`{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "call_3"}]}`,
	} {
		lines = append(lines, []byte(l))
	}
	return lines
}

// shape is lines of a stream.
type shape struct {
	st    Stream
	lines [][]byte
}

// shapes are what the documents in testdata hold.
func shapes() map[string]shape {
	big := func(n int) []byte {
		return []byte(`{"event":"llm:request","x":"` + strings.Repeat("abcdefgh", n/8) + `"}`)
	}
	return map[string]shape{
		"transcript": {Transcript, session()},
		"chunks":     {Transcript, [][]byte{big(600 << 10)}},
		"deltas":     {testLog, [][]byte{big(10 << 10), big(11 << 10)}},
	}
}

// golden is the form of documents in testdata.
type golden struct {
	ID    string          `json:"id"`
	PK    string          `json:"pk"`
	Label json.RawMessage `json:"label"`
	Body  []byte          `json:"body"`
}

// TestShape compares whole documents with those in testdata: other versions
// and other programs read them.
func TestShape(t *testing.T) {
	t.Parallel()
	for name, c := range shapes() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []byte
			for d, err := range NewCutter(Options{SID: testSID, Draw: newShelf().draw}, start(c.st)).Documents(each(c.lines)) {
				require.NoError(t, err)
				text, err := json.Marshal(golden{d.ID, d.PK, d.Label, d.Body})
				require.NoError(t, err)
				got = append(append(got, text...), '\n')
			}
			path := filepath.Join("testdata", name+".jsonl")
			if *update {
				require.NoError(t, os.WriteFile(path, got, 0o600))
			}
			want, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, string(want), string(got))
		})
	}
}

// withText returns the body of a segment with descriptions of lines.
func withText(refs string, data []byte) []byte {
	return slices.Concat(binary.AppendUvarint(nil, uint64(len(refs))), []byte(refs), data)
}

func TestStrictness(t *testing.T) {
	t.Parallel()
	s := newShelf()
	s.store(t, Options{}, start(testLog), [][]byte{[]byte(strings.Repeat("x", 9000)), []byte(strings.Repeat("x", 9001))})
	var whole Document
	for _, whole = range s.docs {
	}
	refs, data, err := splitRefs(whole.Body)
	require.NoError(t, err)
	text, err := json.Marshal(refs)
	require.NoError(t, err)
	// change returns the document with another member of its label, another id or partition,
	// other descriptions of lines, or other compressed lines.
	change := func(name, value string) Document {
		d := whole
		switch name {
		case "id":
			d.ID = value
		case "pk":
			d.PK = value
		case "data":
			d.Body = withText(string(text), []byte(value))
		case "refs":
			d.Body = withText(value, data)
		case "body":
			d.Body = []byte(value)
		default:
			var m map[string]json.RawMessage
			require.NoError(t, json.Unmarshal(whole.Label, &m))
			if m[name] = json.RawMessage(value); value == "" {
				delete(m, name)
			}
			d.Label, err = json.Marshal(m)
			require.NoError(t, err)
		}
		return d
	}
	_, err = DecodeSegment(change("more", `"x"`))
	require.NoError(t, err, "what others add is passed over")
	_, err = DecodeSegment(change("refs", string(text)))
	require.NoError(t, err)
	hash := Hash{1}.String()
	for _, c := range []struct {
		name, value string
		want        error
	}{
		{"v", "4", ErrNewer},
		{"v", "2", ErrFormat},
		{"v", `"3"`, ErrForeign},
		{"v", "", ErrForeign},
		{"type", `"chunk"`, ErrForeign},
		{"type", "", ErrForeign},
		{"id", "x", ErrDamaged},
		{"id", "", ErrDamaged},
		{"pk", "s-x", ErrDamaged},
		{"st", `"t"`, ErrDamaged},
		{"st", `"zz"`, ErrDamaged},
		{"st", "", ErrDamaged},
		{"seq", "-1", ErrDamaged},
		{"seq", "1", ErrDamaged},
		{"seq", "", ErrDamaged},
		{"seq", `"0"`, ErrDamaged},
		{"n", "0", ErrDamaged},
		{"n", "3", ErrDamaged},
		{"n", "99999999999", ErrDamaged},
		{"end", "3", ErrDamaged},
		{"prev", `"` + hash + `"`, ErrDamaged},
		{"prev", `"00"`, ErrDamaged},
		{"hash", `"` + hash + `"`, ErrDamaged},
		{"hash", "", ErrDamaged},
		{"at", `"AAAA"`, ErrDamaged},
		{"at", "", ErrDamaged},
		{"bytes", "-5", ErrDamaged},
		{"off", "-5", ErrDamaged},
		{"base", "7", ErrDamaged},
		{"z", `"gzip"`, ErrDamaged},
		{"z", `"zstd"`, ErrDamaged},
		{"z", `"raw"`, ErrDamaged},
		{"z", "", ErrDamaged},
		{"data", "\x00\x00\x00", ErrDamaged},
		{"data", "", ErrDamaged},
		{"data", "!", ErrDamaged},
		{"body", "", ErrDamaged},
		{"body", "\x80", ErrDamaged},
		{"body", "\x7f[]", ErrDamaged},
		{"body", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01[]", ErrDamaged},
		{"refs", "[", ErrDamaged},
		{"refs", "[null]", ErrDamaged},
		{"refs", `[{"i":0}]`, ErrDamaged},
		{"refs", `[{"i":5,"z":"key","bytes":9000}]`, ErrDamaged},
		{"refs", `[{"i":0,"z":"key","bytes":9000},{"i":0,"z":"key","bytes":9000}]`, ErrDamaged},
		{"refs", `[{"i":0,"z":"key","bytes":9000},{"i":1,"z":"delta","base":1,"bytes":9001,"len":9}]`, ErrDamaged},
		{"refs", `[{"i":0,"z":"key","bytes":9000},{"i":1,"z":"delta","base":0,"bytes":99999999999,"len":9}]`, ErrDamaged},
		{"refs", `[{"i":0,"z":"other","bytes":9000}]`, ErrDamaged},
		{"chunks", `["` + strings.Repeat("a", 40) + `"]`, ErrDamaged},
		{"chunks", `"a"`, ErrDamaged},
		{"refs", `[{"i":0,"bytes":9000,"sha":"` + hash + `","chunks":["` + strings.Repeat("a", 40) + `"]}]`, ErrDamaged},
		{"refs", `[{"i":0,"bytes":9000,"sha":"` + hash + `","chunks":["x"]}]`, ErrDamaged},
	} {
		_, err := DecodeSegment(change(c.name, c.value))
		require.ErrorIs(t, err, c.want, "%s=%s", c.name, c.value)
		require.NotErrorIs(t, err, errors.Join(ErrGap))
	}
	for _, junk := range []string{"", "{", "null", "[]", "1", `{"type":"seg"}`} {
		_, err := DecodeSegment(Document{ID: whole.ID, PK: whole.PK, Label: []byte(junk), Body: whole.Body})
		require.ErrorIs(t, err, ErrForeign, junk)
	}
	_, err = DecodeSegment(Document{ID: whole.ID, PK: whole.PK, Label: Label(TypeSegment), Body: whole.Body})
	require.ErrorIs(t, err, ErrDamaged)
}

func TestBlobs(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 9))
	for name, content := range map[string]string{
		"empty": "", "short": "{\n}\n", "awkward": "\xff\x00\r\n", "inline": random(r, 3<<10), "long": random(r, 5<<10), "very long": random(r, 1<<20),
	} {
		b, docs := Pack(testSID, []byte(content), testNonce)
		s := newShelf()
		for d, err := range docs {
			require.NoError(t, err)
			s.put(d)
		}
		require.Equal(t, len(content) <= inline, len(s.docs) == 0, name)
		text, err := json.Marshal(b)
		require.NoError(t, err)
		var back Blob
		require.NoError(t, json.Unmarshal(text, &back))
		got, err := back.Unpack(testSID, s.get)
		require.NoError(t, err)
		require.Equal(t, content, string(got), name)
		whole := back
		back.Sum[0]++
		_, err = back.Unpack(testSID, s.get)
		require.ErrorIs(t, err, ErrDamaged)
		for k := range s.docs {
			delete(s.docs, k)
			_, err = whole.Unpack(testSID, s.get)
			require.ErrorIs(t, err, ErrMissing)
			break
		}
	}
}

func TestChunksAreWhatTheirIDSays(t *testing.T) {
	t.Parallel()
	doc, err := chunkOf(testSID, "pk", chunkName([]byte("content"), testNonce), []byte("content"))
	require.NoError(t, err)
	got, err := DecodeChunk(doc)
	require.NoError(t, err)
	require.Equal(t, "content", string(got))
	other, err := compress([]byte("Content"))
	require.NoError(t, err)
	for name, c := range map[string]struct {
		id, label string
		body      []byte
		want      error
	}{
		"other content":    {doc.ID, string(doc.Label), other, ErrDamaged},
		"more":             {doc.ID, string(doc.Label), append(slices.Clone(doc.Body), 0), ErrDamaged},
		"cut":              {doc.ID, string(doc.Label), doc.Body[:len(doc.Body)-1], ErrDamaged},
		"not compressed":   {doc.ID, string(doc.Label), []byte("content"), ErrDamaged},
		"nothing":          {doc.ID, string(doc.Label), nil, ErrDamaged},
		"other name":       {doc.ID[:40] + "ffff" + doc.ID[44:], string(doc.Label), doc.Body, ErrDamaged},
		"no name":          {"x", string(doc.Label), doc.Body, ErrDamaged},
		"no label":         {doc.ID, "{}", doc.Body, ErrForeign},
		"of a segment":     {doc.ID, string(Label(TypeSegment)), doc.Body, ErrForeign},
		"of a newer store": {doc.ID, `{"type":"chunk","v":4}`, doc.Body, ErrNewer},
		"of an older one":  {doc.ID, `{"type":"chunk","v":2}`, doc.Body, ErrFormat},
	} {
		_, err := DecodeChunk(Document{ID: c.id, PK: "pk", Label: []byte(c.label), Body: c.body})
		require.ErrorIs(t, err, c.want, name)
	}
}

// TestLargestDocuments: what is written here is within the limits of remotes, whatever the lines.
func TestLargestDocuments(t *testing.T) {
	t.Parallel()
	chunk := max(chunkBytes, MaxLine/maxChunks+1) // of the content
	refs := maxChunks*(nameBytes+chunkRefBytes) + refBytes
	for name, body := range map[string]int{"a chunk": encodedBytes(chunk), "a segment": Capacity, "a segment of one line": headBytes + refs + encodedBytes(inlineMax)} {
		require.NoError(t, remote.TooLarge(labelMax, 16*int64(body)), name)
	}
	require.LessOrEqual(t, headBytes+maxChunks*nameBytes+labelBytes(&row{}), labelMax, "the label of a segment of one line")
	require.LessOrEqual(t, labelMax, remote.MaxLabel)
}

// TestFurtherMembers reads a segment whose label has a member that this version does not know:
// an index of roles and times.
func TestFurtherMembers(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("testdata", "indexed.jsonl"))
	require.NoError(t, err)
	var g golden
	require.NoError(t, json.Unmarshal(text, &g))
	require.Contains(t, string(g.Label), `"idx"`)
	s := newShelf()
	s.put(Document{ID: g.ID, PK: g.PK, Type: TypeSegment, Label: g.Label, Body: g.Body})
	infos := s.infos(t, Transcript)
	lines, err := collect(Lines(s, Transcript, infos, Origin(Transcript), infos[0].To, nil))
	require.NoError(t, err)
	require.Equal(t, session(), lines)
	part, err := load(s, &infos[0])
	require.NoError(t, err)
	d, err := Merge([]*Segment{part}, testNonce)
	require.NoError(t, err)
	require.NotContains(t, string(d.Label), "idx")
}
