package foreign

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/thread"
)

// TestCodexNamesFollow renames a thread in Codex, whose file does not change: the session follows
// with the next import, until it is renamed here. Nothing else changes.
func TestCodexNamesFollow(t *testing.T) {
	t.Parallel()
	p, home, id := openProjects(t), t.TempDir(), idOf(Codex, lookedID)
	dir := filepath.Join(home, "sessions", "2026", "03", "04")
	require.NoError(t, os.MkdirAll(dir, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "rollout-2026-03-04T10-00-00-"+lookedID+".jsonl"), []byte(lookedAt(Codex, 1)), 0o600))
	st, err := p.Store("-w")
	require.NoError(t, err)
	index := ""
	run := func(o *Options) (named string, done Imported) {
		all, err := Find(t.Context(), Codex, &FindOptions{Home: home})
		require.NoError(t, err)
		report, err := Import(t.Context(), p, all[0], o)
		require.NoError(t, err)
		require.Len(t, report.Sessions, 1)
		md, err := st.Metadata(t.Context(), id)
		require.NoError(t, err)
		return md.Text("name") + " " + md.Text("name_source"), report.Sessions[0]
	}
	rename := func(to string, o *Options) (named string, done Imported) {
		index += fmt.Sprintf(`{"id":%q,"thread_name":%q,"updated_at":"2026-03-05T10:00:00Z"}`+"\n", lookedID, to)
		require.NoError(t, os.WriteFile(filepath.Join(home, "session_index.jsonl"), []byte(index), 0o600))
		return run(o)
	}
	named, done := run(nil)
	require.Equal(t, " ", named)
	require.Equal(t, Created, done.Action)
	rows := original(t, filepath.Join(st.Dir(), id, "transcript.jsonl"))
	before, err := st.Summary(t.Context(), id)
	require.NoError(t, err)
	for _, name := range []string{"First", "Second"} {
		was, _ := run(nil)
		named, done = rename(name, &Options{DryRun: true})
		require.Equal(t, was, named)
		require.Equal(t, Unchanged, done.Action)
		named, done = run(nil)
		require.Equal(t, name+" manual", named)
		require.Equal(t, Unchanged, done.Action)
		all := tree(t, p.Dir())
		run(nil)
		require.Equal(t, all, tree(t, p.Dir()))
	}
	named, _ = rename("Unknown skill: x", nil) // which is no name
	require.Equal(t, "Second manual", named)
	require.Equal(t, rows, original(t, filepath.Join(st.Dir(), id, "transcript.jsonl")))
	after, err := st.Summary(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, before.Changed, after.Changed, "in one zone, too, wherever the index has it from")
	_, _, err = st.SetName(t.Context(), id, sessionstore.Naming{Name: "Here", Source: "manual"})
	require.NoError(t, err)
	named, _ = rename("Third", nil)
	require.Equal(t, "Here manual", named)
}

