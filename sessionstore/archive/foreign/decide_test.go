package foreign

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// reached counts how often each row decided, and last how often none of them did.
var reached [64]atomic.Int64

func init() {
	decided = func(f facts) action {
		reached[rowOf(f)].Add(1)
		return decide(f)
	}
}

// rowOf returns the index of the row that decides, the number of rows where none does.
func rowOf(f facts) int {
	for i, r := range rows {
		if f&r.yes == r.yes && f&r.no == 0 {
			return i
		}
	}
	return len(rows)
}

// TestDecide compares the rows with what they are to say, for each combination of facts.
func TestDecide(t *testing.T) {
	t.Parallel()
	counts := make([]int, len(rows)+1)
	for f := range lost << 1 {
		is := func(some facts) bool { return f&some != 0 }
		want := toPart
		switch {
		case is(forked):
			want = toFollow
		case !is(present):
			want = toCreate
		case !is(opened):
			want = toOpen
		case is(settled) && !is(pending):
			if want = toLeave; is(misnamed) {
				want = toName
			}
		case !is(related):
			want = toCompare
		case is(covered) && !is(pending):
			want = toLeave
		case !is(rendered):
			want = toRender
		case is(renewed) && !is(holds) && !is(pending):
			want = toLeave
		case is(comesHome) && is(unknown) && !is(news):
			if want = toStay; is(misnamed) {
				want = toNote
			}
		case is(holds):
			if want = toNote; is(split) || !is(keeps) && !is(pending) && !is(misnamed) {
				want = toStay
			}
		case is(free) && is(split):
		case is(free) && is(extends):
			want = toReplace
		case is(free) && is(keeps) && is(unlike):
		case is(free) && !is(searched):
			want = toSearch
		case is(free):
			if want = toReplace; is(lost) {
				want = toPart
			}
		case is(comesHome) && !is(news), is(unchanged) && !is(pending):
			want = toStay
		}
		if got := decide(f); got != want {
			require.Equal(t, want, got, "facts %b", f)
		}
		counts[rowOf(f)]++
	}
	require.NotContains(t, counts, 0)
}

// TestDecideLosesNothing requires of each combination of facts: a session that has messages
// which the file lacks keeps them.
func TestDecideLosesNothing(t *testing.T) {
	t.Parallel()
	for f := range lost << 1 {
		if decide(f) != toReplace {
			continue
		}
		kept := f&extends != 0 || f&searched != 0 && f&lost == 0
		if !kept || f&split != 0 || f&free == 0 || f&present == 0 {
			require.Fail(t, "a session is replaced", "facts %b", f)
		}
	}
}

// TestEachRow imports files until each row decided.
func TestEachRow(t *testing.T) {
	t.Parallel()
	mode := `{"type":"mode","mode":"normal"}` + "\n"
	system := func(uuid string) string {
		return fmt.Sprintf(`{"type":"system","uuid":%q,"parentUuid":"g-assistant-1","timestamp":"2026-03-04T10:00:00.000Z","content":"note"}`+"\n", uuid)
	}
	beside := func(said string) string { // a turn that follows the first one
		return strings.NewReplacer("g-user-1", "g-user-9", "g-assistant-1", "g-assistant-9", "x user", said).Replace(
			strings.Join(strings.SplitAfter(turns("a", "x"), "\n")[2:], ""))
	}
	for name, files := range map[string][]string{
		"it grows":                   {turns("a"), turns("a"), turns("a", "b"), turns("a", "b") + mode},
		"it becomes another one":     {turns("a", "b"), turns("a", "x"), turns("a", "x", "y"), "\n" + turns("a", "b")},
		"a person goes back":         {turns("a", "b"), turns("a", "b") + beside("c"), turns("a", "b") + beside("c") + mode},
		"a prompt is said again":     {turns("a", "b"), turns("a", "b") + beside("b user")},
		"a record without a message": {turns("a", "b") + system("1"), turns("a", "b") + system("2")},
		"its copy is lost":           {turns("a", "b"), "", turns("a", "x")},
		"both go on":                 {turns("a", "b"), "say", turns("a", "b", "c"), turns("a", "b", "c"), turns("a")},
		"a turn is taken back here":  {turns("a", "b"), "rewind", turns("a", "b") + mode},
	} {
		g := newGrowing(t)
		id := ""
		for _, text := range files {
			switch text {
			case "":
				require.NoError(t, os.Remove(g.st.Dir()+"/"+id+"/import/"+originalFile), name)
			case "say":
				g.say(id, "ours", "answer")
			case "rewind":
				rewindTo(t, g.st, id, 2)
			default:
				g.write(text)
				if made := g.run(nil); id == "" {
					id = made[0].ID
				}
			}
		}
	}
	p, home := openProjects(t), t.TempDir()
	path := filepath.Join(home, "sessions", "2026", "03", "04", "rollout-2026-03-04T10-00-00-"+lookedID+".jsonl")
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	for _, is := range []struct {
		begin, name string
	}{{}, {"", "Named"}, {"\n", "Another"}} {
		require.NoError(t, os.WriteFile(path, []byte(is.begin+lookedAt(Codex, 1)), 0o600))
		named := fmt.Sprintf(`{"id":%q,"thread_name":%q}`+"\n", lookedID, is.name)
		require.NoError(t, os.WriteFile(filepath.Join(home, "session_index.jsonl"), []byte(named), 0o600))
		all, err := Find(t.Context(), Codex, &FindOptions{Home: home})
		require.NoError(t, err)
		_, err = Import(t.Context(), p, all[0], nil)
		require.NoError(t, err)
	}
	h := newPiHome(t)
	for version, begin := range []string{"{\n", ""} { // pi drops the damaged line
		head := fmt.Sprintf(`{"type":"session","id":"p1","version":%d}`+"\n", 2+version)
		require.NoError(t, os.WriteFile(h.path("p1"), []byte(begin+head+strings.Join(piTurn("1", "", "One"), "\n")+"\n"), 0o600))
		h.run()
	}
	a := newAway(t, openProjects(t), nativeID, Pi, native...)
	a.export()
	a.name("Theirs")
	a.run(nil)
	a = newAway(t, openProjects(t), nativeID, Claude, native...)
	a.export()
	a.run(nil)
	a.goOn("Theirs")
	a.run(nil)
	rewindTo(t, a.st, a.id, 2)
	a.add(mode)
	a.run(nil)
	for i := range len(rows) + 1 {
		if reached[i].Load() == 0 {
			t.Errorf("row %d decided nothing", i)
		}
	}
}

// rewindTo leaves the first n messages to a session.
func rewindTo(t *testing.T, st *sessionstore.Store, id string, n int) {
	t.Helper()
	s, err := st.Load(t.Context(), id)
	require.NoError(t, err)
	old, err := st.Revision(t.Context(), id)
	require.NoError(t, err)
	_, err = st.Replace(t.Context(), id, old, s.Messages[:n])
	require.NoError(t, err)
}
