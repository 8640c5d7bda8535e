package sessionstore

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestWatch(t *testing.T) {
	t.Parallel()
	message := func(t *testing.T) Message {
		m, err := Text("user", "next", time.Date(2026, 11, 20, 6, 0, 0, 0, time.UTC))
		require.NoError(t, err)
		return m
	}
	tests := []struct {
		name   string
		change func(t *testing.T, st *Store)
		want   []Change
	}{
		{"own save", func(t *testing.T, st *Store) {
			require.NoError(t, st.Save(t.Context(), "old", []Message{message(t)}, Metadata{}))
		}, []Change{{ID: "old", File: "transcript.jsonl"}}},
		{"own appends, which exchange names", func(t *testing.T, st *Store) {
			for range 3 {
				require.NoError(t, st.Append(t.Context(), "old", message(t)))
			}
		}, []Change{{ID: "old", File: "transcript.jsonl"}}},
		{"own metadata", func(t *testing.T, st *Store) {
			_, err := st.UpdateMetadata(t.Context(), "old", func(md *Metadata) error { return md.Set("x", 1) })
			require.NoError(t, err)
		}, []Change{{ID: "old", File: "metadata.json"}}},
		{"own configuration", func(t *testing.T, st *Store) {
			require.NoError(t, st.SaveConfig(t.Context(), "old", Metadata{}))
		}, []Change{{ID: "old", File: "config.md"}}},
		{"own new session", func(t *testing.T, st *Store) {
			require.NoError(t, st.Create(t.Context(), "new", Metadata{}))
		}, []Change{{ID: "new"}, {ID: "new", File: "transcript.jsonl"}, {ID: "new", File: "metadata.json"}}},
		{"own deletion", func(t *testing.T, st *Store) {
			require.NoError(t, st.Delete(t.Context(), "old"))
		}, []Change{{ID: "old", Op: Removed}}},
		{"appended in place", func(t *testing.T, st *Store) {
			appendTo(t, st, "old", "transcript.jsonl", "{}\n")
		}, []Change{{ID: "old", File: "transcript.jsonl"}}},
		{"written in place, of the same size", func(t *testing.T, st *Store) {
			put(t, st, "old", "metadata.json", `{"session_id": "OLD"}`)
		}, []Change{{ID: "old", File: "metadata.json"}}},
		{"renamed over", func(t *testing.T, st *Store) {
			put(t, st, "old", "x.tmp", `{"session_id": "new"}`)
			dir := filepath.Join(st.Dir(), "old")
			require.NoError(t, os.Rename(filepath.Join(dir, "x.tmp"), filepath.Join(dir, "metadata.json")))
		}, []Change{{ID: "old", File: "metadata.json"}}},
		{"file removed", func(t *testing.T, st *Store) {
			require.NoError(t, os.Remove(filepath.Join(st.Dir(), "old", "metadata.json")))
		}, []Change{{ID: "old", File: "metadata.json", Op: Removed}}},
		{"logs begun and continued", func(t *testing.T, st *Store) {
			for _, name := range []string{"events.jsonl", "phase_outputs.jsonl", "session_conversation.jsonl"} {
				put(t, st, "old", name, "{}\n")
			}
		}, []Change{
			{ID: "old", File: "events.jsonl"},
			{ID: "old", File: "phase_outputs.jsonl"},
			{ID: "old", File: "session_conversation.jsonl"},
		}},
		{"append marker", func(t *testing.T, st *Store) {
			put(t, st, "old", "transcript.jsonl.append-pending", "{\"version\":1}\n")
		}, []Change{{ID: "old", File: "transcript.jsonl"}}},
		{"new session", func(t *testing.T, st *Store) {
			put(t, st, "new", "events.jsonl", "{}\n")
		}, []Change{{ID: "new"}, {ID: "new", File: "events.jsonl"}}},
		{"session removed", func(t *testing.T, st *Store) {
			require.NoError(t, os.RemoveAll(filepath.Join(st.Dir(), "old")))
		}, []Change{{ID: "old", Op: Removed}}},
		{"session renamed", func(t *testing.T, st *Store) {
			require.NoError(t, os.Rename(filepath.Join(st.Dir(), "old"), filepath.Join(st.Dir(), "new")))
		}, []Change{{ID: "old", Op: Removed}, {ID: "new"}, {ID: "new", File: "metadata.json"}}},
		{"a file in the place of a session", func(t *testing.T, st *Store) {
			require.NoError(t, os.RemoveAll(filepath.Join(st.Dir(), "old")))
			require.NoError(t, os.WriteFile(filepath.Join(st.Dir(), "old"), nil, 0o600))
		}, []Change{{ID: "old", Op: Removed}}},
		{"sessions directory removed", func(t *testing.T, st *Store) {
			require.NoError(t, os.RemoveAll(st.Dir()))
		}, []Change{{ID: "old", Op: Removed}, {ID: "other", Op: Removed}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			in(t, modes[:2], func(t *testing.T, st *Store, w *Watcher) {
				tt.change(t, st)
				for _, c := range await(t, w, tt.want...) {
					require.NotEqual(t, Rescan, c.Op)
					require.Contains(t, []string{
						"", "transcript.jsonl", "metadata.json", "events.jsonl", "config.md",
						"phase_outputs.jsonl", "session_conversation.jsonl",
					}, c.File)
				}
			})
		})
	}
}

