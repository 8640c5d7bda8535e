package foreign

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/amplifier-go/sessionstorage/sessionstore/projects"

	"github.com/amplifier-go/sessionstorage/sessionstore/trash"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"
)

const threadID = "01a08000-0000-7000-8000-0000000000aa"

// segmentID returns the id of the nth segment of a thread.
func segmentID(n int) string { return fmt.Sprintf("01a08000-0000-7000-8000-0000000000b%d", n) }

// codexLines are lines of a file of Codex, of which the first has the ordinal first.
func codexLines(first int, base string, said ...string) string {
	var b strings.Builder
	line := func(kind, payload string) {
		fmt.Fprintf(&b, `{"timestamp":"2026-09-09T10:%02d:00.000Z","ordinal":%d,"type":%q,"payload":%s}`+"\n", first, first, kind, payload)
		first++
	}
	line("session_meta", fmt.Sprintf(`{"id":%q,"cwd":"/w"%s}`, threadID, base))
	for _, s := range said {
		line("response_item", fmt.Sprintf(`{"type":"message","role":"user","content":[{"type":"input_text","text":"%s asked"}]}`, s))
		line("response_item", fmt.Sprintf(`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"%s answered"}]}`, s))
	}
	return b.String()
}

func base(id string, ordinal, offset int) string {
	return fmt.Sprintf(`,"history_base":{"thread_id":%q,"end_ordinal_exclusive":%d,"end_byte_offset":%d}`, id, ordinal, offset)
}

// codexHome is a directory of Codex.
type codexHome struct {
	t   *testing.T
	dir string
	p   *projects.Projects
	n   int
}

func newCodexHome(t *testing.T) *codexHome {
	return &codexHome{t: t, dir: t.TempDir(), p: openProjects(t)}
}

// put writes a file: that of the thread for segment 0.
func (h *codexHome) put(segment int, content string) {
	h.t.Helper()
	name := fmt.Sprintf("rollout-2026-09-09T10-00-0%d-%s", segment, threadID)
	if segment > 0 {
		name += "_" + segmentID(segment)
	}
	dir := filepath.Join(h.dir, "sessions")
	require.NoError(h.t, os.MkdirAll(dir, 0o700))
	require.NoError(h.t, os.WriteFile(filepath.Join(dir, name+".jsonl"), []byte(content), 0o600))
}

// run imports all, and returns what the sessions say and why lines were not read.
func (h *codexHome) run() (said map[string]string, why []string) {
	h.t.Helper()
	all, err := Find(h.t.Context(), Codex, &FindOptions{Home: h.dir})
	require.NoError(h.t, err)
	said, h.n = map[string]string{}, len(all)
	for _, one := range all {
		report, err := Import(h.t.Context(), h.p, one, nil)
		require.NoError(h.t, err)
		st, err := h.p.Store(report.Project)
		require.NoError(h.t, err)
		for _, s := range report.Sessions {
			said[s.ID] = strings.ReplaceAll(strings.Join(texts(h.t, st, s.ID), " "), " answered", "")
		}
		for _, d := range report.Damaged {
			why = append(why, fmt.Sprintf("line %d: %v", d.Line, d.Err))
		}
	}
	return said, why
}

// TestThreadGoesOn reads a thread that goes on in further files, in the order of what
// they go on from, as they appear.
func TestThreadGoesOn(t *testing.T) {
	t.Parallel()
	h, id := newCodexHome(t), idOf(Codex, threadID)
	first := codexLines(0, "", "a", "b")
	second := codexLines(5, base(threadID, 5, len(first)), "c")
	h.put(0, first)
	h.put(1, second)
	said, why := h.run()
	require.Equal(t, map[string]string{id: "a asked a b asked b c asked c"}, said)
	require.Empty(t, why)
	require.Equal(t, 1, h.n)
	h.put(2, codexLines(8, base(segmentID(1), 8, len(second)), "d"))
	said, _ = h.run()
	require.Equal(t, map[string]string{id: "a asked a b asked b c asked c d asked d"}, said)
	before := tree(t, h.p.Dir())
	h.run()
	require.Equal(t, before, tree(t, h.p.Dir()))
}