// TestNamesGoOut exports named sessions to Claude Code, whose file has the name, as a person's or
// not; a file that goes on gets a name once, and none in the place of one that was given there since.
func TestNamesGoOut(t *testing.T) {
	t.Parallel()
	title := func(kind, member, name string) string {
		return fmt.Sprintf(`{%q: %q, "sessionId": %q, "type": %q}`, member, name, nativeID, kind)
	}
	custom := func(name string) string { return title("custom-title", "customTitle", name) }
	a := newAway(t, openProjects(t), nativeID, Claude, native...)
	call := func(name, source string) {
		_, _, err := a.st.SetName(t.Context(), a.id, sessionstore.Naming{Name: name, Source: source})
		require.NoError(t, err)
	}
	titles := func() (all []string) {
		for row := range strings.Lines(original(t, a.path)) {
			if strings.Contains(row, "Title") {
				all = append(all, strings.TrimSuffix(row, "\n"))
			}
		}
		return all
	}
	a.export()
	require.JSONEq(t, custom("Mine"), titles()[0])
	require.Len(t, titles(), 1)
	require.True(t, strings.HasSuffix(original(t, a.path), titles()[0]+"\n"))
	a.goOn("Theirs")
	require.Equal(t, Updated, a.back()[0].Action)
	a.export()
	require.Len(t, titles(), 1)
	a.add(custom("Theirs") + "\n")
	require.Equal(t, Unchanged, a.back()[0].Action)
	a.export()
	require.Len(t, titles(), 2)
	call("Newer", "manual")
	a.export()
	require.JSONEq(t, custom("Newer"), regexp.MustCompile(`,\s*"timestamp":\s*"[^"]+"`).ReplaceAllString(titles()[2], ""))
	require.Len(t, titles(), 3)

	a = newAway(t, openProjects(t), nativeID, Claude, native[:1]...)
	md, err := a.st.Metadata(t.Context(), a.id)
	require.NoError(t, err)
	require.NoError(t, md.Set("name_source", "generated"))
	require.NoError(t, a.st.Save(t.Context(), a.id, healthy(t, a.st, a.id), md))
	a.export()
	require.JSONEq(t, title("ai-title", "aiTitle", "Mine"), titles()[0])

	g := newGrowing(t) // a session of Claude Code has the name from there
	g.write(many("g", 2))
	id := g.run(nil)[0].ID
	require.Equal(t, many("g", 2), exported(t, g.st, id, Claude))
	_, _, err = g.st.SetName(t.Context(), id, sessionstore.Naming{Name: "Here", Source: "manual"})
	require.NoError(t, err)
	text := exported(t, g.st, id, Claude)
	require.Contains(t, text, `"customTitle":"Here"`)
	g.write(text)
	require.Equal(t, Unchanged, g.run(nil)[0].Action)
	require.Equal(t, text, exported(t, g.st, id, Claude))
}

// TestNamesInPi exports a named session to pi: its last entry has the name, once for each name and for each growth.
// A name that was given there since stays.
func TestNamesInPi(t *testing.T) {
	t.Parallel()
	a := newAway(t, openProjects(t), nativeID, Pi, native...)
	call := func(name string) {
		_, _, err := a.st.SetName(t.Context(), a.id, sessionstore.Naming{Name: name, Source: "manual"})
		require.NoError(t, err)
	}
	names := func() (all []string) {
		for row := range strings.Lines(original(t, a.path)) {
			var e struct{ Type, Name string }
			require.NoError(t, json.Unmarshal([]byte(row), &e))
			if e.Type == "session_info" {
				all = append(all, e.Name)
			}
		}
		return all
	}
	a.export()
	text := original(t, a.path)
	require.Equal(t, []string{"Mine"}, names())
	a.export()
	require.Equal(t, text, original(t, a.path))
	require.Equal(t, Unchanged, a.back()[0].Action)
	a.goOn("In pi")
	require.Equal(t, Updated, a.back()[0].Action)
	a.export()
	require.Len(t, names(), 1)
	call("Newer")
	a.export()
	require.Equal(t, []string{"Mine", "Newer"}, names())
	require.Equal(t, Unchanged, a.back()[0].Action)
	a.add(fmt.Sprintf(`{"type":"session_info","id":"n1","parentId":%q,"timestamp":"2999-11-25T00:00:00.000Z","name":"Theirs"}`, a.leaf()) + "\n")
	require.Equal(t, Unchanged, a.back()[0].Action)
	a.export()
	require.Equal(t, []string{"Mine", "Newer", "Theirs"}, names())
	require.Equal(t, []string{a.id}, a.all())
	require.Equal(t, both("In pi"), a.said(a.id, len(native)))
}

