package hybrid

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestOwnerKeepsLinesOfRewrite: another device rewrites the transcript around lines
// that rules changed. The owner's lines stay as they are.
func TestOwnerKeepsLinesOfRewrite(t *testing.T) {
	t.Parallel()
	for name, edit := range map[string]func(string) string{
		"middle": func(s string) string { return strings.Replace(s, "plain two", "changed two", 1) },
		"front":  lessBefore,
		"order": func(s string) string {
			lines := strings.SplitAfter(s, "\n")
			return lines[2] + lines[1] + lines[0]
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCloud(t, nil)
			a, b := c.device(t, "a", under(1)), c.device(t, "b", under(2))
			a.say("s", "apple one")
			a.say("s", "plain two")
			a.say("s", "apple three")
			a.sync()
			b.pull()
			b.put("s", "transcript.jsonl", edit(b.file("s", "transcript.jsonl")))
			b.sync()
			a.sync()
			require.Equal(t, strings.ReplaceAll(edit(strings.Join([]string{"apple one\n", "plain two\n", "apple three\n"}, "")), "\n", "|"),
				strings.Join(a.texts("s"), "|")+"|")
			require.NotContains(t, strings.Join(b.texts("s"), "|"), "apple")
			require.Zero(t, a.sync().Pushed+b.sync().Pushed)
			a.say("s", "apple four")
			a.sync()
			reader := c.device(t, "c")
			reader.pull()
			require.Len(t, reader.texts("s"), len(a.texts("s")))
			require.NotContains(t, strings.Join(reader.texts("s"), "|"), "apple")
			require.Contains(t, a.file("s", "transcript.jsonl"), "apple three")
			require.Len(t, a.ids(), 1)
		})
	}
}

// TestOwnerKeepsLinesSentInAnotherForm: another device has later rules, and sends lines
// of the owner again, in other places and so in other forms. The owner's stay as they are,
// also where it lost what it knew, and where its own rules are later still.
func TestOwnerKeepsLinesSentInAnotherForm(t *testing.T) {
	t.Parallel()
	two, all := ruleSets[2], words{"words/4", []string{"apple", "pear", "plum"}}
	more := []string{"new", "apple pear plum", "pear", "three"}
	for name, c := range map[string]struct {
		owner, other Redactor // rules of today
		forgets      bool
		edit         func(string) string
		want         []string
	}{
		"one more before":      {two, two, false, moreBefore, more},
		"one less before":      {two, two, false, lessBefore, []string{"pear", "three"}},
		"later rules here":     {all, two, false, moreBefore, more},
		"forgotten":            {two, two, true, moreBefore, more},
		"forgotten, and later": {all, two, true, moreBefore, more},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cloud := newCloud(t, nil)
			a, b := cloud.device(t, "a", under(1)), cloud.device(t, "b", under(1))
			a.say("s", "apple pear plum", "pear", "three")
			a.sync()
			b.pull()
			requireClosed(t, a.Store)
			if c.forgets {
				forgetStates(t, a)
			}
			a = cloud.deviceAt(t, a.Dir(), "a", func(o *Options) { o.Redact = c.owner })
			b = cloud.reopened(t, b, "b", func(o *Options) { o.Redact = c.other })
			b.put("s", "transcript.jsonl", c.edit(b.file("s", "transcript.jsonl")))
			require.Equal(t, 1, b.sync().Pushed)
			require.Empty(t, a.sync().Conflicts)
			require.Equal(t, c.want, a.texts("s"))
			require.Zero(t, a.sync().Pushed+b.sync().Pushed)
			fresh := cloud.device(t, "fresh", func(o *Options) { o.Redact = c.owner })
			fresh.pull()
			require.NotContains(t, strings.Join(fresh.texts("s"), "|"), "pear")
		})
	}
}

// moreBefore returns a transcript with one more line at its beginning.
func moreBefore(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return strings.Replace(line, "[redacted:word] pear plum", "new", 1) + "\n" + s
}

// lessBefore returns a transcript without its first line.
func lessBefore(s string) string { _, rest, _ := strings.Cut(s, "\n"); return rest }