// TestMiddleComesLater has a thread whose middle file is missing at first: what stood alone is
// taken up by the session of the thread, unless it went on here.
func TestMiddleComesLater(t *testing.T) {
	t.Parallel()
	for _, wentOn := range []bool{false, true} {
		h, id, alone := newCodexHome(t), idOf(Codex, threadID), idOf(Codex, segmentID(2))
		first := codexLines(0, "", "a", "b")
		second := codexLines(5, base(threadID, 5, len(first)), "c")
		h.put(0, first)
		h.put(2, codexLines(8, base(segmentID(1), 8, len(second)), "d"))
		said, why := h.run()
		require.Len(t, said, 2)
		require.NotEmpty(t, why)
		st, err := h.p.Store("-w")
		require.NoError(t, err)
		if wentOn {
			(&growing{t: t, st: st}).say(alone, "ours", "answer")
		}
		h.put(1, second)
		said, why = h.run()
		require.Empty(t, why)
		require.Equal(t, map[string]string{id: "a asked a b asked b c asked c d asked d"}, said)
		require.Equal(t, wentOn, st.Exists(alone))
		bin, err := trash.List(t.Context(), st)
		require.NoError(t, err)
		require.Len(t, bin, map[bool]int{true: 0, false: 1}[wentOn])
		before := tree(t, h.p.Dir())
		h.run()
		require.Equal(t, before, tree(t, h.p.Dir()))
	}
}

// TestThreadIsReverted has a thread that went on from the middle: what that hides is a
// fork, before and after the tool wrote the new file.
func TestThreadIsReverted(t *testing.T) {
	t.Parallel()
	first := codexLines(0, "", "a", "b")
	at := len(codexLines(0, "", "a"))
	for _, before := range []bool{false, true} {
		h, id := newCodexHome(t), idOf(Codex, threadID)
		h.put(0, first)
		if before {
			h.run()
		}
		h.put(1, codexLines(3, base(threadID, 3, at), "c"))
		said, why := h.run()
		require.Empty(t, why)
		require.Equal(t, "a asked a c asked c", said[id])
		delete(said, id)
		require.Len(t, said, 1)
		for _, fork := range said {
			require.Equal(t, "a asked a b asked b", fork)
		}
	}
}

// TestForkHasItsBeginning reads what a fork goes on from in the file of its origin.
func TestForkHasItsBeginning(t *testing.T) {
	t.Parallel()
	h := newCodexHome(t)
	first := codexLines(0, "", "a", "b")
	h.put(0, first)
	fork := strings.ReplaceAll(codexLines(3, base("origin", 3, len(codexLines(0, "", "a"))), "x"), threadID, segmentID(9))
	fork = strings.Replace(fork, `"thread_id":"origin"`, `"thread_id":"`+threadID+`"`, 1)
	require.NoError(t, os.WriteFile(filepath.Join(h.dir, "sessions", "rollout-2026-09-09T11-00-00-"+segmentID(9)+".jsonl"), []byte(fork), 0o600))
	said, why := h.run()
	require.Empty(t, why)
	id := idOf(Codex, segmentID(9))
	require.Equal(t, map[string]string{idOf(Codex, threadID): "a asked a b asked b", id: "a asked a x asked x"}, said)
	st, err := h.p.Store("-w")
	require.NoError(t, err)
	md, err := st.Metadata(t.Context(), id)
	require.NoError(t, err)
	shared, _ := md.Int("forked_from_turn")
	require.Equal(t, 1, shared)
	require.Equal(t, idOf(Codex, threadID), md.Text("parent_id"))
	before := tree(t, h.p.Dir())
	h.run()
	require.Equal(t, before, tree(t, h.p.Dir()))
}