// TestNamesComeBack gives an exported session another name and the former one again: the last name of each export
// is in no line of an earlier one, so that it is added to the file, also where the tool went on before. A name that was
// taken back there stays away.
func TestNamesComeBack(t *testing.T) {
	t.Parallel()
	for _, wentOn := range []bool{false, true} {
		a, seen := newAway(t, openProjects(t), nativeID, Pi, native...), map[string]bool{}
		a.export()
		goOn := func() {
			if wentOn {
				a.goOn("In pi")
				require.Equal(t, Updated, a.back()[0].Action)
			}
		}
		goOn()
		for _, name := range []string{"Mine", "Other", "Mine"} {
			_, _, err := a.st.SetName(t.Context(), a.id, sessionstore.Naming{Name: name, Source: "manual"})
			require.NoError(t, err)
			rows := strings.Split(strings.TrimSuffix(exported(t, a.st, a.id, Pi), "\n"), "\n")
			last := rows[len(rows)-1]
			require.Contains(t, last, fmt.Sprintf(`"name":%q`, name))
			require.False(t, seen[last])
			for _, row := range rows {
				seen[row] = true
			}
		}
		a.export()
		a.add(fmt.Sprintf(`{"type":"session_info","id":"n1","parentId":%q,"timestamp":"2999-11-25T00:00:00.000Z"}`, a.leaf()) + "\n")
		goOn()
		text := original(t, a.path)
		if a.export(); wentOn { // else the session does not know that it was taken back
			require.Equal(t, text, original(t, a.path))
		}
	}
}

// TestNamesInCodex names an export of a session in the file of names of Codex, to which Codex adds
// lines, too.
func TestNamesInCodex(t *testing.T) {
	home := t.TempDir()
	t.Setenv("CODEX_HOME", home)
	index := filepath.Join(home, "session_index.jsonl")
	theirs := `{"id":"x","thread_name":"Of another","updated_at":"2026-03-05T10:00:00Z"}`
	require.NoError(t, os.WriteFile(index, []byte(theirs), 0o600))
	for _, tool := range Tools() {
		a := newAway(t, openProjects(t), nativeID, tool, native...)
		var b bytes.Buffer
		done, err := Export(t.Context(), a.st, a.id, tool, &b, nil)
		require.NoError(t, err)
		require.NoError(t, os.MkdirAll(filepath.Join(home, "sessions"), 0o700))
		if tool == Codex {
			require.NoError(t, os.WriteFile(filepath.Join(home, "sessions", done.File), b.Bytes(), 0o600))
			require.NoError(t, done.SetName())
		}
	}
	require.True(t, strings.HasPrefix(original(t, index), theirs+"\n"))
	require.Equal(t, 2, strings.Count(original(t, index), "thread_name"))
	all, err := Find(t.Context(), Codex, nil)
	require.NoError(t, err)
	require.Len(t, all, 1)
	require.Equal(t, "Mine", all[0].Title)
	t.Setenv("CODEX_HOME", filepath.Join(home, "gone"))
	done := Exported{tool: programs["codex"], ID: nativeID, name: "Mine"}
	require.ErrorIs(t, done.SetName(), os.ErrNotExist)
}

// TestLongNames imports a thread whose name in Codex has a million characters: its beginning is the
// name here. An import that counts them for each that it takes away would take minutes.
func TestLongNames(t *testing.T) {
	t.Parallel()
	p, home := openProjects(t), t.TempDir()
	dir := filepath.Join(home, "sessions", "2026", "03", "04")
	require.NoError(t, os.MkdirAll(dir, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "rollout-2026-03-04T10-00-00-"+lookedID+".jsonl"), []byte(lookedAt(Codex, 1)), 0o600))
	index := fmt.Sprintf(`{"id":%q,"thread_name":%q,"updated_at":"2026-03-05T10:00:00Z"}`+"\n", lookedID, strings.Repeat("né", 1<<19))
	require.NoError(t, os.WriteFile(filepath.Join(home, "session_index.jsonl"), []byte(index), 0o600))
	all, err := Find(t.Context(), Codex, &FindOptions{Home: home})
	require.NoError(t, err)
	for _, action := range []Action{Created, Unchanged} {
		report, err := Import(t.Context(), p, all[0], nil)
		require.NoError(t, err)
		require.Equal(t, action, report.Sessions[0].Action)
	}
	st, err := p.Store("-w")
	require.NoError(t, err)
	md, err := st.Metadata(t.Context(), idOf(Codex, lookedID))
	require.NoError(t, err)
	require.Equal(t, strings.Repeat("né", thread.MaxName/2), md.Text("name"))
}

