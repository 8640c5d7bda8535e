package sessionstore_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

func TestMetadataViews(t *testing.T) {
	t.Parallel()
	md := metadata(t, ` {"b": "é\ud83e\udd8a", "n": 3, "f": 3.0, "big": 9999999999999999999, "z": null, "b": "last", "neg": -7} `)
	require.Equal(t, []string{"b", "n", "f", "big", "z", "neg"}, slices.Collect(md.Keys()))
	require.Equal(t, "last", md.Text("b"))
	require.Empty(t, md.Text("n"))
	require.Empty(t, md.Text("none"))
	for name, want := range map[string]int{"n": 3, "neg": -7} {
		n, ok := md.Int(name)
		require.True(t, ok)
		require.Equal(t, want, n)
	}
	for _, name := range []string{"f", "big", "b", "z", "none"} {
		_, ok := md.Int(name)
		require.False(t, ok, name)
	}
	raw, ok := md.Lookup("z")
	require.True(t, ok)
	require.Equal(t, "null", string(raw))
	_, ok = md.Lookup("none")
	require.False(t, ok)
	for range md.Keys() {
		break // it may stop early
	}
}

func TestBundle(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text, want string
		ok         bool
	}{
		{`{"bundle": "bundle:foundation"}`, "foundation", true},
		{`{"bundle": "foundation"}`, "foundation", true},
		{`{"bundle": "bundle:bundle:x"}`, "bundle:x", true},
		{`{"bundle": "bundle:"}`, "", true},
		{`{"bundle": "unknown"}`, "", false},
		{`{"bundle": ""}`, "", false},
		{`{"bundle": 7}`, "", false},
		{`{}`, "", false},
	}
	for _, tt := range tests {
		got, ok := metadata(t, tt.text).Bundle()
		require.Equal(t, tt.ok, ok, tt.text)
		require.Equal(t, tt.want, got, tt.text)
	}
}

func TestMetadataSetAndDelete(t *testing.T) {
	t.Parallel()
	md := metadata(t, `{"a": 1, "b": 2}`)
	before := md
	require.NoError(t, md.Set("a", []any{"x", nil}))
	require.NoError(t, md.Set("c", nil))
	require.NoError(t, md.Set("u", json.RawMessage(`{"z":1e3,"y":"<\u00e9>"}`)))
	md.Delete("b")
	md.Delete("none")
	require.Equal(t, "{\n  \"a\": [\n    \"x\",\n    null\n  ],\n  \"c\": null,\n  \"u\": {\n    \"z\": 1000.0,\n    \"y\": \"<é>\"\n  }\n}",
		string(md.AppendTo(nil)))
	require.Equal(t, "{\n  \"a\": 1,\n  \"b\": 2\n}", string(before.AppendTo(nil)), "a copy is on its own")
}

// TestMetadataCannotBeChanged overwrites all that metadata takes and gives.
func TestMetadataCannotBeChanged(t *testing.T) {
	t.Parallel()
	input := []byte(`{"a": "xyz"}`)
	md, err := sessionstore.ParseMetadata(input)
	require.NoError(t, err)
	raw := json.RawMessage(`"set"`)
	require.NoError(t, md.Set("b", raw))
	value, _ := md.Lookup("a")
	for _, b := range [][]byte{input, raw, value} {
		for i := range b {
			b[i] = '!'
		}
	}
	require.Equal(t, "xyz", md.Text("a"))
	require.Equal(t, "set", md.Text("b"))
}

func TestMetadataJSON(t *testing.T) {
	t.Parallel()
	var md sessionstore.Metadata
	require.NoError(t, json.Unmarshal([]byte(`{"z":1.0,"a":{"n":12345678901234567890}}`), &md))
	out, err := json.Marshal(md)
	require.NoError(t, err)
	require.Equal(t, `{"z":1.0,"a":{"n":12345678901234567890}}`, string(out))
	require.Error(t, json.Unmarshal([]byte(`[1]`), &md))
	require.Equal(t, []string{"z", "a"}, slices.Collect(md.Keys()), "a failure changes nothing")
	_, err = json.Marshal(metadata(t, `{"n": NaN}`))
	require.ErrorContains(t, err, "NaN")
}

func TestUpdateMetadata(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	st := open(t, dir, nil)
	write(t, `{"a": 1, "password": "x", "name": "old"}`, dir, "s", metadataFile)
	write(t, user("hi")+"\n", dir, "s", transcriptFile)
	md, err := st.UpdateMetadata(t.Context(), "s", func(md *sessionstore.Metadata) error {
		md.Delete("a")
		return errors.Join(md.Set("name", "new"), md.Set("token", "y"))
	})
	require.NoError(t, err)
	require.Equal(t, "x", md.Text("password"), "what is returned is not redacted")
	require.Equal(t, "{\n  \"password\": \"[REDACTED]\",\n  \"name\": \"new\",\n  \"token\": \"[REDACTED]\"\n}", read(t, dir, "s", metadataFile))
	require.Equal(t, user("hi")+"\n", read(t, dir, "s", transcriptFile))

	stop := errors.New("stop")
	before := tree(t, dir)
	_, err = st.UpdateMetadata(t.Context(), "s", func(md *sessionstore.Metadata) error {
		md.Delete("name")
		return stop
	})
	require.ErrorIs(t, err, stop)
	require.Equal(t, before, tree(t, dir))
}

