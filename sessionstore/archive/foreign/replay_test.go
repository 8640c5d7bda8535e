package foreign

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore/projects"
)

// rollout is a file of Codex that a test writes.
type rollout struct {
	id    string
	rows  []map[string]any
	ahead bool // the event of a prompt stands ahead of it
}

func (r *rollout) add(kind string, payload map[string]any) {
	r.rows = append(r.rows, map[string]any{"type": kind, "payload": payload})
}

// turn adds a prompt, its answer and the tokens that the thread has used then.
func (r *rollout) turn(said string, total int) {
	say := func(role, kind, text string) {
		r.add("response_item", map[string]any{"type": "message", "role": role, "content": []any{map[string]any{"type": kind, "text": text}}})
	}
	event := func() { r.add("event_msg", map[string]any{"type": "user_message", "message": said}) }
	if r.ahead {
		event()
	}
	say("user", "input_text", said)
	if !r.ahead {
		event()
	}
	say("assistant", "output_text", "re "+said)
	used := map[string]any{"input_tokens": total, "output_tokens": 0, "cached_input_tokens": 0, "total_tokens": total}
	r.add("event_msg", map[string]any{"type": "token_count", "info": map[string]any{"total_token_usage": used, "last_token_usage": used}})
}

// begin adds the first lines of a thread.
func (r *rollout) begin(more map[string]any) {
	meta := map[string]any{"id": r.id, "cwd": "/w", "timestamp": "2026-09-09T09:00:00.000Z"}
	for name, v := range more {
		meta[name] = v
	}
	r.add("session_meta", meta)
	r.add("turn_context", map[string]any{"cwd": "/w", "model": "m"})
}

// save writes the file. The rows from first on are so far apart, the others stand at one time.
func (r *rollout) save(t *testing.T, home string, apart, gap time.Duration, first int) {
	t.Helper()
	at, text := time.Date(2026, 9, 9, 9, 0, 0, 0, time.UTC), ""
	for i, row := range r.rows {
		switch {
		case i == first:
			at = at.Add(gap)
		case i > first:
			at = at.Add(time.Second)
		default:
			at = at.Add(apart)
		}
		row["timestamp"] = at.Format("2006-01-02T15:04:05.000Z")
		data, err := json.Marshal(row)
		require.NoError(t, err)
		text += string(data) + "\n"
	}
	path := filepath.Join(home, "sessions", "2026", "09", "09", "rollout-2026-09-09T09-00-00-"+r.id+".jsonl")
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
}

// TestReplayedCounts has forks and sub-agents of a thread of Codex that repeat its lines with
// times of their own, and go on after any pause: each response counts once, and so do the
// tokens.
func TestReplayedCounts(t *testing.T) {
	t.Parallel()
	const parent = "01a08000-0000-7000-8000-0000000008aa"
	spawned := map[string]any{"subagent": map[string]any{"thread_spawn": map[string]any{"parent_thread_id": parent, "agent_role": "worker"}}}
	for name, more := range map[string]map[string]any{
		"forks":      {"forked_from_id": parent},
		"sub-agents": {"forked_from_id": parent, "source": spawned},
		"spawned":    {"source": spawned},
	} {
		for _, c := range []struct{ apart, gap time.Duration }{
			{0, 5 * time.Second},
			{0, 1200 * time.Millisecond},
			{0, 400 * time.Millisecond},
			{0, 50 * time.Millisecond},
			{0, 0},
			{2 * time.Second, 5 * time.Second},
			{2 * time.Second, 50 * time.Millisecond},
		} {
			t.Run(fmt.Sprint(name, c.apart, c.gap), func(t *testing.T) {
				t.Parallel()
				home := t.TempDir()
				p := &rollout{id: parent, ahead: c.gap == 0}
				p.begin(nil)
				p.turn("PARENT one", 100_000)
				p.turn("PARENT two", 200_000)
				p.save(t, home, 0, 0, 0)
				for k := range 3 {
					f := &rollout{id: fmt.Sprintf("01a08000-0000-7000-8000-0000000008b%d", k), ahead: p.ahead}
					f.begin(more)
					for _, row := range p.rows {
						f.add(row["type"].(string), row["payload"].(map[string]any))
					}
					own := len(f.rows)
					f.turn(fmt.Sprint("OWN ", k), 250_000)
					f.save(t, home, c.apart, c.gap, own)
				}
				store := openProjects(t)
				for range 2 {
					found, err := Find(t.Context(), Codex, &FindOptions{Home: home})
					require.NoError(t, err)
					for _, h := range found {
						_, err := Import(t.Context(), store, h, nil)
						require.NoError(t, err)
					}
				}
				responses, input := 0, int64(0)
				for u, err := range Usage(t.Context(), store, projects.Query{}) {
					require.NoError(t, err)
					responses, input = responses+u.Responses, input+u.Input
				}
				require.Equal(t, 5, responses)
				require.EqualValues(t, 350_000, input)
				st, err := store.Store("-w")
				require.NoError(t, err)
				forks, err := filepath.Glob(filepath.Join(st.Dir(), "*", "metadata.json"))
				require.NoError(t, err)
				require.Len(t, forks, 4)
				for _, path := range forks {
					said := original(t, filepath.Join(filepath.Dir(path), "transcript.jsonl"))
					require.NotContains(t, said, "system-reminder")
				}
				for _, path := range forks {
					if md := original(t, path); name == "forks" && strings.Contains(md, "forked_from_turn") {
						require.Contains(t, md, `"forked_from_turn": 2`)
					}
				}
			})
		}
	}
}

// TestForkOfAnEarlierVersion has a fork of a line of a thread that an earlier version named
// after a prompt that the thread repeats of its origin: no second fork is made.
func TestForkOfAnEarlierVersion(t *testing.T) {
	t.Parallel()
	const parent, id = "01a08000-0000-7000-8000-0000000008aa", "01a08000-0000-7000-8000-0000000008b1"
	home, store := t.TempDir(), openProjects(t)
	p := &rollout{id: parent}
	p.begin(nil)
	p.turn("PARENT", 1)
	p.save(t, home, 0, 0, 0)
	f := &rollout{id: id}
	f.begin(map[string]any{"forked_from_id": parent})
	for _, row := range p.rows {
		f.add(row["type"].(string), row["payload"].(map[string]any))
	}
	f.turn("TAKEN BACK", 2)
	f.add("event_msg", map[string]any{"type": "thread_rolled_back", "num_turns": 1})
	f.turn("OWN", 3)
	f.save(t, home, 2*time.Second, 0, 0)
	importAll(t, store, Codex, home)
	st, err := store.Store("-w")
	require.NoError(t, err)
	now, before := idOf(Codex, id+"/branch/line 9"), idOf(Codex, id+"/branch/line 5")
	require.NoError(t, os.Rename(filepath.Join(st.Dir(), now), filepath.Join(st.Dir(), before)))
	md := filepath.Join(st.Dir(), before, "metadata.json")
	require.NoError(t, os.WriteFile(md, []byte(strings.Replace(original(t, md), now, before, 1)), 0o600))
	for _, s := range importAll(t, store, Codex, home) {
		require.Equal(t, Unchanged, s.Action, s)
	}
}