// TestNamesAlone gives an exported session a name in the tool, and no turn: it stays there when the session goes on
// here, also where it was taken back, until the session is renamed here. A session without a name takes it.
func TestNamesAlone(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		tool Tool
		want string
	}{{Claude, "Theirs"}, {Pi, "Theirs"}, {Pi, ""}} {
		for _, before := range []string{"", "Mine", "Ours"} {
			a := newAway(t, openProjects(t), nativeID, c.tool, native...)
			if before == "" {
				unnamed := strings.Replace(original(t, a.file("metadata.json")), `"name": "Mine"`, `"name": ""`, 1)
				require.NoError(t, os.WriteFile(a.file("metadata.json"), []byte(unnamed), 0o600))
			}
			rename := func(to string) {
				_, _, err := a.st.SetName(t.Context(), a.id, sessionstore.Naming{Name: to, Source: "manual"})
				require.NoError(t, err)
			}
			if before == "Ours" {
				rename(before)
			}
			md, err := a.st.Metadata(t.Context(), a.id)
			require.NoError(t, err)
			at := namedAt(md)
			if at.IsZero() {
				at = time.Date(2026, 11, 25, 0, 0, 0, 0, time.UTC)
			}
			a.export()
			require.Equal(t, Unchanged, a.back()[0].Action)
			require.NoDirExists(t, a.file("import_"+string(c.tool)), "nothing but the export")
			if c.tool == Claude {
				a.add(`{"type":"custom-title","customTitle":"Theirs","sessionId":"` + nativeID + `"}` + "\n")
			} else {
				a.add(fmt.Sprintf(`{"type":"session_info","id":"n1","parentId":%q,"timestamp":%q,"name":%q}`, a.leaf(), thread.Stamp(at), c.want) + "\n")
			}
			require.Equal(t, Unchanged, a.back()[0].Action)
			md, err = a.st.Metadata(t.Context(), a.id)
			require.NoError(t, err)
			require.Equal(t, cmp.Or(before, c.want), md.Text("name"))
			a.say("Here")
			a.export()
			require.Equal(t, c.want, a.named())
			rename("Newest")
			a.export()
			require.Equal(t, "Newest", a.named())
			require.Equal(t, []string{a.id}, a.all())
		}
	}
}

// TestNamesFollowHome names an exported session in each tool, twice: the session follows where it had no name, or one
// that its import made, until it is renamed here. Another name that it has stays.
func TestNamesFollowHome(t *testing.T) {
	t.Parallel()
	for _, tool := range Tools() {
		for before, want := range map[string]string{"": "First", "generated": "First", "manual": "Mine"} {
			a := newAway(t, openProjects(t), nativeID, tool, native...)
			meta := original(t, a.file("metadata.json"))
			switch before {
			case "":
				meta = strings.Replace(meta, `"name": "Mine"`, `"name": ""`, 1)
			case "generated":
				meta = strings.Replace(meta, `"name": "Mine"`, `"name": "Mine", "name_source": "generated", "import": {"tool": "x", "id": "x"}`, 1)
			}
			require.NoError(t, os.WriteFile(a.file("metadata.json"), []byte(meta), 0o600))
			a.export()
			named := func(to string) string {
				a.name(to)
				require.Equal(t, Unchanged, a.back()[0].Action)
				md, err := a.st.Metadata(t.Context(), a.id)
				require.NoError(t, err)
				return md.Text("name")
			}
			require.Equal(t, want, named("First"), "%s %s", tool, before)
			a.goOn("On")
			require.Equal(t, Updated, a.back()[0].Action)
			require.Equal(t, strings.Replace(want, "First", "Second", 1), named("Second"), "%s %s", tool, before)
			require.Equal(t, strings.Replace(want, "First", "Third", 1), named("Third"), "%s %s", tool, before)
			_, _, err := a.st.SetName(t.Context(), a.id, sessionstore.Naming{Name: "Here", Source: "manual"})
			require.NoError(t, err)
			require.Equal(t, "Here", named("Fourth"), "%s %s", tool, before)
		}
	}
}