// TestSaveMergesMetadata shows which members the disk decides.
func TestSaveMergesMetadata(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	st := open(t, dir, nil)
	write(t, `{"session_id": "s", "kept": [1], "turn_count": 1, "name": "disk", "status": "done"}`, dir, "s", metadataFile)
	err := st.Save(t.Context(), "s", parse(t, user("hi")),
		metadata(t, `{"new": 1, "turn_count": 2, "name": "mine", "status": "mine", "description": "mine"}`))
	require.NoError(t, err)
	md, err := st.Metadata(t.Context(), "s")
	require.NoError(t, err)
	require.Equal(t, `{"session_id":"s","kept":[1],"turn_count":2,"name":"disk","status":"done","new":1,"description":"mine"}`, compact(t, md))
}

func compact(t *testing.T, md sessionstore.Metadata) string {
	out, err := json.Marshal(md)
	require.NoError(t, err)
	return string(out)
}

func TestEqualMetadataIsNotRewritten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var changes []string
	st := open(t, dir, &sessionstore.Options{OnChange: func(c sessionstore.Change) { changes = append(changes, c.File) }})
	md := metadata(t, `{"session_id": "s", "name": "same"}`)
	require.NoError(t, st.Save(t.Context(), "s", parse(t, user("1")), md))
	md, err := st.Metadata(t.Context(), "s")
	require.NoError(t, err)
	changes = nil
	require.NoError(t, st.Save(t.Context(), "s", parse(t, user("1"), user("2")), md))
	require.Equal(t, []string{transcriptFile}, changes)
	require.Equal(t, read(t, dir, "s", metadataFile), read(t, dir, "s", metadataBackup), "a copy, since there was no backup")
	require.NoError(t, os.WriteFile(dir+"/s/"+metadataBackup, []byte("{}"), 0o600))
	require.NoError(t, st.Save(t.Context(), "s", parse(t, user("1"), user("2"), user("3")), md))
	require.Equal(t, "{}", read(t, dir, "s", metadataBackup), "a sound backup stays")
}

func TestUnstoredRoles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	st := open(t, dir, nil)
	rows := parse(t, `{"role": "system", "n": "\ud800"}`, user("hi"), `{"role":"developer"}`, `{"role":["system"]}`, `{"role":"System"}`)
	require.NoError(t, st.Save(t.Context(), "s", rows, sessionstore.Metadata{}))
	require.Equal(t, strings.Join([]string{user("hi"), `{"role":["system"]}`, `{"role":"System"}`, ""}, "\n"), read(t, dir, "s", transcriptFile))
	require.NoError(t, st.Save(t.Context(), "t", rows[:1], sessionstore.Metadata{}))
	require.Empty(t, read(t, dir, "t", transcriptFile))
}

func TestSaveConfig(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	st := open(t, dir, nil)
	config := metadata(t, `{"providers": [{"module": "m", "api_key": "yes"}], "empty": {}}`)
	want := "---\nproviders:\n- module: m\n  api_key: 'yes'\nempty: {}\n---\n\nConfig snapshot for session s\n"
	require.NoError(t, st.SaveConfig(t.Context(), "s", config))
	require.Equal(t, want, read(t, dir, "s", "config.md"))
	require.NoError(t, st.SaveConfig(t.Context(), "s", metadata(t, `{"a": 1}`)))
	require.Equal(t, want, read(t, dir, "s", "config.md.backup"))
	require.Equal(t, "---\na: 1\n---\n\nConfig snapshot for session s\n", read(t, dir, "s", "config.md"))
}

func TestCreate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	st := open(t, dir, &sessionstore.Options{Workspace: "/home/ada"})
	require.NoError(t, st.Create(t.Context(), "s", metadata(t, `{"name": "n", "bundle": "b"}`)))
	md, err := st.Metadata(t.Context(), "s")
	require.NoError(t, err)
	require.Equal(t, []string{"name", "bundle", "session_id", "created", "model", "turn_count", "working_dir"}, slices.Collect(md.Keys()))
	require.Empty(t, read(t, dir, "s", transcriptFile))
	before := tree(t, dir)
	require.ErrorIs(t, st.Create(t.Context(), "s", sessionstore.Metadata{}), fs.ErrExist)
	require.Equal(t, before, tree(t, dir))
}
