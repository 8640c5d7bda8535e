package slice_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice"
)

// family makes sessions of nothing but metadata.
func family(t *testing.T, metadata map[string]string) *sessionstore.Store {
	t.Helper()
	st := openStore(t, "")
	for id, md := range metadata {
		put(t, st, id, map[string]string{metadataFile: md})
	}
	return st
}

func trace(t *testing.T, st *sessionstore.Store, id string) slice.Lineage {
	t.Helper()
	l, err := slice.Trace(t.Context(), st, id)
	require.NoError(t, err)
	require.Equal(t, len(l.Ancestors), l.Depth)
	return l
}

func idsOf(children []slice.Child) []string {
	ids := []string{}
	for _, c := range children {
		ids = append(ids, c.SessionID)
	}
	return ids
}

func TestTraceOfForks(t *testing.T) {
	t.Parallel()
	st := openStore(t, "")
	broken(t, st)
	for i, id := range []string{"a", "b", "c"} {
		from := append([]string{parentID}, "a", "b")[i]
		_, err := slice.Fork(t.Context(), st, from, &slice.ForkOptions{Events: true, NewID: id, Turn: new(2)})
		require.NoError(t, err)
	}
	l := trace(t, st, "c")
	require.Equal(t, []string{"b", "a", parentID}, l.Ancestors)
	require.Equal(t, "b", *l.ParentID)
	require.Equal(t, 2, *l.Turn)
	require.Empty(t, l.Children)
	l = trace(t, st, parentID)
	require.Nil(t, l.ParentID)
	require.Equal(t, []string{"a"}, idsOf(l.Children))
	require.Equal(t, 2, l.Children[0].Turns)
	require.Equal(t, filepath.Join(st.Dir(), "a"), l.Children[0].Dir)
}

func TestTraceOfCycles(t *testing.T) {
	t.Parallel()
	st := family(t, map[string]string{
		"self": `{"session_id": "self", "parent_id": "self"}`,
		"a":    `{"session_id": "a", "parent_id": "b"}`,
		"b":    `{"session_id": "b", "parent_id": "c"}`,
		"c":    `{"session_id": "c", "parent_id": "a"}`,
		"in":   `{"session_id": "in", "parent_id": "a"}`,
	})
	for id, want := range map[string][]string{"self": {}, "a": {"b", "c"}, "in": {"a", "b", "c"}} {
		l := trace(t, st, id)
		require.Equal(t, want, l.Ancestors, id)
		require.True(t, l.Cyclic)
	}
	require.Equal(t, []string{"c", "in"}, idsOf(trace(t, st, "a").Children))
	require.Equal(t, []string{"self"}, idsOf(trace(t, st, "self").Children))
}

// TestLineageOfOtherIDs forks a session whose metadata has another id than its
// directory, as both kinds of tools do: they name the parent by one or the other.
func TestLineageOfOtherIDs(t *testing.T) {
	t.Parallel()
	const row = `{"role": "user", "content": "a"}` + "\n"
	st := family(t, map[string]string{"top": `{"session_id": "top"}`})
	put(t, st, "dir", map[string]string{metadataFile: `{"session_id": "stored", "parent_id": "top"}`, transcriptFile: row})
	for id, older := range map[string]bool{"newest": false, "older": true} {
		_, err := slice.Fork(t.Context(), st, "dir", &slice.ForkOptions{NewID: id, Older: older})
		require.NoError(t, err)
	}
	l := trace(t, st, "dir")
	require.Equal(t, "stored", l.SessionID)
	require.ElementsMatch(t, []string{"newest", "older"}, idsOf(l.Children))
	require.Equal(t, []string{"dir", "top"}, trace(t, st, "newest").Ancestors)
	require.Equal(t, []string{"stored", "top"}, trace(t, st, "older").Ancestors)
	require.Equal(t, []string{"stored"}, idsOf(trace(t, st, "top").Children), "a child has its own id, and its directory")
	require.Equal(t, filepath.Join(st.Dir(), "dir"), trace(t, st, "top").Children[0].Dir)
}

func TestTraceOfAmbiguousIDs(t *testing.T) {
	t.Parallel()
	st := family(t, map[string]string{
		"r":       `{}`,
		"a":       `{"session_id": "b", "parent_id": "r"}`,
		"b":       `{"session_id": "b"}`,
		"of b":    `{"parent_id": "b"}`,
		"one":     `{"session_id": "same", "parent_id": "r"}`,
		"two":     `{"session_id": "same"}`,
		"of same": `{"parent_id": "same"}`,
		"itself":  `{"session_id": "me", "parent_id": "me"}`,
		"loop":    `{"session_id": "l", "parent_id": "m"}`,
		"back":    `{"session_id": "m", "parent_id": "loop"}`,
	})
	for id, want := range map[string][]string{"of b": {"b"}, "of same": {"same"}} {
		l := trace(t, st, id)
		require.Equal(t, want, l.Ancestors, id)
		require.False(t, l.Cyclic, id)
	}
	for id, want := range map[string][]string{"itself": {}, "loop": {"m"}, "back": {"loop"}} {
		l := trace(t, st, id)
		require.Equal(t, want, l.Ancestors, id)
		require.True(t, l.Cyclic, id)
	}
	require.Equal(t, []string{"of b"}, idsOf(trace(t, st, "a").Children), "as the reference looks for it")
	require.Equal(t, []string{"of b"}, idsOf(trace(t, st, "b").Children))
	require.Equal(t, []string{"of same"}, idsOf(trace(t, st, "two").Children))
}

