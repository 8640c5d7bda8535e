package slice_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice"
)

func TestFork(t *testing.T) {
	t.Parallel()
	st := openStore(t, "")
	broken(t, st)
	before := get(t, st, parentID)
	done, err := slice.Fork(t.Context(), st, parentID, &slice.ForkOptions{Turn: new(2), NewID: "child", Events: true, Older: true})
	require.NoError(t, err)
	require.Equal(t, slice.Forked{ID: "child", ParentID: parentID, Turn: 2, Messages: 4, Events: 5}, done)
	require.Equal(t, map[string]string{
		transcriptFile: firstTwo,
		eventsFile:     renamed(twoEvents, "child"),
		metadataFile: `{
  "session_id": "child",
  "parent_id": "parent",
  "forked_from_turn": 2,
  "forked_at": "2026-11-18T12:00:00+00:00",
  "created": "2026-11-18T12:00:00+00:00",
  "turn_count": 2,
  "bundle": "bundle:b",
  "model": null,
  "working_dir": "/w"
}`,
	}, get(t, st, "child"))
	require.Equal(t, before, get(t, st, parentID))
	info, err := os.Stat(filepath.Join(st.Dir(), "child", eventsFile))
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o600), info.Mode().Perm())
}

func TestForkDefaults(t *testing.T) {
	t.Parallel()
	st := openStore(t, "")
	broken(t, st)
	done, err := slice.Fork(t.Context(), st, parentID, &slice.ForkOptions{Events: true})
	require.NoError(t, err)
	require.Len(t, done.ID, 36)
	require.Equal(t, 3, done.Turn)
	require.Equal(t, 7, done.Messages)
	require.Equal(t, 7, done.Events)
	ok, err := slice.Healthy(t.Context(), st, done.ID)
	require.NoError(t, err)
	require.False(t, ok, "the result of a call is the last row, as in the reference")

	done, err = slice.Fork(t.Context(), st, parentID, &slice.ForkOptions{Orphans: slice.Remove})
	require.NoError(t, err)
	require.NotContains(t, get(t, st, done.ID), eventsFile)
	require.Equal(t, 0, done.Events)
}

func TestForkRefusals(t *testing.T) {
	t.Parallel()
	st := openStore(t, "")
	broken(t, st)
	put(t, st, "other", map[string]string{metadataFile: `{}`})
	put(t, st, "mute", map[string]string{transcriptFile: said("assistant", "a", 1)})
	put(t, st, "empty", map[string]string{transcriptFile: ""})
	before := filesBelow(t, st.Dir())
	for _, tt := range []struct {
		name, parent string
		opts         slice.ForkOptions
		is           error
		text         string
	}{
		{"turn zero", parentID, slice.ForkOptions{Turn: new(0)}, nil, "Turn 0 out of range. Valid range: 1-3"},
		{"negative turn", parentID, slice.ForkOptions{Turn: new(-1)}, nil, "Turn -1 out of range. Valid range: 1-3"},
		{"turn beyond the last", parentID, slice.ForkOptions{Turn: new(4)}, nil, "Turn 4 out of range. Valid range: 1-3"},
		{"no user rows", "mute", slice.ForkOptions{}, nil, "Cannot fork: session has no user messages"},
		{"nothing", "empty", slice.ForkOptions{}, nil, "Cannot fork: session has no user messages"},
		{"no transcript", "other", slice.ForkOptions{}, fs.ErrNotExist, "No transcript.jsonl in " + filepath.Join(st.Dir(), "other") + ". This doesn't appear to be a valid session directory."},
		{"no parent", "nobody", slice.ForkOptions{}, sessionstore.ErrNotFound, "Session 'nobody' not found"},
		{"a parent outside", "../x", slice.ForkOptions{}, sessionstore.ErrInvalidID, "Invalid session_id: ../x"},
		{"unknown mode", parentID, slice.ForkOptions{Orphans: 7}, nil, "Unknown handle_orphaned_tools value: '7'. Expected 'complete', 'remove', or 'error'."},
		{"orphans refused", parentID, slice.ForkOptions{Orphans: slice.Refuse}, nil, "Orphaned tool calls at fork boundary: ['t1']. These tool_use blocks have no matching tool_result."},
		{"onto itself", parentID, slice.ForkOptions{NewID: parentID}, fs.ErrExist, ""},
		{"onto another", parentID, slice.ForkOptions{NewID: "other"}, fs.ErrExist, ""},
		{"escaping id", parentID, slice.ForkOptions{NewID: "../../x"}, sessionstore.ErrInvalidID, ""},
		{"id with a backslash", parentID, slice.ForkOptions{NewID: `a\b`}, sessionstore.ErrInvalidID, ""},
		{"id of white space", parentID, slice.ForkOptions{NewID: " "}, sessionstore.ErrInvalidID, ""},
		{"long id", parentID, slice.ForkOptions{NewID: strings.Repeat("x", 256)}, sessionstore.ErrInvalidID, ""},
		{"reserved id", parentID, slice.ForkOptions{NewID: ".sessionstore"}, sessionstore.ErrInvalidID, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			done, err := slice.Fork(t.Context(), st, tt.parent, &tt.opts)
			require.Error(t, err)
			require.Zero(t, done)
			if tt.is != nil {
				require.ErrorIs(t, err, tt.is)
			}
			if tt.text != "" {
				require.EqualError(t, err, tt.text)
			}
			require.Equal(t, before, filesBelow(t, st.Dir()))
		})
	}
}