// TestBeginningComesLater imports a fork again once the file of its origin is there. Its
// session gets its beginning, and nothing left it that would become another one.
func TestBeginningComesLater(t *testing.T) {
	t.Parallel()
	h := newCodexHome(t)
	fork := strings.ReplaceAll(codexLines(3, base("origin", 3, len(codexLines(0, "", "a"))), "x"), threadID, segmentID(9))
	fork = strings.Replace(fork, `"thread_id":"origin"`, `"thread_id":"`+threadID+`"`, 1)
	require.NoError(t, os.MkdirAll(filepath.Join(h.dir, "sessions"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(h.dir, "sessions", "rollout-2026-09-09T11-00-00-"+segmentID(9)+".jsonl"), []byte(fork), 0o600))
	_, why := h.run()
	require.Equal(t, []string{"line 1: it goes on from a file that is not there"}, why)
	h.put(0, codexLines(0, "", "a", "b"))
	said, _ := h.run()
	require.Equal(t, map[string]string{idOf(Codex, threadID): "a asked a b asked b", idOf(Codex, segmentID(9)): "a asked a x asked x"}, said)
}

// TestCopyOfAFork has a copy of the file of a fork that lost all but its beginning and
// went on: the longer one is the session, also when it is imported again.
func TestCopyOfAFork(t *testing.T) {
	t.Parallel()
	h := newCodexHome(t)
	h.put(0, codexLines(0, "", "a", "b"))
	fork := func(said ...string) string {
		s := strings.ReplaceAll(codexLines(3, base("origin", 3, len(codexLines(0, "", "a"))), said...), threadID, segmentID(9))
		return strings.Replace(s, `"thread_id":"origin"`, `"thread_id":"`+threadID+`"`, 1)
	}
	write := func(folder, content string) {
		name := filepath.Join(h.dir, folder, "rollout-2026-09-09T11-00-00-"+segmentID(9)+".jsonl")
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o700))
		require.NoError(t, os.WriteFile(name, []byte(content), 0o600))
	}
	write("sessions", fork("x"))
	write("archived_sessions", strings.ReplaceAll(fork("yes"), "T10:0", "T11:0"))
	said, why := h.run()
	require.Empty(t, why)
	require.Equal(t, 2, h.n)
	require.Equal(t, "a asked a yes asked yes", said[idOf(Codex, segmentID(9))])
	require.Len(t, said, 2)
	before := tree(t, h.p.Dir())
	h.run()
	require.Equal(t, before, tree(t, h.p.Dir()))
}

// TestCopyOfASegment has a copy of a segment whose lines are longer, as they name another
// directory: what goes on from the segment still does.
func TestCopyOfASegment(t *testing.T) {
	t.Parallel()
	h, id := newCodexHome(t), idOf(Codex, threadID)
	first := codexLines(0, "", "a")
	second := codexLines(3, base(threadID, 3, len(first)), "b")
	h.put(0, first)
	h.put(1, second)
	h.put(2, codexLines(6, base(segmentID(1), 6, len(second)), "c"))
	name := filepath.Join(h.dir, "archived_sessions", "rollout-2026-09-09T10-00-01-"+threadID+"_"+segmentID(1)+".jsonl")
	require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o700))
	require.NoError(t, os.WriteFile(name, []byte(strings.Replace(second, `"/w"`, `"/elsewhere"`, 1)), 0o600))
	said, why := h.run()
	require.Empty(t, why)
	require.Equal(t, map[string]string{id: "a asked a b asked b c asked c"}, said)
}

// TestPartOfALostThread has a segment whose beginning is gone, after the session of the
// thread took a file that has less: what it says stands in the fork of that alone.
func TestPartOfALostThread(t *testing.T) {
	t.Parallel()
	h := newCodexHome(t)
	first := codexLines(0, "", "a", "b")
	h.put(0, first)
	h.put(1, codexLines(5, base(threadID, 5, len(first)), "c"))
	h.run()
	h.put(0, codexLines(0, "", "a", "another"))
	h.run()
	before := tree(t, h.p.Dir())
	said, _ := h.run()
	require.Equal(t, before, tree(t, h.p.Dir()))
	var all []string
	for _, s := range said {
		all = append(all, s)
	}
	require.ElementsMatch(t, []string{"a asked a another asked another", "a asked a b asked b c asked c"}, all)
}

// TestCopyWithAnotherAnswer has a copy of the file of Claude Code that was made ahead of an
// answer, and went on with another prompt: the longer one is the session, and the report
// names the other.
func TestCopyWithAnotherAnswer(t *testing.T) {
	t.Parallel()
	home, p := t.TempDir(), openProjects(t)
	line := func(n, parent int, kind, said string) string {
		return fmt.Sprintf(`{"type":%q,"uuid":"%d","parentUuid":"%d","timestamp":"2026-03-04T10:0%d:00.000Z","cwd":"/w","message":{"role":%q,"content":%q}}`+"\n", kind, n, parent, n, kind, said)
	}
	prompt := line(1, 0, "user", "a")
	whole := prompt + line(2, 1, "assistant", "answer of one")
	copied := prompt + line(3, 1, "user", "b") + line(4, 3, "assistant", "answer of two")
	for folder, content := range map[string]string{"-one": whole, "-two": copied} {
		name := filepath.Join(home, "projects", folder, "11111111-1111-4111-8111-111111111111.jsonl")
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o700))
		require.NoError(t, os.WriteFile(name, []byte(content), 0o600))
	}
	all, err := Find(t.Context(), Claude, &FindOptions{Home: home})
	require.NoError(t, err)
	require.Len(t, all, 1)
	report, err := Import(t.Context(), p, all[0], nil)
	require.NoError(t, err)
	st, err := p.Store(report.Project)
	require.NoError(t, err)
	said := map[Kind]string{}
	for _, s := range report.Sessions {
		said[s.Kind] = strings.Join(texts(t, st, s.ID), ", ")
	}
	require.Equal(t, map[Kind]string{Conversation: "a\n\nb, answer of two"}, said)
	require.Equal(t, []string{filepath.Join(home, "projects", "-one", "11111111-1111-4111-8111-111111111111.jsonl")}, report.Shorter)
}

