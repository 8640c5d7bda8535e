package hybrid

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// starred takes words out, and puts nothing in their place that tells so.
type starred struct {
	version string
	words   []string
}

func (s starred) Version() string { return s.version }
func (s starred) Line(line []byte) []byte {
	text := string(line)
	for _, word := range s.words {
		text = strings.ReplaceAll(text, word, "***")
	}
	return []byte(text)
}

func starring(version string, words ...string) func(*Options) {
	return func(o *Options) { o.Redact = starred{version, words} }
}

// TestOwnSmallFilesKeepTheirBytes lets another device change small files of which rules
// take something out. What it did not change stays on the owner's device.
func TestOwnSmallFilesKeepTheirBytes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ file, text, old, new, want string }{
		"line": {"config.md", "# One\nkey: apple\nlast\n", "last\n", "end\n", "# One\nkey: apple\nend\n"},
		"lines that look alike": {
			"config.md", "key: apple a\nkey: apple b\nkey: apple a\nlast\n", "last\n", "end\n", "key: apple a\nkey: apple b\nkey: apple a\nend\n",
		},
		"line moved":       {"config.md", "key: apple\nlast", "key: ***\nlast", "last\nkey: ***", "last\nkey: apple"},
		"without an LF":    {"config.md", "# One\nkey: apple", "# One", "# Two", "# Two\nkey: apple"},
		"member":           {"state.json", `{"a": "apple", "b": 1}`, `1`, `2`, `{"a": "apple", "b": 2}`},
		"member in member": {"state.json", `{"a": {"k": "apple", "b": [1, {"k": "apple pie", "c": 1}]}}`, `"c": 1`, `"c": 2`, `{"a": {"k": "apple", "b": [1, {"k": "apple pie", "c": 2}]}}`},
		"elements":         {"state.json", `["apple 1", "x", "apple 2"]`, `["*** 1", "x"`, `["y"`, `["y", "apple 2"]`},
		"many lines":       {"state.json", "{\n  \"a\": \"apple\",\n  \"b\": 1\n}", ",\n  \"b\": 1", "", "{\n  \"a\": \"apple\"\n}"},
		"metadata":         {"metadata.json", "{\n  \"a\": {\n    \"k\": \"apple\",\n    \"b\": 1\n  }\n}", `"b": 1`, `"b": 2`, "{\n  \"a\": {\n    \"k\": \"apple\",\n    \"b\": 2\n  }\n}"},
		"name of a member": {"state.json", `{"apple": 1, "b": 1}`, `"b": 1`, `"b": 2`, `{"apple": 1, "b": 2}`},
	} {
		for when, rules := range map[string][2]string{"same rules": {"apple", "apple"}, "later rules": {"apple", "a"}} {
			t.Run(name+", "+when, func(t *testing.T) {
				t.Parallel()
				cl := newCloud(t, nil)
				a, b := cl.device(t, "a", starring("s/1", rules[0])), cl.device(t, "b", starring("s/1", rules[0]))
				a.say("s", "one")
				a.sync()
				a.put("s", c.file, c.text)
				a.sync()
				b.pull()
				image := strings.ReplaceAll(c.text, "apple", "***")
				require.Equal(t, image, b.file("s", c.file))
				require.Contains(t, image, c.old)
				b.put("s", c.file, strings.Replace(image, c.old, c.new, 1))
				b.sync()
				a = cl.reopened(t, a, "a", starring("s/2", rules[1]))
				a.sync()
				require.Equal(t, c.want, a.file("s", c.file))
				if when == "same rules" {
					require.Zero(t, a.sync().Pushed+b.sync().Pushed, "both have the same")
				}
			})
		}
	}
}

// TestOwnValuesThatLoseAreKeptWhole: both devices changed the same member or file. What
// loses on the owner's device is kept there as the owner wrote it.
func TestOwnValuesThatLoseAreKeptWhole(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]bool{"state": false, "state is lost": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCloud(t, nil)
			a, b := c.device(t, "a", starring("s/1", "apple")), c.device(t, "b", starring("s/1", "apple"))
			a.say("s", "one")
			a.setMember("s", "note", "an apple")
			a.put("s", "config.md", "key: apple\n")
			a.sync()
			b.pull()
			requireClosed(t, a.Store)
			if lose {
				forgetStates(t, a)
			}
			a = c.deviceAt(t, a.Dir(), "a", starring("s/1", "apple"))
			a.setMember("s", "note", "apple pie")
			a.put("s", "config.md", "key: apple pie\n")
			b.setMember("s", "note", "by b") // later
			b.put("s", "config.md", "key: by b\n")
			b.sync()
			a.sync()
			require.Contains(t, a.file("s", "metadata.json"), "by b")
			require.Equal(t, "key: by b\n", a.file("s", "config.md"))
			for _, want := range []string{`"apple pie"`, "key: apple pie\n"} {
				require.Contains(t, lostValues(t, a), want)
			}
			c.requireNoTrace(t, "apple")
		})
	}
}

