package foreign

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/amplifier-go/sessionstorage/sessionstore/projects"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"
)

func codexCorpus(t testing.TB) []History {
	t.Helper()
	all, err := Find(t.Context(), Codex, &FindOptions{Home: "testdata/codex"})
	require.NoError(t, err)
	return all
}

// packedBytes returns data compressed.
func packedBytes(t testing.TB, data []byte) []byte {
	t.Helper()
	z, err := zstd.NewWriter(nil)
	require.NoError(t, err)
	return z.EncodeAll(data, nil)
}

// TestFindCodex finds what the corpus has.
func TestFindCodex(t *testing.T) {
	t.Parallel()
	all := codexCorpus(t)
	require.Len(t, all, 9)
	require.Equal(t, "The shop", all[slices.IndexFunc(all, func(h History) bool { return strings.HasPrefix(h.ID, "019cb8a0-0001") })].Title)
	agents := 0
	for _, h := range all {
		require.Equal(t, "/home/ana/shop", h.Dir)
		agents += len(h.Agents)
	}
	require.Equal(t, 2, agents)
	none, err := Find(t.Context(), Codex, &FindOptions{Home: "testdata/codex", Since: time.Now().Add(time.Hour)})
	require.NoError(t, err)
	require.Empty(t, none)
	none, err = Find(t.Context(), Codex, &FindOptions{Home: t.TempDir()})
	require.NoError(t, err)
	require.Empty(t, none)
}

// TestFindSpawnedInCircle finds files that say that they began each other.
func TestFindSpawnedInCircle(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "sessions")
	require.NoError(t, os.Mkdir(dir, 0o700))
	for _, id := range [][2]string{{"a", "b"}, {"b", "a"}, {"c", "c"}, {"d", "a"}} {
		line := fmt.Sprintf(`{"type":"session_meta","payload":{"id":%q,"source":{"subagent":{"thread_spawn":{"parent_thread_id":%q}}}}}`, id[0], id[1])
		require.NoError(t, os.WriteFile(filepath.Join(dir, "rollout-"+id[0]+".jsonl"), []byte(line), 0o600))
	}
	all, err := Find(t.Context(), Codex, &FindOptions{Home: filepath.Dir(dir)})
	require.NoError(t, err)
	found := 0
	for _, h := range all {
		found += 1 + len(h.Agents)
	}
	require.Equal(t, 4, found)
}

// TestPacked imports compressed files: the sessions are those of the plain ones, and
// stay as they are when the tool compresses a file that was imported before.
func TestPacked(t *testing.T) {
	t.Parallel()
	p, home := openProjects(t), t.TempDir()
	dir := filepath.Join(home, "sessions", "2026")
	require.NoError(t, os.MkdirAll(dir, 0o700))
	for _, h := range codexCorpus(t) {
		plain, err := Import(t.Context(), p, h, nil)
		if err != nil {
			require.ErrorIs(t, err, ErrEmpty)
			continue
		}
		if len(h.Agents) > 0 {
			continue
		}
		path := filepath.Join(dir, filepath.Base(h.Path)+".zst")
		require.NoError(t, os.WriteFile(path, packedBytes(t, []byte(original(t, h.Path))), 0o600))
		all, err := Find(t.Context(), Codex, &FindOptions{Home: home})
		require.NoError(t, err)
		require.Len(t, all, 1)
		require.Equal(t, h.ID, all[0].ID)
		require.Equal(t, h.Project(), all[0].Project())
		again, err := Import(t.Context(), p, all[0], nil)
		require.NoError(t, err)
		require.Len(t, again.Sessions, len(plain.Sessions))
		for i, s := range again.Sessions {
			require.Equal(t, Imported{plain.Sessions[i].ID, s.Kind, Unchanged, 0}, s)
		}
		other := openProjects(t)
		_, err = Import(t.Context(), other, all[0], nil)
		require.NoError(t, err)
		st, err := other.Store(h.Project())
		require.NoError(t, err)
		require.Equal(t, original(t, h.Path), unpacked(t, st, plain.Sessions[0].ID))
		require.NoError(t, os.Remove(path))
	}
}