// TestNamesByPersonStay names a session here, as programs do that note no revision: it keeps that name, also where the tool
// went on with it before a person gave it another one there.
func TestNamesByPersonStay(t *testing.T) {
	t.Parallel()
	for _, tool := range Tools() {
		a := newAway(t, openProjects(t), nativeID, tool, native...)
		if a.export(); tool == Codex {
			a.name("Mine") // as SetName does
		}
		for _, to := range []string{"First", "Second"} {
			a.goOn("On " + to)
			require.Equal(t, Updated, a.back()[0].Action)
			a.name(to)
			require.Equal(t, Unchanged, a.back()[0].Action)
			md, err := a.st.Metadata(t.Context(), a.id)
			require.NoError(t, err)
			require.Equal(t, "Mine", md.Text("name"), tool)
		}
	}
}

// TestNamesFollowAll exports a session without a name: it follows all names there, also behind one that Claude Code made, or
// that was taken back in pi. Of a name that it has no more, which a rule may have kept on this machine, its metadata have no word.
func TestNamesFollowAll(t *testing.T) {
	t.Parallel()
	made := func(a *away) {
		a.add(fmt.Sprintf(`{"type":"ai-title","aiTitle":"Former","sessionId":%q}`, nativeID) + "\n")
	}
	for tool, steps := range map[Tool][]func(a *away){
		Claude: {made},
		Pi:     {func(a *away) { a.name("Former") }, func(a *away) { a.name("") }},
	} {
		a := newAway(t, openProjects(t), nativeID, tool, native...)
		unnamed := strings.Replace(original(t, a.file("metadata.json")), `"name": "Mine"`, `"name": ""`, 1)
		require.NoError(t, os.WriteFile(a.file("metadata.json"), []byte(unnamed), 0o600))
		a.export()
		a.goOn("On")
		for _, step := range steps {
			step(a)
			a.back()
			require.Contains(t, original(t, a.file("metadata.json")), `"name": "Former"`)
		}
		a.name("Theirs")
		a.back()
		require.Contains(t, original(t, a.file("metadata.json")), `"name": "Theirs"`, tool)
		require.NotContains(t, original(t, a.file("metadata.json")), "Former")
		_, _, err := a.st.SetName(t.Context(), a.id, sessionstore.Naming{Name: "Here", Source: "manual"})
		require.NoError(t, err)
		require.NotContains(t, original(t, a.file("metadata.json")), "Theirs")
	}
}

// TestNamesByNobodyStay exports a session with a name that no person gave, and goes on with it: no person gave it that name then.
func TestNamesByNobodyStay(t *testing.T) {
	t.Parallel()
	for _, tool := range Tools() {
		a := newAway(t, openProjects(t), nativeID, tool, native...)
		meta := strings.Replace(original(t, a.file("metadata.json")), `"name": "Mine"`, `"name": "Mine", "name_source": "generated", "import": {"tool": "x", "id": "x"}`, 1)
		require.NoError(t, os.WriteFile(a.file("metadata.json"), []byte(meta), 0o600))
		if a.export(); tool == Codex {
			a.name("Mine") // as SetName does
		}
		a.goOn("On")
		require.Equal(t, Updated, a.back()[0].Action)
		require.Contains(t, original(t, a.file("metadata.json")), `"name_source": "generated"`, tool)
	}
}

// TestNamesBesideExport renames an exported session here, which goes on here: the former name, which its tool has beside the
// file, is not kept as a name of the tool.
func TestNamesBesideExport(t *testing.T) {
	t.Parallel()
	for _, tool := range []Tool{Codex, Copilot, OpenCode} {
		a := newAway(t, openProjects(t), nativeID, tool, native...)
		_, _, err := a.st.SetName(t.Context(), a.id, sessionstore.Naming{Name: "Here", Source: "manual"})
		require.NoError(t, err)
		later, err := sessionstore.Text("user", "Later", time.Date(2999, 1, 1, 0, 0, 0, 0, time.UTC))
		require.NoError(t, err)
		require.NoError(t, a.st.Append(t.Context(), a.id, later))
		a.export()
		a.name("Mine")
		require.Equal(t, Unchanged, a.back()[0].Action)
		require.NoDirExists(t, a.file("import_"+string(tool)), "nothing but the export")
	}
}

