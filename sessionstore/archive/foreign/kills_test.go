package foreign

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// many returns a history of n turns.
func many(id string, n int) string {
	var b strings.Builder
	parent := "null"
	for i := range n {
		for _, kind := range []string{"user", "assistant"} {
			uuid := fmt.Sprintf(`"%s-%s-%d"`, id, kind, i)
			fmt.Fprintf(&b, `{"type":%q,"uuid":%s,"parentUuid":%s,"cwd":"/w","timestamp":"2026-03-04T10:00:00.000Z","message":{"id":%s,"role":%q,"content":"text %d"}}`+"\n",
				kind, uuid, parent, uuid, kind, i)
			parent = uuid
		}
	}
	return b.String()
}

// importForever imports the history of a file under ever new ids into dir.
func importForever(dir, path string) error {
	p, err := openSeamed(dir, &sessionstore.Options{Durability: sessionstore.Relaxed}, testenv.KillPoint())
	if err != nil {
		return err
	}
	for range 1 << 20 {
		id := sessionstore.NewID()
		fmt.Println("begin " + id)
		if _, err := Import(context.Background(), p, History{Tool: Claude, ID: id, Path: path, Dir: "/w"}, nil); err != nil {
			return errors.Join(err, p.Close())
		}
		fmt.Println("done " + id)
	}
	return p.Close()
}

// growForever imports a history into dir that has one more turn each time.
func growForever(dir, path string) error {
	p, err := openSeamed(dir, &sessionstore.Options{Durability: sessionstore.Relaxed}, testenv.KillPoint())
	if err != nil {
		return err
	}
	for n := strings.Count(mustRead(path), "\n")/2 + 1; ; n++ {
		if err := os.WriteFile(path+".new", []byte(many("g", n)), 0o600); err != nil {
			return errors.Join(err, p.Close())
		}
		if err := os.Rename(path+".new", path); err != nil {
			return errors.Join(err, p.Close())
		}
		if _, err := Import(context.Background(), p, History{Tool: Claude, ID: "g", Path: path, Dir: "/w"}, nil); err != nil {
			return errors.Join(err, p.Close())
		}
		fmt.Println("done", n)
	}
}

func mustRead(path string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return string(data)
}

// TestKills kills imports: a session is there whole or not at all, and what was
// said to be there is.
func TestKills(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "h.jsonl")
	require.NoError(t, os.WriteFile(path, []byte(many("h", 50)), 0o600))
	p := openProjects(t)
	st, err := p.Store("-w")
	require.NoError(t, err)
	rng, lost := rand.New(rand.NewPCG(testenv.Seed(t), 0)), testenv.Lost(t)
	v := testenv.Victim{
		Name: "import", Dir: p.Dir(), Argument: path, Rounds: testenv.KillRounds(),
		Operations: 70, First: 30, Within: 20 * time.Millisecond,
		Acknowledges: func(line string) bool { return strings.HasPrefix(line, "done ") },
	}
	for round := range v.Rounds {
		begun, done := "", map[string]bool{}
		v.Kill(t, round, rng, func(line string) {
			what, id, ok := strings.Cut(line, " ")
			require.True(t, ok, line)
			id = idOf(Claude, id)
			if what == "begin" {
				begun = id
			} else {
				done[id] = true
			}
		})
		infos, err := st.List(t.Context(), nil)
		require.NoError(t, err)
		for _, s := range infos {
			require.True(t, done[s.ID] || s.ID == begun, "%s was never begun", s.ID)
			require.Len(lost, healthy(lost, st, s.ID), 100)
			require.Equal(lost, original(t, path), unpacked(lost, st, s.ID))
			require.Equal(lost, 101, strings.Count(original(t, filepath.Join(st.Dir(), s.ID, "import", "map.jsonl")), "\n"))
			delete(done, s.ID)
			require.NoError(t, st.Delete(t.Context(), s.ID))
		}
		require.Empty(lost, done, "said to be there, and gone")
	}
}

// TestKillsOfUpdates kills imports that bring a session up to date. The next one
// completes it, and makes no fork.
func TestKillsOfUpdates(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "g.jsonl")
	p := openProjects(t)
	st, err := p.Store("-w")
	require.NoError(t, err)
	rng, lost := rand.New(rand.NewPCG(testenv.Seed(t), 0)), testenv.Lost(t)
	last := 0
	v := testenv.Victim{
		Name: "grow", Dir: p.Dir(), Argument: path, Rounds: testenv.KillRounds(),
		Operations: 110, First: 30, Within: 20 * time.Millisecond,
		Acknowledges: func(string) bool { return true },
	}
	for round := range v.Rounds {
		v.Kill(t, round, rng, func(line string) {
			_, err := fmt.Sscanf(line, "done %d", &last)
			require.NoError(t, err)
		})
		infos, err := st.List(t.Context(), nil)
		require.NoError(t, err)
		require.LessOrEqual(t, len(infos), 1, "a fork, though nobody wrote here")
		require.True(lost, len(infos) == 1 || last == 0, "the session is gone")
		if len(infos) == 1 {
			require.GreaterOrEqual(lost, len(healthy(lost, st, infos[0].ID)), 2*last)
		}
		report, err := Import(t.Context(), p, History{Tool: Claude, ID: "g", Path: path, Dir: "/w"}, nil)
		require.NoError(t, err)
		require.Len(t, report.Sessions, 1)
		lines := strings.Count(original(t, path), "\n")
		require.Len(lost, healthy(lost, st, report.Sessions[0].ID), lines)
		require.Equal(lost, original(t, path), unpacked(lost, st, report.Sessions[0].ID))
		md, err := st.Metadata(t.Context(), report.Sessions[0].ID)
		require.NoError(t, err)
		turns, _ := md.Int("turn_count")
		require.Equal(lost, lines/2, turns)
		require.Empty(t, stateIn(md, importFolder).Pending)
	}
}