// TestGrowing imports each history at all of its lengths. The session is always what
// one import of the file makes.
func TestGrowing(t *testing.T) {
	t.Parallel()
	for _, h := range codexCorpus(t) {
		t.Run(h.ID, func(t *testing.T) {
			t.Parallel()
			lines := strings.SplitAfter(original(t, h.Path), "\n")
			step := 1 + len(lines)/12
			p, o := openProjects(t), &Options{Project: "-w"}
			h.Path, h.Agents = filepath.Join(t.TempDir(), "h.jsonl"), nil
			for n := step; ; n += step {
				n = min(n, len(lines))
				require.NoError(t, os.WriteFile(h.Path, []byte(strings.Join(lines[:n], "")), 0o600))
				report, err := Import(t.Context(), p, h, o)
				if err != nil {
					require.ErrorIs(t, err, ErrEmpty)
				} else {
					sameAsFresh(t, p, h, report)
				}
				if n == len(lines) {
					return
				}
			}
		})
	}
}

// sameAsFresh compares the conversation of a history with what its first import
// into another store makes.
func sameAsFresh(t *testing.T, p *projects.Projects, h History, report *Report) {
	t.Helper()
	fresh := openProjects(t)
	_, err := Import(t.Context(), fresh, h, &Options{Project: "-w"})
	require.NoError(t, err)
	id := report.Sessions[0].ID
	var shown []string
	for _, p := range []*projects.Projects{p, fresh} {
		st, err := p.Store("-w")
		require.NoError(t, err)
		var rows []byte
		for _, m := range healthy(t, st, id) {
			rows = append(m.AppendTo(rows), '\n')
		}
		shown = append(shown, string(rows), unpacked(t, st, id), original(t, filepath.Join(st.Dir(), id, importFolder, mapFile)))
	}
	require.Equal(t, shown[3:], shown[:3])
}

// TestFound finds imported sessions by what was said in them.
func TestFound(t *testing.T) {
	t.Parallel()
	p := openProjects(t)
	ids := map[string]string{}
	for _, h := range corpus(t) {
		if report, err := Import(t.Context(), p, h, nil); err == nil {
			ids[h.ID] = report.Sessions[0].ID
		}
	}
	for said, id := range map[string]string{
		"in capitals": "019cb8a0-0005-7000-8000-000000000005",
		"there is a.": "5973b6c0-94b8-487b-a530-2aeb6098ae0e",
		"make it red": "79af214d-18d1-5a5f-987b-d4936a765bdc",
	} {
		found, err := p.Find(t.Context(), projects.Query{Keyword: said})
		require.NoError(t, err)
		require.Len(t, found, 1)
		require.Equal(t, ids[id], found[0].ID)
	}
}