// TestNamesWithoutTime has a name in pi that has no time: it is as old as what was said before it.
func TestNamesWithoutTime(t *testing.T) {
	t.Parallel()
	a := newAway(t, openProjects(t), nativeID, Pi, native...)
	_, _, err := a.st.SetName(t.Context(), a.id, sessionstore.Naming{Name: "Here", Source: "manual"})
	require.NoError(t, err)
	a.export()
	a.goOn("On")
	a.add(fmt.Sprintf(`{"type":"session_info","id":"n1","parentId":%q,"name":"Theirs"}`, a.leaf()) + "\n")
	require.Equal(t, Updated, a.back()[0].Action)
	a.export()
	require.Equal(t, "Theirs", a.named())
}

// TestNamesInTurn names a session here, before Claude Code goes on with it and a person names it there: that stays. A title
// that Claude Code only repeats is older than the name here.
func TestNamesInTurn(t *testing.T) {
	t.Parallel()
	for _, timed := range []bool{true, false} {
		for there, want := range map[string]string{"Theirs": "Theirs", "Mine": "Here"} {
			a := newAway(t, openProjects(t), nativeID, Claude, native...)
			rename := func(to string) {
				_, _, err := a.st.SetName(t.Context(), a.id, sessionstore.Naming{Name: to, Source: "manual"})
				require.NoError(t, err)
			}
			if timed {
				rename("Mine")
			}
			a.export()
			rename("Here")
			a.add(strings.ReplaceAll(a.turn("On", a.leaf()), "2026-11-25", "2999-11-25"))
			a.name(there)
			require.Equal(t, Updated, a.back()[0].Action)
			a.export()
			require.Equal(t, want, a.named(), timed)
		}
	}
}

// name gives the session a name in the tool, as the tool does.
func (a *away) name(name string) {
	a.t.Helper()
	a.n++
	switch at := fmt.Sprintf("2026-11-25T%02d:%02d:00.000Z", a.n/60, a.n%60); a.tool {
	case Claude:
		a.add(fmt.Sprintf(`{"type":"custom-title","customTitle":%q,"sessionId":%q}`, name, a.thread()) + "\n")
	case Pi:
		a.add(fmt.Sprintf(`{"type":"session_info","id":"%08x","parentId":%q,"timestamp":%q,"name":%q}`, 1000+a.n, a.leaf(), at, name) + "\n")
	case Codex:
		index := fmt.Sprintf(`{"id":%q,"thread_name":%q,"updated_at":%q}`+"\n", a.thread(), name, at)
		require.NoError(a.t, os.WriteFile(filepath.Join(a.home, "session_index.jsonl"), []byte(index), 0o600))
	case Copilot:
		about := fmt.Sprintf("id: %s\ncwd: /w\nname: %s\nuser_named: true\n", a.thread(), name)
		require.NoError(a.t, os.WriteFile(filepath.Join(filepath.Dir(a.path), "workspace.yaml"), []byte(about), 0o600))
	case OpenCode:
		(&openCodeHome{a.t, a.home, a.p}).exec("UPDATE session SET title = ?", name)
	}
}

// TestNamesReturn gives an exported session another name, and the former one again: the tool has each in its turn.
func TestNamesReturn(t *testing.T) {
	t.Parallel()
	for _, tool := range []Tool{Claude, Pi} {
		a := newAway(t, openProjects(t), nativeID, tool, native...)
		var rows []string
		for _, name := range []string{"A", "B", "A", "B"} {
			_, _, err := a.st.SetName(t.Context(), a.id, sessionstore.Naming{Name: name, Source: "manual"})
			require.NoError(t, err)
			text := strings.SplitAfter(exported(t, a.st, a.id, tool), "\n")
			if a.path == "" {
				a.export()
			} else if last := text[len(text)-2]; !slices.Contains(rows, last) { // as resume --with adds them
				a.add(last)
			}
			rows = append(rows, text...)
			require.Equal(t, name, a.named())
			require.Equal(t, Unchanged, a.back()[0].Action)
			require.NoDirExists(t, a.file("import_"+string(tool)))
		}
	}
}

// named returns the name that the tool's file gives the session.
func (a *away) named() string {
	a.t.Helper()
	f, leave, err := thread.Open(a.t.Context(), thread.Source{Segments: thread.Whole(a.path)}, programs[string(a.tool)], "", thread.NewNotes())
	require.NoError(a.t, err)
	defer leave()
	return f.Table.Title
}
