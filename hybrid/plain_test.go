package hybrid

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/head"
)

// plain returns all that the documents of the cloud hold, in the clear: ids, bodies,
// all in them that is base64 or compressed, and the lines and files that they make up
// together, of heads, branches and former heads. What is damaged is passed over.
func (c *cloud) plain(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	for _, d := range c.Docs(testDatabase, testContainer) {
		all.WriteString(d.Partition + " " + d.ID + "\n")
		writePlain(t, &all, d.Body)
	}
	r := newSimReader(heldBy(c.Server))
	s := r.shelf()
	for _, d := range s.heads {
		if h, err := head.Decode(d.Body, strings.TrimSuffix(d.ID, "-head")); err == nil {
			s.writeSession(&all, h)
		}
	}
	return all.String()
}

// zstdMagic begins what is compressed.
const zstdMagic = "\x28\xb5\x2f\xfd"

// writePlain writes a text, what is compressed in it, and what its strings hold when it is
// JSON. It knows nothing of the library's documents.
func writePlain(t testing.TB, all *strings.Builder, text []byte) {
	t.Helper()
	all.Write(text)
	all.WriteByte('\n')
	if at := bytes.Index(text, []byte(zstdMagic)); at >= 0 {
		dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
		require.NoError(t, err)
		defer dec.Close()
		if out, err := dec.DecodeAll(text[at:], nil); err == nil {
			writePlain(t, all, out)
		}
	}
	var v any
	if json.Unmarshal(text, &v) != nil {
		return
	}
	for s := range stringsIn(v) {
		if len(s) > 1 && (s[0] == '{' || s[0] == '[') {
			writePlain(t, all, []byte(s))
		}
		all.WriteString(s + "\n") // without the escapes of JSON
		if data, err := base64.StdEncoding.DecodeString(s); err == nil && len(data) >= 4 {
			writePlain(t, all, data)
		}
	}
}

// stringsIn yields all strings in a value, also the names of members.
func stringsIn(v any) iter.Seq[string] {
	return func(yield func(string) bool) {
		var walk func(v any) bool
		walk = func(v any) bool {
			switch v := v.(type) {
			case string:
				return yield(v)
			case []any:
				return !slices.ContainsFunc(v, func(e any) bool { return !walk(e) })
			case map[string]any:
				for name, e := range v {
					if !yield(name) || !walk(e) {
						return false
					}
				}
			}
			return true
		}
		walk(v)
	}
}

// writeSession writes the histories, logs and files of a head.
func (s *shelf) writeSession(all *strings.Builder, h *head.Head) {
	text, _ := s.history(h, h.Transcript.Point())
	all.Write(text)
	for _, left := range s.histories[h.SID] {
		text, _ := s.stream(h, left.Stream, left.Extent.Point())
		all.Write(text)
	}
	for st, extent := range h.Logs {
		infos, _ := s.infos(h.SID, st)
		text, _ := s.lines(st, infos, extent.Point())
		all.Write(text)
	}
	for _, f := range h.Files {
		text, _ := f.Unpack(h.SID, s.Chunk)
		all.Write(text)
	}
}

// requirePlain requires the cloud to hold some texts, and to hold none of others.
func (c *cloud) requirePlain(t *testing.T, held, none []string) {
	t.Helper()
	plain := c.plain(t)
	for _, text := range held {
		require.True(t, strings.Contains(plain, text), "the cloud does not hold %q", text)
	}
	for _, text := range none {
		require.False(t, strings.Contains(plain, text), "the cloud holds %q", text)
	}
}

// TestPlainFindsWhatIsSent writes a text into every place of a session, one place at a
// time, and finds it in the cloud: short and long lines, differences of long ones, what
// was rewound or became a branch, logs, metadata, small files.
func TestPlainFindsWhatIsSent(t *testing.T) {
	t.Parallel()
	const text = "hunter2hunter2"
	long := func() string { return noise(400<<10) + text + noise(400<<10) }
	for name, write := range map[string]func(c *cloud, d *testDevice){
		"line":      func(c *cloud, d *testDevice) { d.say("s", text) },
		"long line": func(c *cloud, d *testDevice) { d.say("s", long()) },
		"rewound": func(c *cloud, d *testDevice) {
			d.say("s", text)
			d.sync()
			d.cutTo("s", 1)
		},
		"branch": func(c *cloud, d *testDevice) {
			other := c.device(d.t, "other")
			other.pull()
			other.say("s", "other")
			other.sync()
			d.say("s", text)
		},
		"event": func(c *cloud, d *testDevice) { d.put("s", "events.jsonl", `{"event": "`+text+`"}`+"\n") },
		"events": func(c *cloud, d *testDevice) {
			row := `{"event": "` + noise(20<<10)
			d.put("s", "events.jsonl", row+`"}`+"\n"+row+text+`"}`+"\n")
		},
		"name":       func(c *cloud, d *testDevice) { d.setMember("s", "name", text) },
		"member":     func(c *cloud, d *testDevice) { d.setMember("s", "note", text) },
		"config":     func(c *cloud, d *testDevice) { d.put("s", "config.md", text) },
		"state":      func(c *cloud, d *testDevice) { d.put("s", "state.json", `{"a": "`+text+`"}`) },
		"large file": func(c *cloud, d *testDevice) { d.put("s", "config.md", long()) },
		"id":         func(c *cloud, d *testDevice) { d.say(text, "one") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCloud(t, nil)
			a := c.device(t, "a")
			a.say("s", "one")
			a.sync()
			c.requirePlain(t, []string{"one"}, []string{text})
			write(c, a)
			a.sync()
			c.requirePlain(t, []string{text}, nil)
		})
	}
}