// TestCodexEvents has events that tell of prompts: nothing else is one, however it
// looks, also for a rollback. Without events, tags tell what nobody typed.
func TestCodexEvents(t *testing.T) {
	t.Parallel()
	item := func(role, said string) string {
		kind := map[string]string{"user": "input_text", "assistant": "output_text"}[role]
		return fmt.Sprintf(`{"timestamp":"2026-03-04T10:00:01.000Z","type":"response_item","payload":{"type":"message","role":%q,"content":[{"type":%q,"text":%q}]}}`+"\n", role, kind, said)
	}
	event := func(said string) string {
		return fmt.Sprintf(`{"timestamp":"2026-03-04T10:00:01.000Z","type":"event_msg","payload":{"type":"user_message","message":%q}}`+"\n", said)
	}
	const (
		begin  = `{"timestamp":"2026-03-04T10:00:00.000Z","type":"session_meta","payload":{"id":"a","cwd":"/w"}}` + "\n"
		back   = `{"timestamp":"2026-03-04T10:00:02.000Z","type":"event_msg","payload":{"type":"thread_rolled_back","num_turns":1}}` + "\n"
		tagged = "<skill>typed</skill>"
		notes  = "Notes that the tool wrote."
	)
	without := begin + item("user", notes) + item("assistant", "1") + item("user", tagged) + item("assistant", "2")
	for _, c := range []struct {
		name, history string
		prompts       []string
	}{
		{"no events", without, []string{notes}},
		{"behind the item", begin + item("user", notes) + item("user", tagged) + event(tagged) + item("assistant", "1"), []string{tagged}},
		{"before the item", begin + event(tagged) + item("user", notes) + item("user", tagged) + item("assistant", "1"), []string{tagged}},
		{"of another text", begin + item("user", notes) + item("user", "Do it [Image #1]") + event("Do it") + item("assistant", "1"), []string{"Do it [Image #1]"}},
		{"twice", begin + item("user", "Go") + event("Go") + item("assistant", "1") + item("user", "Go") + event("Go") + item("assistant", "2"), []string{"Go", "Go"}},
		{
			"rolled back",
			begin + item("user", "First") + event("First") + item("assistant", "1") + item("user", "Second") + event("Second") +
				item("assistant", "2") + item("user", notes) + item("assistant", "3") + back + item("user", "Third") + event("Third") + item("assistant", "4"),
			[]string{"First", "Third"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p, path := openProjects(t), filepath.Join(t.TempDir(), "rollout-a.jsonl")
			require.NoError(t, os.WriteFile(path, []byte(c.history), 0o600))
			ctx, counted := counting(t)
			report, err := Import(ctx, p, History{Tool: Codex, ID: "a", Path: path, Dir: "/w"}, nil)
			require.NoError(t, err)
			require.Equal(t, len(c.prompts), (*counted)[0].Prompts.Whole)
			st, err := p.Store("-w")
			require.NoError(t, err)
			var prompts []string
			for _, m := range healthy(t, st, report.Sessions[0].ID) {
				if m.Role() == "user" && !strings.Contains(m.Content(), "<system-reminder>") {
					prompts = append(prompts, m.Content())
				}
			}
			require.Equal(t, c.prompts, prompts)
		})
	}
}

// TestSummaryOfCodex imports a compaction as Codex writes it: the model's answer to the
// request for a summary is not part of the conversation, and no import takes it for
// something that went missing.
func TestSummaryOfCodex(t *testing.T) {
	t.Parallel()
	all, err := Find(t.Context(), Codex, &FindOptions{Home: filepath.Join("testdata", "live", "codex")})
	require.NoError(t, err)
	h := all[slices.IndexFunc(all, func(h History) bool { return strings.HasPrefix(h.ID, "01a2137d-d849") })]
	want := []string{"eta one", "Made-up answer number 15.", "eta two", "Made-up answer number 16.", "eta three", "Made-up answer number 18."}
	whole := original(t, h.Path)
	before := whole[:strings.Index(whole, `"type":"compacted"`)]
	before = before[:strings.LastIndex(before, "\n")+1]

	for _, first := range []string{whole, before} { // before: the tool has the summary, and not yet used it
		p := openProjects(t)
		h.Path = filepath.Join(t.TempDir(), filepath.Base(h.Path))
		for i, data := range []string{first, whole, whole} {
			require.NoError(t, os.WriteFile(h.Path, []byte(data), 0o600))
			report, err := Import(t.Context(), p, h, nil)
			require.NoError(t, err)
			require.Len(t, report.Sessions, 1)
			if i == 0 {
				continue
			}
			st, err := p.Store(report.Project)
			require.NoError(t, err)
			var said []string
			for _, m := range healthy(t, st, report.Sessions[0].ID) {
				if !strings.HasPrefix(m.Content(), "<system-reminder>") {
					said = append(said, m.Content())
				}
			}
			require.Equal(t, want, said)
		}
	}
}