// filesBelow returns what is in all sessions.
func filesBelow(t *testing.T, dir string) map[string]map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	all := map[string]map[string]string{}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") {
			all[e.Name()] = filesIn(t, filepath.Join(dir, e.Name()))
		}
	}
	return all
}

func TestForkOfDamage(t *testing.T) {
	t.Parallel()
	torn := firstTwo + `{"role": "us`
	for _, tt := range []struct {
		name, rows        string
		files             map[string]string
		skipped           int
		recovered, damage bool
	}{
		{"without a backup", firstTwo, map[string]string{transcriptFile: torn}, 0, false, true},
		{"beside a good backup", said("user", "old", 1), map[string]string{transcriptFile: torn, transcriptFile + ".backup": said("user", "old", 1)}, 0, true, false},
		{"the backup alone", firstTwo, map[string]string{transcriptFile + ".backup": firstTwo}, 0, false, false},
		{"values", firstTwo, map[string]string{transcriptFile: firstTwo + "5\n[1]\nnull\n"}, 3, false, false},
		{"metadata", firstTwo, map[string]string{transcriptFile: firstTwo, metadataFile: "{"}, 0, false, true},
		{"metadata that are no object", firstTwo, map[string]string{transcriptFile: firstTwo, metadataFile: "[]"}, 0, false, true},
		{"metadata with a good backup", firstTwo, map[string]string{transcriptFile: firstTwo, metadataFile: "{", metadataFile + ".backup": "{}"}, 0, true, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			st := openStore(t, "")
			put(t, st, parentID, tt.files)
			done, err := slice.Fork(t.Context(), st, parentID, &slice.ForkOptions{NewID: "child", Events: true})
			require.NoError(t, err)
			require.Equal(t, tt.rows, get(t, st, "child")[transcriptFile])
			require.Equal(t, tt.skipped, done.SkippedLines)
			require.Equal(t, tt.recovered, done.Recovered != nil)
			require.Equal(t, tt.damage, errors.Is(done.Damage, sessionstore.ErrCorrupt))
			require.Equal(t, tt.files, get(t, st, parentID))
		})
	}
}

func TestForkOfNothingReadable(t *testing.T) {
	t.Parallel()
	st := openStore(t, "")
	put(t, st, parentID, map[string]string{transcriptFile: "\xff\xff"})
	_, err := slice.Fork(t.Context(), st, parentID, &slice.ForkOptions{Events: true})
	require.ErrorIs(t, err, sessionstore.ErrCorrupt, "not that there are no turns")
}

func TestForkKeepsOddMetadata(t *testing.T) {
	t.Parallel()
	st := openStore(t, "")
	put(t, st, parentID, map[string]string{transcriptFile: firstTwo, metadataFile: `{"session_id": null, "bundle": {"api_key": "k", "n": 1.50}, "model": ["m"]}`})
	done, err := slice.Fork(t.Context(), st, parentID, &slice.ForkOptions{NewID: "child", Events: true, Older: true})
	require.NoError(t, err)
	require.Empty(t, done.ParentID)
	md := get(t, st, "child")[metadataFile]
	require.Contains(t, md, `"parent_id": null`)
	require.Contains(t, md, `"api_key": "[REDACTED]"`)
	require.Contains(t, md, `"n": 1.5`)
	require.NotContains(t, md, "working_dir")
}

// TestForkStaysInItsWorkspace requires the parent's working_dir behind what the
// newest CLI writes.
func TestForkStaysInItsWorkspace(t *testing.T) {
	t.Parallel()
	st := openStore(t, "")
	put(t, st, parentID, map[string]string{transcriptFile: firstTwo, metadataFile: parentMeta})
	_, err := slice.Fork(t.Context(), st, parentID, &slice.ForkOptions{NewID: "child"})
	require.NoError(t, err)
	md, err := st.Metadata(t.Context(), "child")
	require.NoError(t, err)
	require.Equal(t, []string{
		"session_id", "parent_id", "forked_from_turn", "fork_cost_boundary", "forked_at", "session_visibility",
		"created", "turn_count", "bundle", "model", "working_dir",
	}, slices.Collect(md.Keys()))
	require.Equal(t, "/w", md.Text("working_dir"))
}

func TestForkEndsWithItsContext(t *testing.T) {
	t.Parallel()
	st := openStore(t, "")
	broken(t, st)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := slice.Fork(ctx, st, parentID, &slice.ForkOptions{NewID: "child", Events: true})
	require.ErrorIs(t, err, context.Canceled)
	require.False(t, st.Exists("child"))
}

func TestForksAtTheSameTime(t *testing.T) {
	t.Parallel()
	st := openStore(t, "")
	broken(t, st)
	const forks = 8
	errs := make(chan error, forks)
	for range forks {
		go func() {
			_, err := slice.Fork(t.Context(), st, parentID, &slice.ForkOptions{NewID: "child", Events: true})
			errs <- err
		}()
	}
	made := 0
	for range forks {
		if err := <-errs; err == nil {
			made++
		} else {
			require.ErrorIs(t, err, fs.ErrExist)
		}
	}
	require.Equal(t, 1, made)
	require.Len(t, get(t, st, "child"), 3)
}
