package foreign

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/projects"
)

const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC"

// lookedAt returns a history of n turns. Each has a prompt that a person interrupts, another one,
// a call, and its result of parts; no parts are a text, a picture, and another text.
func lookedAt(tool Tool, n int, parts ...string) string {
	var b strings.Builder
	text := func(s string) string { return fmt.Sprintf(`[{"type":"text","text":%q}]`, s) }
	parent := "null"
	claude := func(uuid, kind, content string) {
		fmt.Fprintf(&b, `{"type":%q,"uuid":%q,"parentUuid":%s,"cwd":"/w","sessionId":%q,"timestamp":"2026-03-04T10:00:00.000Z","message":{"id":"m%s","role":%q,"content":%s}}`+"\n", kind, uuid, parent, lookedID, uuid, kind, content)
		parent = fmt.Sprintf("%q", uuid)
	}
	codex := func(kind, payload string) {
		fmt.Fprintf(&b, `{"timestamp":"2026-03-04T10:00:00.000Z","type":%q,"payload":%s}`+"\n", kind, payload)
	}
	said := func(role, kind, s string) {
		codex("response_item", fmt.Sprintf(`{"type":"message","role":%q,"content":[{"type":%q,"text":%q}]}`, role, kind, s))
	}
	if tool == Codex {
		codex("session_meta", fmt.Sprintf(`{"id":%q,"cwd":"/w","timestamp":"2026-03-04T10:00:00.000Z"}`, lookedID))
	}
	for i := range n {
		if tool == Claude {
			if parts == nil {
				parts = []string{`{"type":"text","text":"above"}`, `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + pixel + `"}}`, `{"type":"text","text":"below"}`}
			}
			claude(fmt.Sprint("a", i), "user", text(fmt.Sprint("look ", i)))
			claude(fmt.Sprint("b", i), "user", text("[Request interrupted by user]"))
			claude(fmt.Sprint("c", i), "user", text(fmt.Sprint("look again ", i)))
			claude(fmt.Sprint("d", i), "assistant", fmt.Sprintf(`[{"type":"tool_use","id":"call%d","name":"Read","input":{}}]`, i))
			claude(fmt.Sprint("e", i), "user", fmt.Sprintf(`[{"type":"tool_result","tool_use_id":"call%d","content":[%s]}]`, i, strings.Join(parts, ",")))
			claude(fmt.Sprint("f", i), "assistant", text(fmt.Sprint("seen ", i)))
			continue
		}
		if parts == nil {
			parts = []string{`{"type":"input_text","text":"above"}`, `{"type":"input_image","image_url":"data:image/png;base64,` + pixel + `"}`, `{"type":"input_text","text":"below"}`}
		}
		said("user", "input_text", fmt.Sprint("look ", i))
		said("user", "input_text", "<turn_aborted>\nThe user interrupted.\n</turn_aborted>")
		said("user", "input_text", fmt.Sprint("look again ", i))
		codex("response_item", fmt.Sprintf(`{"type":"function_call","name":"view_image","arguments":"{}","call_id":"call%d"}`, i))
		codex("response_item", fmt.Sprintf(`{"type":"function_call_output","call_id":"call%d","output":[%s]}`, i, strings.Join(parts, ",")))
		said("assistant", "output_text", fmt.Sprint("seen ", i))
	}
	return b.String()
}

const lookedID = "019f0000-0000-7000-8000-00000000000a"

// looked imports such a history.
func looked(t *testing.T, p *projects.Projects, tool Tool, text string) (st *sessionstore.Store, done Imported) {
	t.Helper()
	path := filepath.Join(t.TempDir(), lookedID+".jsonl")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	report, err := Import(t.Context(), p, History{Tool: tool, ID: lookedID, Path: path, Dir: "/w"}, &Options{Project: "-w"})
	require.NoError(t, err)
	require.Len(t, report.Sessions, 1)
	st, err = p.Store("-w")
	require.NoError(t, err)
	return st, report.Sessions[0]
}

// lookedHere are the rows of a session of this store: pictures in the result of a tool, and in a
// result that is a block of a message of the user.
var lookedHere = []string{
	`{"role":"user","content":"Look at it.","metadata":{"timestamp":"2026-03-04T10:00:00.000+00:00"}}`,
	`{"role":"assistant","content":"","tool_calls":[{"id":"c1","tool":"look","arguments":{}}]}`,
	`{"role":"tool","name":"look","tool_call_id":"c1","content":[{"type":"text","text":"above"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + pixel + `"}},{"type":"text","text":"below"}]}`,
	`{"role":"assistant","content":"Seen."}`,
	`{"role":"user","content":"And that."}`,
	`{"role":"assistant","content":[{"type":"tool_use","id":"c2","name":"look","input":{}}]}`,
	`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c2","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + pixel + `"}},{"type":"text","text":"behind"}]}]}`,
	`{"role":"assistant","content":"Seen, too."}`,
}

// shownAs returns the content of the messages of a session, with a word for each picture.
func shownAs(t *testing.T, st *sessionstore.Store, id string) (all []string) {
	t.Helper()
	for _, m := range healthy(t, st, id) {
		said := m.Content()
		if b := blocks(m); b != "" {
			require.Equal(t, strings.Count(b, "image"), strings.Count(string(m.AppendTo(nil)), pixel))
			said = b
		}
		all = append(all, said)
	}
	return all
}

const interrupted = "look %[1]d\n\n<system-reminder>\n%[2]s\n</system-reminder>\n\nlook again %[1]d"

var interruption = map[Tool]string{Claude: "[Request interrupted by user]", Codex: "<turn_aborted>\nThe user interrupted.\n</turn_aborted>"}

// TestPicturesInResults imports pictures in results: they stand between the texts of the result,
// and what a person interrupted stands before the next prompt, with a word of it between.
func TestPicturesInResults(t *testing.T) {
	t.Parallel()
	for _, tool := range []Tool{Claude, Codex} {
		st, done := looked(t, openProjects(t), tool, lookedAt(tool, 1))
		require.Equal(t, []string{fmt.Sprintf(interrupted, 0, interruption[tool]), "", "above|image|below", "seen 0"}, shownAs(t, st, done.ID), tool)
	}
	image := `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + pixel + `"}}`
	shot := `{"type":"input_image","image_url":"data:image/png;base64,` + pixel + `"}`
	for _, c := range []struct {
		tool  Tool
		parts string
		want  string
	}{
		{Claude, image, "image"},
		{Claude, image + "," + image, "image|image"},
		{Claude, `{"type":"text","text":" "},` + image, "image"},
		{Claude, `{"type":"text","text":"a"},{"type":"text","text":"b"},` + image, "a\nb|image"},
		{Claude, `{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"aGk="}},` + image, "[Not text: kept in the imported original.]|image"},
		{Claude, `{"type":"text","text":"a"},{"type":"text","text":""},{"type":"text","text":"b"}`, "a\n\nb"},
		{Claude, strings.Replace(image, `"source"`, `"endless":1e999999,"source"`, 1), ""},
		{Codex, shot, "image"},
		{Codex, `{"type":"input_audio"},` + shot, "[Not text: kept in the imported original.]|image"},
		{Codex, `{"type":"input_image","image_url":"file:///a.png"}`, "[Not text: kept in the imported original.]"},
		{Codex, `{"type":"input_image","image_url":"data:image/png;base64,"}`, "[Not text: kept in the imported original.]"},
	} {
		st, done := looked(t, openProjects(t), c.tool, lookedAt(c.tool, 1, c.parts))
		if got := shownAs(t, st, done.ID)[2]; c.want != "" {
			require.Equal(t, c.want, got, c.parts)
		}
	}
}

// TestGeneratedPicture imports a picture that the model of Codex made: it is the result of the call.
func TestGeneratedPicture(t *testing.T) {
	t.Parallel()
	made := fmt.Sprintf(`{"timestamp":"2026-03-04T10:00:00.000Z","type":"response_item","payload":{"type":"image_generation_call","id":"ig_1","revised_prompt":"a shop","result":%q}}`+"\n", pixel)
	st, done := looked(t, openProjects(t), Codex, lookedAt(Codex, 1)+made)
	require.Equal(t, []string{"image", "[The imported history has no answer here.]"}, shownAs(t, st, done.ID)[4:])
}

// TestPicturesOut exports sessions with pictures in results to each tool, and imports the exports
// as those of others: each picture is there once, in its place if the tool has places.
func TestPicturesOut(t *testing.T) {
	t.Parallel()
	for _, tool := range Tools() {
		a := newAway(t, openProjects(t), nativeID, tool, lookedHere...)
		a.export()
		require.Equal(t, 2, strings.Count(original(t, a.path), pixel), tool)
		require.Equal(t, []Imported{{a.id, Conversation, Unchanged, len(lookedHere)}}, a.back())
		a.goOn("Theirs")
		require.Equal(t, []Imported{{a.id, Conversation, Updated, len(lookedHere) + 2}}, a.back())

		b := newAway(t, openProjects(t), "other", tool)
		b.home = a.home
		made := b.back()
		require.Len(t, made, 1)
		said := shownAs(t, b.st, made[0].ID)
		want := []string{"above|image|below", "image|behind"}
		if tool == OpenCode { // a result there is a text, and files
			want = []string{"above\nbelow|image", "behind|image"}
		}
		require.Equal(t, want, []string{said[2], said[6]}, tool)
	}
}

// TestPicturesAround lets a session of Claude Code go on here, in Codex, and in Claude Code again:
// each picture is there once, in its place, and the tool's own lines stay.
func TestPicturesAround(t *testing.T) {
	t.Parallel()
	p := openProjects(t)
	st, done := looked(t, p, Claude, lookedAt(Claude, 1))
	for _, row := range lookedHere[:4] {
		m, err := sessionstore.ParseMessage([]byte(row))
		require.NoError(t, err)
		require.NoError(t, st.Append(t.Context(), done.ID, m))
	}
	want := shownAs(t, st, done.ID)
	for i, tool := range []Tool{Codex, Claude, Codex} {
		a := newAway(t, p, done.ID, tool)
		a.n = 10 * i
		a.export()
		require.Equal(t, 2, strings.Count(original(t, a.path), pixel), tool)
		if tool == Claude {
			require.True(t, strings.HasPrefix(original(t, a.path), lookedAt(Claude, 1)))
		}
		text := fmt.Sprint("In ", tool, i)
		a.goOn(text)
		want = append(want, both(text)...)
		require.Equal(t, Imported{done.ID, Conversation, Updated, len(want)}, a.back()[0])
		require.Equal(t, want, shownAs(t, st, done.ID))
	}
	infos, err := st.List(t.Context(), &sessionstore.ListOptions{All: true})
	require.NoError(t, err)
	require.Len(t, infos, 1)
}

// TestPicturesOfEarlierImports imports histories of which an earlier version made sessions, with
// pictures in results as texts: nothing changes, what the tool adds follows by the rules of now,
// and exports have the tool's own lines.
func TestPicturesOfEarlierImports(t *testing.T) {
	t.Parallel()
	for _, tool := range []Tool{Claude, Codex} {
		p, id := openProjects(t), idOf(tool, lookedID)
		dir := filepath.Join(p.Dir(), "-w", "sessions", id)
		require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "earlier", "pictures", string(tool)))))
		before, rows := tree(t, p.Dir()), original(t, filepath.Join(dir, "transcript.jsonl"))
		require.NotContains(t, rows, pixel)
		st, done := looked(t, p, tool, lookedAt(tool, 2))
		require.Equal(t, Unchanged, done.Action)
		require.Equal(t, before, tree(t, p.Dir()))
		require.Equal(t, lookedAt(tool, 2), exported(t, st, id, tool))

		for n := 3; n < 5; n++ {
			_, done = looked(t, p, tool, lookedAt(tool, n))
			require.Equal(t, Updated, done.Action)
			now := original(t, filepath.Join(dir, "transcript.jsonl"))
			require.True(t, strings.HasPrefix(now, rows))
			require.Equal(t, n-2, strings.Count(now, pixel))
			said := shownAs(t, st, id)
			require.Equal(t, []string{fmt.Sprintf(interrupted, n-1, interruption[tool]), "", "above|image|below", fmt.Sprint("seen ", n-1)}, said[len(said)-4:])
			require.Equal(t, lookedAt(tool, n), exported(t, st, id, tool))
			_, done = looked(t, p, tool, lookedAt(tool, n)+"\n")
			require.Equal(t, Unchanged, done.Action)
			_, done = looked(t, p, tool, lookedAt(tool, n))
			require.Equal(t, Unchanged, done.Action)
			require.Equal(t, original(t, filepath.Join(dir, "transcript.jsonl")), now)
		}

		// It goes on here, and in the tool, too: the fork has as many turns of it as before.
		for _, m := range lookedHere[:1] {
			row, err := sessionstore.ParseMessage([]byte(m))
			require.NoError(t, err)
			require.NoError(t, st.Append(t.Context(), id, row))
		}
		_, done = looked(t, p, tool, lookedAt(tool, 5))
		require.Equal(t, Diverged, done.Kind)
		md, err := st.Metadata(t.Context(), done.ID)
		require.NoError(t, err)
		raw, _ := md.Lookup("forked_from_turn")
		require.Equal(t, "4", string(raw))
	}
}

