package foreign

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore/projects"
)

var tail = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]{27}`)

// respell writes all files of a folder of a tool anew.
func respell(t *testing.T, home string, name func(string) string, text func([]byte) []byte) {
	t.Helper()
	var paths []string
	require.NoError(t, filepath.WalkDir(home, func(path string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			paths = append(paths, path)
		}
		return err
	}))
	for _, path := range paths {
		data := []byte(original(t, path))
		require.NoError(t, os.Remove(path))
		rest, err := filepath.Rel(home, path)
		require.NoError(t, err)
		to := filepath.Join(home, name(rest))
		require.NoError(t, os.MkdirAll(filepath.Dir(to), 0o700))
		require.NoError(t, os.WriteFile(to, text(data), 0o600))
	}
}

// reversed writes a value with the keys of its objects in the opposite order, with other
// spaces and other escapes.
func reversed(t *testing.T, d *json.Decoder) string {
	t.Helper()
	token, err := d.Token()
	require.NoError(t, err)
	open, is := token.(json.Delim)
	if !is {
		if s, text := token.(string); text {
			b, err := json.Marshal(s)
			require.NoError(t, err)
			return strings.ReplaceAll(string(b), "/", `\/`)
		}
		b, err := json.Marshal(token)
		require.NoError(t, err)
		return string(b)
	}
	var all []string
	for d.More() {
		one := reversed(t, d)
		if open == '{' {
			one += " :\t" + reversed(t, d)
		}
		all = append(all, one)
	}
	end, err := d.Token()
	require.NoError(t, err)
	if open == '{' {
		slices.Reverse(all)
	}
	return open.String() + " " + strings.Join(all, " , ") + " " + end.(json.Delim).String()
}

func reorder(t *testing.T, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	for line := range bytes.Lines(data) {
		d := json.NewDecoder(bytes.NewReader(line))
		d.UseNumber()
		if !json.Valid(line) || bytes.Contains(line, []byte(`\u`)) { // a lone surrogate is no text of Go's
			b.Write(line)
			continue
		}
		b.WriteString(reversed(t, d) + "\n")
	}
	return b.Bytes()
}

// TestRespelled imports the histories of both tools, and again once something wrote their ids or
// file names in capitals, or their records with keys in another order: nothing changes. A thread
// that goes on then comes into its session.
func TestRespelled(t *testing.T) {
	t.Parallel()
	capitals := func(s string) string { return tail.ReplaceAllStringFunc(s, strings.ToUpper) }
	same := func(s string) string { return s }
	inText := func(b []byte) []byte { return []byte(capitals(string(b))) }
	for name, c := range map[string]struct {
		name func(string) string
		text func([]byte) []byte
	}{
		"file names in capitals":    {capitals, bytes.Clone},
		"ids in capitals":           {same, inText},
		"both":                      {capitals, inText},
		"keys in another order":     {same, func(b []byte) []byte { return reorder(t, b) }},
		"keys, and ids in capitals": {capitals, func(b []byte) []byte { return inText(reorder(t, b)) }},
	} {
		for from, tool := range map[string]Tool{"testdata/claude": Claude, "testdata/codex": Codex, "testdata/live/codex": Codex, "testdata/live/claude": Claude} {
			if from == "testdata/live/codex" && !strings.Contains(name, "file names") && name != "ids in capitals" {
				continue // its files name places in each other by bytes
			}
			t.Run(name+" "+from, func(t *testing.T) {
				t.Parallel()
				home, p := t.TempDir(), openProjects(t)
				require.NoError(t, os.CopyFS(home, os.DirFS(from)))
				importAll(t, p, tool, home)
				before := saidIn(t, p)
				respell(t, home, c.name, c.text)
				for _, s := range importAll(t, p, tool, home) {
					require.Equal(t, Unchanged, s.Action, "%v", s)
				}
				require.Equal(t, before, saidIn(t, p))
			})
		}
	}
}

func importAll(t *testing.T, p *projects.Projects, tool Tool, home string) (done []Imported) {
	t.Helper()
	all, err := Find(t.Context(), tool, &FindOptions{Home: home})
	require.NoError(t, err)
	for _, h := range all {
		report, err := Import(t.Context(), p, h, nil)
		if err != nil {
			require.ErrorIs(t, err, ErrEmpty)
		}
		done = append(done, report.Sessions...)
	}
	return done
}

// saidIn returns the transcripts of a store by their paths.
func saidIn(t *testing.T, p *projects.Projects) map[string]string {
	t.Helper()
	all := map[string]string{}
	paths, err := filepath.Glob(filepath.Join(p.Dir(), "*", "sessions", "*", "transcript.jsonl"))
	require.NoError(t, err)
	for _, path := range paths {
		all[path] = original(t, path)
	}
	return all
}

// TestRespelledGoesOn has a thread with a call whose file is written with keys in another
// order, and goes on: the new turns come into its session, which has the arguments once.
func TestRespelledGoesOn(t *testing.T) {
	t.Parallel()
	call := func(r *rollout) {
		r.add("response_item", map[string]any{"type": "function_call", "name": "look", "call_id": "c1", "arguments": `{"b": 1, "a": 2}`})
		r.add("response_item", map[string]any{"type": "function_call_output", "call_id": "c1", "output": "seen"})
	}
	home, p := t.TempDir(), openProjects(t)
	r := &rollout{id: "01a08000-0000-7000-8000-000000000061"}
	r.begin(nil)
	r.turn("one", 1)
	call(r)
	r.save(t, home, 0, 0, 0)
	id := importAll(t, p, Codex, home)[0].ID
	r.turn("two", 2)
	r.save(t, home, 0, 0, 0)
	respell(t, home, strings.Clone, func(b []byte) []byte { return reorder(t, b) })
	done := importAll(t, p, Codex, home)
	require.Len(t, done, 1)
	require.Equal(t, id, done[0].ID)
	require.Equal(t, Updated, done[0].Action)

	g := newGrowing(t)
	g.write(many("g", 2))
	id = g.run(nil)[0].ID
	g.write(string(reorder(t, []byte(many("g", 3)))))
	require.Equal(t, []Imported{{id, Conversation, Updated, 6}}, g.run(nil))
}

// TestTwoSpellings has one session in two files whose names differ in case: the longer one is
// the session, and the other is named.
func TestTwoSpellings(t *testing.T) {
	t.Parallel()
	const id = "f0000000-0000-4000-8000-00000000006a"
	home := t.TempDir()
	for name, n := range map[string]int{"-w/" + id: 3, "-v/" + strings.ToUpper(id): 2} {
		path := filepath.Join(home, "projects", name+".jsonl")
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(many("g", n)), 0o600))
	}
	all, err := Find(t.Context(), Claude, &FindOptions{Home: home})
	require.NoError(t, err)
	require.Len(t, all, 1)
	require.Equal(t, id, all[0].ID)
	report, err := Import(t.Context(), openProjects(t), all[0], nil)
	require.NoError(t, err)
	require.Len(t, report.Shorter, 1)
}
