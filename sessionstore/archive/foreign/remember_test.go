package foreign_test

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign"
)

// notesIn returns the paths of the notes of imports in a store.
func notesIn(t testing.TB, store string) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(store, "*", "sessions", ".sessionstore", "imports"))
	require.NoError(t, err)
	return all
}

// ticked waits until a change shows in the times of files that were written before.
func ticked(t testing.TB) {
	t.Helper()
	path, began := filepath.Join(t.TempDir(), "clock"), time.Now()
	require.Eventually(t, func() bool {
		must(os.WriteFile(path, nil, 0o600))
		must(os.WriteFile(path, []byte("a"), 0o600))
		fi, err := os.Stat(path)
		return err == nil && fi.ModTime().Sub(began) > 30*time.Millisecond
	}, time.Minute, 5*time.Millisecond)
}

// quiet changes a file without a trace in its size, or in its size and its time, or changes
// its time or its inode alone.
func (h *home) quiet(what string, r *rand.Rand) {
	name := h.some(r.Uint64(), func(name string) bool { return h.files[name].content != "" })
	if name == "" {
		return
	}
	f, at := h.files[name], filepath.Join(h.dir, filepath.FromSlash(name))
	raw := []byte(f.content)
	if i := bytes.LastIndex(raw, []byte(`"text":"`)) + len(`"text":"`); i > len(`"text":"`) && strings.HasPrefix(what, "rewrite") {
		raw[i] ^= 1
	}
	f.content = string(raw)
	switch what {
	case "rewrite", "rewrite, time put back":
		must(os.WriteFile(at, raw, 0o600))
	case "rewrite by another file", "copied back":
		must(os.WriteFile(at+".new", raw, 0o600))
		must(os.Rename(at+".new", at))
	}
	h.now++
	if what == "rewrite" || what == "touch" {
		f.changed = h.now
	}
	h.stamp(name)
}

// TestNotes imports homes that change in all ways, once with the notes of earlier imports and
// once without them: the reports and the sessions are the same.
func TestNotes(t *testing.T) {
	t.Parallel()
	seed := testenv.Seed(t)
	for n := range testenv.Share(12, 30, 300) {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			draw := rand.New(rand.NewPCG(seed, uint64(n)))
			plan := drawPlan(draw)
			var both [2]*running
			for i := range both {
				both[i] = newRunning(t.Context(), t.TempDir(), plan.families, plan.cut)
			}
			for _, s := range plan.steps {
				quiet, more := "", draw.Uint64()
				if draw.IntN(2) == 0 {
					quiet = []string{"rewrite", "rewrite, time put back", "rewrite by another file", "copied back", "touch"}[draw.IntN(5)]
				}
				for _, r := range both {
					switch s.what {
					case "here":
						require.Nil(t, r.say(s))
					case "together", "kill":
						r.remove(more)
					case "import":
						if quiet != "" {
							r.home.quiet(quiet, rand.New(rand.NewPCG(more, 1)))
						}
					default:
						r.tell("%s", r.home.do(s))
					}
				}
				if s.what == "import" {
					if more%3 > 0 {
						ticked(t)
					}
					sameImports(t, both, quiet)
					sameImports(t, both, quiet)
				}
			}
			for _, r := range both {
				require.NoError(t, r.p.Close())
			}
		})
	}
}

// remove removes a session.
func (r *running) remove(n uint64) {
	all, failed := r.sessions()
	if failed != nil || len(all) == 0 {
		return
	}
	at := slices.SortedFunc(maps.Keys(all), comparePlaces)[n%uint64(len(all))]
	st, err := r.p.Store(at.project)
	must(err)
	must(st.Delete(r.ctx, at.id))
	r.tell("%s is removed", at)
}

// sameImports imports two homes with the same files, the second one without notes.
func sameImports(t *testing.T, both [2]*running, quiet string) {
	t.Helper()
	var said [2]string
	for i, r := range both {
		for _, path := range notesIn(t, r.dir) {
			if i == 1 {
				require.NoError(t, os.RemoveAll(path))
			}
		}
		reports, err := r.importAll(r.p)
		for _, report := range reports {
			said[i] += fmt.Sprintf("%+v\n", *report)
		}
		said[i] = strings.ReplaceAll(said[i]+fmt.Sprint(err), filepath.Dir(r.dir), "")
	}
	require.Equal(t, said[1], said[0], "%s\n%s", quiet, strings.Join(both[0].story, "\n"))
	require.Equal(t, hashes(both[1].dir), hashes(both[0].dir), "%s", quiet)
}

// TestNotesAreDamaged damages the notes in all ways: then files are read.
func TestNotesAreDamaged(t *testing.T) {
	t.Parallel()
	for _, damage := range []func(raw []byte) []byte{
		func([]byte) []byte { return nil },
		func(raw []byte) []byte { return raw[:len(raw)/2] },
		func(raw []byte) []byte { return bytes.ReplaceAll(raw, []byte(`"Asked"`), []byte(`"asked":1,"a"`)) },
		func(raw []byte) []byte { return bytes.Repeat([]byte("\x00{\n"), len(raw)) },
	} {
		plan := drawPlan(rand.New(rand.NewPCG(1, 2)))
		var both [2]*running
		for i := range both {
			both[i] = newRunning(t.Context(), t.TempDir(), plan.families, plan.cut)
		}
		ticked(t)
		sameImports(t, both, "")
		for _, dir := range notesIn(t, both[0].dir) {
			for _, tool := range []foreign.Tool{foreign.Claude, foreign.Codex} {
				path := filepath.Join(dir, string(tool)+".jsonl")
				if raw, err := os.ReadFile(path); err == nil {
					require.NoError(t, os.WriteFile(path, damage(raw), 0o600))
				}
			}
		}
		sameImports(t, both, "")
		sameImports(t, both, "")
		for _, r := range both {
			require.NoError(t, r.p.Close())
		}
	}
}