// TestPicturesOfEarlierKills imports over an import of an earlier version that was killed between the
// transcript and its metadata: no message is written anew.
func TestPicturesOfEarlierKills(t *testing.T) {
	t.Parallel()
	p, id := openProjects(t), idOf(Claude, lookedID)
	dir := filepath.Join(p.Dir(), "-w", "sessions", id)
	require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "earlier", "pictures", "claude"))))
	st, err := p.Store("-w")
	require.NoError(t, err)
	md, err := st.Metadata(t.Context(), id)
	require.NoError(t, err)
	s := stateIn(md, importFolder)
	s.Pending, s.Transcript = s.Transcript, "5 1 00"
	require.Equal(t, 10, s.early())
	require.NoError(t, md.Set(importFolder, s))
	all, err := st.Load(t.Context(), id)
	require.NoError(t, err)
	require.NoError(t, st.Save(t.Context(), id, all.Messages, md))
	rows := original(t, filepath.Join(dir, "transcript.jsonl"))
	_, done := looked(t, p, Claude, lookedAt(Claude, 3))
	require.Equal(t, Updated, done.Action)
	require.True(t, strings.HasPrefix(original(t, filepath.Join(dir, "transcript.jsonl")), rows))
}

// TestPicturesOfEarlierExports brings home what a tool added to exports of an earlier version, which
// left out the pictures in results; and the next export goes on with the same file.
func TestPicturesOfEarlierExports(t *testing.T) {
	t.Parallel()
	for _, tool := range []Tool{Claude, Codex, Pi} { // the tools that there were
		a := newAway(t, openProjects(t), nativeID, tool, lookedHere...)
		here := a.rows(a.id)
		a.export()
		text := original(t, filepath.Join("testdata", "earlier", "pictures", "export-to-"+string(tool)+".jsonl"))
		require.NoError(t, os.WriteFile(a.path, []byte(text), 0o600))
		require.Equal(t, []Imported{{a.id, Conversation, Unchanged, len(lookedHere)}}, a.back())
		a.goOn("Theirs")
		text = original(t, a.path)
		require.Equal(t, []Imported{{a.id, Conversation, Updated, len(lookedHere) + 2}}, a.back())
		require.True(t, strings.HasPrefix(a.rows(a.id), here))
		a.say("Ours")
		a.export()
		require.True(t, strings.HasPrefix(original(t, a.path), text))
		require.Equal(t, []string{a.id}, a.all())
	}
}