func TestTraceOfOddParents(t *testing.T) {
	t.Parallel()
	st := family(t, map[string]string{
		"number": `{"parent_id": 5}`, "list": `{"parent_id": ["a"]}`, "null": `{"parent_id": null}`, "empty": `{"parent_id": ""}`,
		"gone": `{"parent_id": "nobody"}`, "outside": `{"parent_id": "../../etc"}`, "bad": `{`, "of bad": `{"parent_id": "bad"}`,
		"5": `{"session_id": 5}`,
	})
	for id, want := range map[string][]string{
		"number": {}, "list": {}, "null": {}, "empty": {}, "gone": {"nobody"}, "outside": {"../../etc"}, "of bad": {"bad"},
	} {
		l := trace(t, st, id)
		require.Equal(t, want, l.Ancestors, id)
		require.False(t, l.Cyclic)
		require.NotEmpty(t, l.Skipped, "bad is told of")
		for _, err := range l.Skipped {
			require.ErrorIs(t, err, sessionstore.ErrCorrupt)
		}
	}
	require.Equal(t, "5", trace(t, st, "5").SessionID)
	l, err := slice.Trace(t.Context(), st, "bad")
	require.ErrorIs(t, err, sessionstore.ErrCorrupt)
	require.Equal(t, "bad", l.SessionID)
	require.Equal(t, []string{"of bad"}, idsOf(l.Children))
	_, err = slice.Trace(t.Context(), st, "nobody")
	require.ErrorIs(t, err, sessionstore.ErrNotFound)
	_, err = slice.Trace(t.Context(), st, "../x")
	require.ErrorIs(t, err, sessionstore.ErrInvalidID)
}

func TestTraceSortsChildrenByTime(t *testing.T) {
	t.Parallel()
	forked := func(at string) string { return `{"parent_id": "r", "forked_at": ` + at + `}` }
	st := family(t, map[string]string{
		"r": `{}`, "first": forked(`"2026-01-01T12:00:00Z"`), "second": forked(`"2026-01-01T10:00:00-05:00"`), "third": forked(`"2026-01-01T22:00:00+05:00"`),
		"odd": forked(`"zzz"`), "odder": forked(`"yyy"`), "number": forked(`5`), "null": forked(`null`), "none_sub": `{"parent_id": "r"}`,
		".hidden": forked(`"2027-01-01T12:00:00Z"`), "deep": `{"x": {"parent_id": "r"}}`, "escaped": `{"parent\u005fid": "\u0072"}`, "twice": `{"parent_id": "r", "parent_id": "s"}`,
	})
	require.NoError(t, os.WriteFile(filepath.Join(st.Dir(), "file"), nil, 0o600))
	put(t, st, "bare", nil)
	put(t, st, "saved", map[string]string{metadataFile: "{", metadataFile + ".backup": forked(`"2025-01-01T12:00:00Z"`)})
	put(t, st, "lost", map[string]string{metadataFile + ".backup": forked(`"2024-01-01T12:00:00Z"`)})
	l := trace(t, st, "r")
	require.Equal(t, []string{"third", "second", "first", "saved", "lost", "odd", "odder", "escaped", "none_sub", "null", "number"}, idsOf(l.Children))
	require.Empty(t, l.Skipped)
	require.Nil(t, l.Children[9].ForkedAt)
}

func TestTraceReportsUnreadableSessions(t *testing.T) {
	t.Parallel()
	metadata := map[string]string{"r": `{}`, "child": `{"parent_id": "r"}`}
	for i, md := range []string{"", "{", "[]", "5", "\xff", `{"parent_id": "r"`} {
		metadata[fmt.Sprint("bad", i)] = md
	}
	st := family(t, metadata)
	require.NoError(t, os.MkdirAll(filepath.Join(st.Dir(), "directory", metadataFile), 0o700))
	l := trace(t, st, "r")
	require.Equal(t, []string{"child"}, idsOf(l.Children))
	require.Len(t, l.Skipped, 7)
}

func TestTraceEndsWithItsContext(t *testing.T) {
	t.Parallel()
	st := family(t, map[string]string{"r": `{}`})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := slice.Trace(ctx, st, "r")
	require.ErrorIs(t, err, context.Canceled)
}

// TestTraceNamesLostLinks requires that a symlink that leads nowhere hides no session, and is
// named.
func TestTraceNamesLostLinks(t *testing.T) {
	t.Parallel()
	st := family(t, map[string]string{"r": `{}`, "child": `{"parent_id": "r"}`})
	if err := os.Symlink(filepath.Join(t.TempDir(), "nothing"), filepath.Join(st.Dir(), "lost")); err != nil {
		t.Skip(err)
	}
	l := trace(t, st, "r")
	require.Equal(t, []string{"child"}, idsOf(l.Children))
	require.Len(t, l.Skipped, 1)
	require.ErrorContains(t, l.Skipped[0], "lost")
	require.ErrorContains(t, l.Skipped[0], "symlink that leads nowhere")
}