// TestValuesThatLostGo: what lost a merge stays for 90 days, and the log tells where.
func TestValuesThatLostGo(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	var log bytes.Buffer
	a := c.device(t, "a", func(o *Options) { o.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
	b := c.device(t, "b")
	a.say("s", "one")
	a.sync()
	b.pull()
	a.setMember("s", "note", "by a")
	a.put("s", "config.md", "by a")
	time.Sleep(2 * time.Millisecond)
	b.setMember("s", "note", "by b")
	b.put("s", "config.md", "by b")
	b.sync()
	a.sync()
	require.ElementsMatch(t, []string{`"by a"`, "by a"}, lostValues(t, a))
	require.Contains(t, log.String(), ".lost-*")
	require.NotContains(t, log.String(), "note")
	require.NotContains(t, log.String(), "by a")
	files, err := filepath.Glob(filepath.Join(a.Dir(), ".sessionstore", "sync", "*.lost-*config.md*"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	old := time.Now().Add(-91 * 24 * time.Hour)
	require.NoError(t, os.Chtimes(files[0], old, old))
	a = c.reopened(t, a, "a")
	require.Equal(t, []string{`"by a"`}, lostValues(t, a))
}

// lostValues returns what a device kept of what lost a merge.
func lostValues(t *testing.T, d *testDevice) (all []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(d.Dir(), ".sessionstore", "sync", "*.lost-*"))
	require.NoError(t, err)
	for _, f := range files {
		text, err := os.ReadFile(f)
		require.NoError(t, err)
		all = append(all, string(text))
	}
	return all
}

// TestMemberSentElsewhereAndStateLost: the owner's member went out redacted, another
// device changed others, and the owner lost what it knew before it changed more.
func TestMemberSentElsewhereAndStateLost(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a, b := c.device(t, "a", starring("s/1", "apple")), c.device(t, "b", starring("s/1", "apple"))
	a.say("s", "one")
	a.setMember("s", "note", "an apple")
	a.sync()
	b.pull()
	b.setMember("s", "name", "by b")
	b.sync()
	requireClosed(t, a.Store)
	forgetStates(t, a)
	a = c.deviceAt(t, a.Dir(), "a", starring("s/1", "apple"))
	_, err := a.UpdateMetadata(t.Context(), "s", func(md *sessionstore.Metadata) error { return md.Set("more", 1) })
	require.NoError(t, err)
	a.sync()
	b.sync()
	for _, want := range []string{`"an apple"`, "by b", `"more"`} {
		require.Contains(t, a.file("s", "metadata.json"), want)
	}
	require.Contains(t, b.file("s", "metadata.json"), `"an ***"`)
	require.Contains(t, b.file("s", "metadata.json"), `"more"`)
}

// TestOtherMarksAreKnownAgain: the rules put no marker in the place of what they take out.
// Later rules, and lost states, make no history of its own of what went out, and no
// file of the owner's becomes what was sent.
func TestOtherMarksAreKnownAgain(t *testing.T) {
	t.Parallel()
	for name, twice := range map[string]bool{"once": false, "twice": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCloud(t, nil)
			a, b := c.device(t, "a", starring("s/1", "apple")), c.device(t, "b", starring("s/1", "apple"))
			a.say("s", "apple pear plum", "two", "an apple a pear")
			a.setMember("s", "note", "apple pear")
			a.put("s", "config.md", "key: apple pear\nlast\n")
			a.sync()
			b.pull()
			b.setMember("s", "name", "by b")
			b.put("s", "config.md", strings.Replace(b.file("s", "config.md"), "last", "by b", 1))
			b.sync()
			requireClosed(t, a.Store)
			forgetStates(t, a)
			a = c.deviceAt(t, a.Dir(), "a", starring("s/2", "apple", "pear"))
			if twice {
				a.sync()
				requireClosed(t, a.Store)
				forgetStates(t, a)
				a = c.deviceAt(t, a.Dir(), "a", starring("s/3", "plum", "pear", "apple"))
			}
			a.say("s", "pear of a")
			a.sync()
			b.sync()
			require.Equal(t, []string{"s"}, a.ids())
			require.Equal(t, []string{"apple pear plum", "two", "an apple a pear", "pear of a"}, a.texts("s"))
			require.Empty(t, c.headOf(t, a.engine.SID("s")).Histories.Branches)
			for _, own := range []string{`"apple pear"`, "by b"} {
				require.Contains(t, a.file("s", "metadata.json"), own)
			}
			require.Contains(t, a.file("s", "config.md"), "key: apple pear\n")
			c.requirePlain(t, []string{"*** of a"}, []string{"apple"})
		})
	}
}