func TestWatchTellsNothingElse(t *testing.T) {
	t.Parallel()
	inModes(t, func(t *testing.T, st *Store, w *Watcher) {
		for _, name := range []string{"transcript.jsonl.backup", "metadata.json.backup", ".transcript_abcdefgh.tmp", "metadata.json.tmp", "notes.txt"} {
			put(t, st, "old", name, "x")
		}
		put(t, st, ".sessionstore", "cursor", "x")
		require.NoError(t, os.WriteFile(filepath.Join(st.Dir(), ".old.metadata.lock"), nil, 0o600))
		require.NoError(t, os.WriteFile(filepath.Join(st.Dir(), "stray.txt"), nil, 0o600))
		// A second look at both sessions has certainly seen all of that.
		for range 2 {
			for _, id := range []string{"old", "other"} {
				appendTo(t, st, id, "metadata.json", " ")
			}
			for _, c := range await(t, w, Change{ID: "old", File: "metadata.json"}, Change{ID: "other", File: "metadata.json"}) {
				require.Equal(t, "metadata.json", c.File)
			}
		}
	})
}

func TestWatchDirectoriesMadeAnew(t *testing.T) {
	t.Parallel()
	inModes(t, func(t *testing.T, st *Store, w *Watcher) {
		session := filepath.Join(st.Dir(), "old")
		for range 3 {
			require.NoError(t, os.RemoveAll(session))
			put(t, st, "old", "transcript.jsonl", time.Now().String())
			await(t, w, Change{ID: "old", File: "transcript.jsonl"})
		}
		appendTo(t, st, "old", "transcript.jsonl", "x")
		await(t, w, Change{ID: "old", File: "transcript.jsonl"})

		require.NoError(t, os.RemoveAll(st.Dir()))
		await(t, w, Change{ID: "old", Op: Removed}, Change{ID: "other", Op: Removed})
		put(t, st, "new", "transcript.jsonl", "x")
		await(t, w, Change{ID: "new"}, Change{ID: "new", File: "transcript.jsonl"})
		put(t, st, "newer", "transcript.jsonl", "x")
		await(t, w, Change{ID: "newer", File: "transcript.jsonl"})
		appendTo(t, st, "newer", "transcript.jsonl", "x")
		await(t, w, Change{ID: "newer", File: "transcript.jsonl"})
	})
}

// TestWatchReplacedDirectory gives the name of the sessions directory to
// another one at once.
func TestWatchReplacedDirectory(t *testing.T) {
	t.Parallel()
	in(t, modes[:2], func(t *testing.T, st *Store, w *Watcher) {
		next := openWatched(t, "old", "third")
		require.NoError(t, os.Rename(st.Dir(), st.Dir()+".away"))
		require.NoError(t, os.Rename(next.Dir(), st.Dir()))
		await(t, w, Change{ID: "other", Op: Removed}, Change{ID: "third"}, Change{ID: "old"})
		appendTo(t, st, "third", "metadata.json", " ")
		await(t, w, Change{ID: "third", File: "metadata.json"})
	})
}

// TestWatchFileInPlaceOfDirectory has a sessions directory that cannot be
// listed for a while.
func TestWatchFileInPlaceOfDirectory(t *testing.T) {
	t.Parallel()
	in(t, modes[:2], func(t *testing.T, st *Store, w *Watcher) {
		require.NoError(t, os.Rename(st.Dir(), st.Dir()+".away"))
		require.NoError(t, os.WriteFile(st.Dir(), nil, 0o600))
		await(t, w, Change{ID: "old", Op: Removed}, Change{ID: "other", Op: Removed})
		require.NoError(t, os.Remove(st.Dir()))
		require.NoError(t, os.Rename(st.Dir()+".away", st.Dir()))
		await(t, w, Change{ID: "old", File: "metadata.json"}, Change{ID: "other"})
		appendTo(t, st, "old", "metadata.json", " ")
		await(t, w, Change{ID: "old", File: "metadata.json"})
	})
}
