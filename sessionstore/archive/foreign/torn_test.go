package foreign

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore/projects"
)

// TestTornPack has compressed files of Codex whose end is missing: each import names them,
// and takes what can be read, also beside a session that a sound file made before.
func TestTornPack(t *testing.T) {
	t.Parallel()
	const id, agent = "01a08000-0000-7000-8000-000000000034", "01a08000-0000-7000-8000-000000000035"
	long := &rollout{id: id}
	long.begin(nil)
	for i := range 9 {
		noise, r := make([]byte, 60_000), rand.New(rand.NewPCG(1, uint64(i)))
		for j := range noise {
			noise[j] = byte('a' + r.IntN(26))
		}
		long.turn(fmt.Sprintf("Q%d %s", i, noise), i)
	}
	short := &rollout{id: id}
	short.begin(nil)
	short.turn("Q0", 1)
	sub := &rollout{id: agent}
	sub.begin(map[string]any{"source": map[string]any{"subagent": map[string]any{"thread_spawn": map[string]any{"parent_thread_id": id}}}})
	sub.turn("task", 1)
	const name = "rollout-2026-09-09T09-00-00-%s.jsonl"
	for about, c := range map[string]struct {
		r       *rollout
		id      string
		keep    int // per cent of the compressed file
		created int // sessions
	}{
		"empty":                             {short, id, 0, 0},
		"torn before anything can be read":  {short, id, 50, 0},
		"torn in its middle":                {long, id, 60, 1},
		"of a sub-agent, empty":             {sub, agent, 0, 1},
		"of a sub-agent, torn at its begin": {sub, agent, 40, 1},
	} {
		t.Run(about, func(t *testing.T) {
			t.Parallel()
			home, p := t.TempDir(), openProjects(t)
			if c.r == sub {
				short.save(t, home, 0, 0, 0)
			}
			c.r.save(t, home, 0, 0, 0)
			path := filepath.Join(home, "sessions", "2026", "09", "09", fmt.Sprintf(name, c.id))
			plain := original(t, path)
			packed := packedBytes(t, []byte(plain))
			require.NoError(t, os.Remove(path))
			tear := func() {
				require.NoError(t, os.WriteFile(path+".zst", packed[:len(packed)*c.keep/100], 0o600))
			}
			tear()
			run := func(p *projects.Projects) (*Report, error) {
				all, failed := Find(t.Context(), Codex, &FindOptions{Home: home})
				require.NoError(t, failed)
				done := &Report{}
				for _, h := range all { // nothing says whose a sub-agent is whose beginning cannot be read
					report, err := Import(t.Context(), p, h, nil)
					done.Sessions, failed = append(done.Sessions, report.Sessions...), errors.Join(failed, err)
				}
				return done, failed
			}
			for _, action := range []Action{Created, Unchanged} {
				report, err := run(p)
				require.ErrorContains(t, err, filepath.Base(path)+".zst: ")
				require.ErrorContains(t, err, map[bool]string{true: "it is empty", false: "its end is missing"}[c.keep == 0])
				require.NotErrorIs(t, err, ErrEmpty)
				require.Len(t, report.Sessions, c.created)
				for _, s := range report.Sessions {
					require.Equal(t, action, s.Action)
				}
			}
			if c.r == long {
				st, err := p.Store("-w")
				require.NoError(t, err)
				said := strings.Join(texts(t, st, idOf(Codex, id)), " ")
				require.Contains(t, said, "Q4 ")
				require.NotContains(t, said, "Q8 ")
			}
			require.NoError(t, os.WriteFile(path+".zst", packed, 0o600)) // it was being written
			report, err := run(p)
			require.NoError(t, err)
			tear()
			whole := tree(t, p.Dir())
			_, err = run(p)
			require.ErrorContains(t, err, ".zst: ")
			require.Equal(t, whole, tree(t, p.Dir()), "%v", report.Sessions)
		})
	}
}

// TestAnswersOfTheTool has an answer that Claude Code itself wrote, as for an error: it is
// no response of a model, and no model.
func TestAnswersOfTheTool(t *testing.T) {
	t.Parallel()
	g := newGrowing(t)
	g.write(many("g", 2) + `{"type":"assistant","uuid":"e","parentUuid":"g-assistant-1","isApiErrorMessage":true,"timestamp":"2026-03-04T11:00:00.000Z","message":{"id":"err","model":"<synthetic>","role":"assistant","content":[{"type":"text","text":"API Error"}],"usage":{"input_tokens":0,"output_tokens":0}}}` + "\n")
	found := counts(t, History{Tool: Claude, ID: "g", Path: g.path, Dir: "/w"})
	require.Equal(t, 2, found[0].Responses)
	require.NotContains(t, found[0].Models, "<synthetic>")
	id := g.run(nil)[0].ID
	require.Contains(t, strings.Join(texts(t, g.st, id), "\n"), "API Error")
	require.NotContains(t, original(t, filepath.Join(g.st.Dir(), id, "metadata.json")), "synthetic")
	require.NotContains(t, original(t, filepath.Join(g.st.Dir(), id, importFolder, mapFile)), "synthetic")
}