// TestBrokenBase has files that do not go on from where they say: each is a conversation
// of its own, and the report says why. No other one is kept out.
func TestBrokenBase(t *testing.T) {
	t.Parallel()
	first := codexLines(0, "", "a", "b")
	for name, c := range map[string]struct {
		base string
		why  string
	}{
		"missing":         {base(segmentID(7), 5, len(first)), "it goes on from a file that is not there"},
		"itself":          {base(segmentID(1), 5, 10), "the files that it goes on from lead back to it"},
		"behind the end":  {base(threadID, 5, len(first)+1), "it goes on from a place behind the end of the file before"},
		"far behind it":   {strings.Replace(base(threadID, 5, 7), ":7}", ":1152921504606846976}", 1), "it goes on from a place behind the end of the file before"},
		"ahead of it":     {base(threadID, 5, -1), "it goes on from a place behind the end of the file before"},
		"inside a line":   {base(threadID, 5, len(first)-1), "it goes on from a place inside a line of the file before"},
		"another ordinal": {base(threadID, 4, len(first)), "the place and the ordinal that it goes on from disagree"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newCodexHome(t)
			h.put(0, first)
			h.put(1, codexLines(5, c.base, "c"))
			said, why := h.run()
			require.Equal(t, "a asked a b asked b", said[idOf(Codex, threadID)])
			require.Contains(t, said[idOf(Codex, segmentID(1))], "c asked c")
			require.Len(t, said, 2)
			require.Equal(t, []string{"line 1: " + c.why}, why)
		})
	}
	h := newCodexHome(t)
	h.put(1, codexLines(5, base(segmentID(2), 5, 0), "c"))
	two := codexLines(5, base(segmentID(1), 5, len(codexLines(5, base(segmentID(2), 5, 100), "c"))), "d")
	h.put(1, codexLines(5, base(segmentID(2), 8, len(two)), "c"))
	h.put(2, codexLines(5, base(segmentID(1), 8, len(two)), "d"))
	said, why := h.run()
	require.Len(t, said, 2)
	require.Equal(t, []string{"line 1: the files that it goes on from lead back to it", "line 1: the files that it goes on from lead back to it"}, why)
}

// TestBeginningIsGone removes the first file of a thread: the session has it, and its
// segment makes no second one.
func TestBeginningIsGone(t *testing.T) {
	t.Parallel()
	h, id := newCodexHome(t), idOf(Codex, threadID)
	first := codexLines(0, "", "a")
	h.put(0, first)
	h.put(1, codexLines(3, base(threadID, 3, len(first)), "b"))
	h.run()
	before := tree(t, h.p.Dir())
	require.NoError(t, os.Remove(filepath.Join(h.dir, "sessions", "rollout-2026-09-09T10-00-00-"+threadID+".jsonl")))
	said, why := h.run()
	require.Equal(t, map[string]string{id: "a asked a b asked b"}, said)
	require.Equal(t, []string{"line 1: it goes on from a file that is not there"}, why)
	require.Equal(t, before, tree(t, h.p.Dir()))
}

// TestTwoFolders has one session of Claude Code in two folders.
func TestTwoFolders(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		one, two []string
		want     map[Kind][]string
		project  string
	}{
		"the second goes on":  {[]string{"a"}, []string{"a", "b"}, map[Kind][]string{Conversation: bothOf("a", "b")}, "-two"},
		"the first goes on":   {[]string{"a", "b"}, []string{"a"}, map[Kind][]string{Conversation: bothOf("a", "b")}, "-one"},
		"both have as much":   {[]string{"a"}, []string{"a"}, map[Kind][]string{Conversation: bothOf("a")}, "-one"},
		"both go on":          {[]string{"a", "x"}, []string{"a", "b", "c"}, map[Kind][]string{Conversation: bothOf("a", "b", "c")}, "-two"},
		"nothing is the same": {[]string{"x"}, []string{"a", "b"}, map[Kind][]string{Conversation: bothOf("a", "b")}, "-two"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home, p := t.TempDir(), openProjects(t)
			for folder, said := range map[string][]string{"-one": c.one, "-two": c.two} {
				dir := filepath.Join(home, "projects", folder)
				require.NoError(t, os.MkdirAll(dir, 0o700))
				text := strings.ReplaceAll(turns(said...), `"cwd":"/w"`, `"cwd":"/`+folder[1:]+`"`)
				for i := range said {
					stamp := fmt.Sprintf("2026-03-04T10:0%d:00.000Z", i)
					lines := strings.SplitAfter(text, "\n")
					for n := 2 * i; n < 2*i+2; n++ {
						lines[n] = strings.Replace(lines[n], "2026-03-04T10:00:00.000Z", stamp, 1)
					}
					text = strings.Join(lines, "")
				}
				require.NoError(t, os.WriteFile(filepath.Join(dir, "g.jsonl"), []byte(text), 0o600))
			}
			all, err := Find(t.Context(), Claude, &FindOptions{Home: home})
			require.NoError(t, err)
			require.Len(t, all, 1)
			report, err := Import(t.Context(), p, all[0], nil)
			require.NoError(t, err)
			require.Equal(t, c.project, report.Project)
			st, err := p.Store(report.Project)
			require.NoError(t, err)
			got := map[Kind][]string{}
			for _, s := range report.Sessions {
				got[s.Kind] = texts(t, st, s.ID)
			}
			require.Equal(t, c.want, got)
			other := map[string]string{"-one": "-two", "-two": "-one"}[c.project]
			require.Equal(t, []string{filepath.Join(home, "projects", other, "g.jsonl")}, report.Shorter)
			before := tree(t, p.Dir())
			_, err = Import(t.Context(), p, all[0], nil)
			require.NoError(t, err)
			require.Equal(t, before, tree(t, p.Dir()))

			// One of them goes: the session stays where it is, and has all of that one.
			require.NoError(t, os.RemoveAll(filepath.Join(home, "projects", c.project)))
			all, err = Find(t.Context(), Claude, &FindOptions{Home: home})
			require.NoError(t, err)
			report, err = Import(t.Context(), p, all[0], nil)
			require.NoError(t, err)
			require.Equal(t, c.project, report.Project)
			require.Empty(t, report.Shorter)
			after := tree(t, p.Dir())
			if strings.HasSuffix(name, "goes on") || name == "both have as much" {
				require.Equal(t, before, after)
			}
			var kept strings.Builder
			for file, text := range after {
				if filepath.Base(file) == "transcript.jsonl" {
					kept.WriteString(text)
				}
			}
			for _, s := range slices.Concat(c.one, c.two) {
				require.Contains(t, kept.String(), s+" user")
			}
		})
	}
}

// TestCopyThatCannotBeRead has a copy of a file beside it that is damaged: the other one is
// imported, and the error tells of it.
func TestCopyThatCannotBeRead(t *testing.T) {
	t.Parallel()
	h := newCodexHome(t)
	content := codexLines(0, "", "a")
	z, err := zstd.NewWriter(nil)
	require.NoError(t, err)
	damaged := append(z.EncodeAll([]byte(content+strings.Repeat(" \n", 1<<20)), nil), "no frame at all"...)
	name := "rollout-2026-09-09T10-00-00-" + threadID + ".jsonl"
	for path, content := range map[string][]byte{"sessions/" + name + ".zst": damaged, "archived_sessions/" + name: []byte(content)} {
		path = filepath.Join(h.dir, filepath.FromSlash(path))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, content, 0o600))
	}
	all, err := Find(t.Context(), Codex, &FindOptions{Home: h.dir})
	require.Error(t, err)
	require.Len(t, all, 1)
	report, err := Import(t.Context(), h.p, all[0], nil)
	require.NoError(t, err)
	require.Equal(t, []Imported{{idOf(Codex, threadID), Conversation, Created, 2}}, report.Sessions)
}
