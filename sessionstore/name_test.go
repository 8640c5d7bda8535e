package sessionstore

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// aTime is when the tests take place.
func aTime() time.Time { return time.Date(2026, 9, 20, 8, 9, 10, 123456789, time.UTC) }

func openNamed(t *testing.T, files map[string]string) (*Store, string) {
	t.Helper()
	st, err := Open(t.TempDir(), &Options{Now: aTime})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, st.Close()) })
	dir := filepath.Join(st.Dir(), "sess")
	require.NoError(t, os.Mkdir(dir, 0o700))
	for name, content := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	}
	return st, dir
}

func TestSetName(t *testing.T) {
	t.Parallel()
	const now = "2026-09-20T08:09:10.123456+00:00"
	anyRevision := func(name, source, description string) Naming {
		return Naming{Name: name, Source: source, Description: description}
	}
	tests := []struct {
		name    string
		current string
		n       Naming
		want    string // "": unchanged
	}{
		{"generated stamps", `{}`, anyRevision("N", "generated", ""), `{"name": "N", "name_source": "generated", "name_revision": 1, "name_updated_at": "` + now + `", "name_generated_at": "` + now + `"}`},
		{"space around the name", `{}`, anyRevision("\u00a0\x1f N\u2003\n", "manual", ""), `{"name": "N", "name_source": "manual", "name_revision": 1, "name_updated_at": "` + now + `"}`},
		{"revision beyond 64 bits", `{"name_revision": 9223372036854775807}`, anyRevision("N", "manual", ""), `{"name_revision": 9223372036854775808, "name": "N", "name_source": "manual", "name_updated_at": "` + now + `"}`},
		{"negative revision", `{"name_revision": -3}`, anyRevision("N", "manual", ""), `{"name_revision": 1, "name": "N", "name_source": "manual", "name_updated_at": "` + now + `"}`},
		{"name 0 is none", `{"name": 0}`, anyRevision("N", "fallback", ""), `{"name": "N", "name_source": "fallback", "name_revision": 1, "name_updated_at": "` + now + `"}`},
		{"name -0.0e7 is none", `{"name": -0.0e7}`, anyRevision("N", "fallback", ""), `{"name": "N", "name_source": "fallback", "name_revision": 1, "name_updated_at": "` + now + `"}`},
		{"name [ ] is none", `{"name": [ ]}`, anyRevision("N", "fallback", ""), `{"name": "N", "name_source": "fallback", "name_revision": 1, "name_updated_at": "` + now + `"}`},
		{"name { } is none", `{"name": { }}`, anyRevision("N", "fallback", ""), `{"name": "N", "name_source": "fallback", "name_revision": 1, "name_updated_at": "` + now + `"}`},
		{"name false is none", `{"name": false}`, anyRevision("N", "fallback", ""), `{"name": "N", "name_source": "fallback", "name_revision": 1, "name_updated_at": "` + now + `"}`},
		{"name true is one", `{"name": true}`, anyRevision("N", "fallback", ""), ""},
		{"name [0] is one", `{"name": [0]}`, anyRevision("N", "generated", ""), ""},
		{"name {…} is one", `{"name": {"a": 0}}`, anyRevision("N", "generated", ""), ""},
		{"name 0.5 is one", `{"name": 0.5}`, anyRevision("N", "generated", ""), ""},
		{"escapes are no difference", `{"name": "\u004e", "name_source": "m\u0061nual"}`, anyRevision("N", "manual", ""), ""},
		{"same description", `{"name": "N", "name_source": "manual", "description": "d"}`, anyRevision("N", "manual", "d"), ""},
		{"expected revision holds for a generated name", `{"name": "G", "name_source": "generated", "name_revision": 2}`, Naming{Name: "N", Source: "generated", ExpectedRevision: new(1)}, ""},
		{"and not for a fallback", `{"name": "F", "name_source": "fallback", "name_revision": 2}`, Naming{Name: "N", Source: "fallback", ExpectedRevision: new(1)}, `{"name": "N", "name_source": "fallback", "name_revision": 3, "name_updated_at": "` + now + `"}`},
		{"only if missing", `{"name": "", "description": ""}`, Naming{Name: "N", Source: "manual", Description: "d", OnlyIfMissing: true}, `{"name": "N", "description": "d", "name_source": "manual", "name_revision": 1, "name_updated_at": "` + now + `", "description_updated_at": "` + now + `"}`},
		{"not UTF-8", `{}`, anyRevision("a\xffb", "manual", "\xed\xa0\x80"), `{"name": "a\ufffdb", "name_source": "manual", "name_revision": 1, "name_updated_at": "` + now + `", "description": "\ufffd", "description_updated_at": "` + now + `"}`},
		{"secrets stay", `{"api_key": "k"}`, anyRevision("N", "manual", ""), `{"api_key": "k", "name": "N", "name_source": "manual", "name_revision": 1, "name_updated_at": "` + now + `"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			st, dir := openNamed(t, map[string]string{"metadata.json": tt.current})
			md, wrote, err := st.SetName(t.Context(), "sess", tt.n)
			require.NoError(t, err)
			require.Equal(t, tt.want != "", wrote)
			stored, err := os.ReadFile(filepath.Join(dir, "metadata.json"))
			require.NoError(t, err)
			if tt.want == "" {
				require.Equal(t, tt.current, string(stored))
				return
			}
			require.Equal(t, tt.want, asciiJSON(t, stored))
			require.Equal(t, tt.want, asciiJSON(t, md.object()))
		})
	}
}

func TestSetNameRefuses(t *testing.T) {
	t.Parallel()
	st, dir := openNamed(t, nil)
	for _, n := range []Naming{
		{Name: "", Source: "manual"},
		{Name: " \u3000\x1c", Source: "manual"},
		{Name: strings.Repeat("é", 201), Source: "manual"},
		{Name: "N", Source: ""},
		{Name: "N", Source: "Manual"},
	} {
		_, wrote, err := st.SetName(t.Context(), "sess", n)
		require.ErrorIs(t, err, ErrUnstorable)
		require.False(t, wrote)
	}
	require.Empty(t, snapshot(t, dir))
	good := Naming{Name: strings.Repeat("é", 200), Source: "manual"}
	_, _, err := st.SetName(t.Context(), "nothing", good)
	require.ErrorIs(t, err, ErrNotFound)
	_, _, err = st.SetName(t.Context(), "a/b", good)
	require.ErrorIs(t, err, ErrInvalidID)
	_, wrote, err := st.SetName(t.Context(), "sess", good)
	require.NoError(t, err)
	require.True(t, wrote)
}

// TestSetNameDamaged shows what becomes of metadata that the newer tools
// cannot read: no byte is lost.
func TestSetNameDamaged(t *testing.T) {
	t.Parallel()
	const named = "{\n  \"b\": 1,\n  \"name\": \"N\",\n  \"name_source\": \"manual\",\n  \"name_revision\": 1,\n  \"name_updated_at\": \"2026-09-20T08:09:10.123456+00:00\"\n}"
	tests := []struct {
		name  string
		files map[string]string
		want  map[string]string // nil: an error, and nothing changes
	}{
		{"backup stands in", map[string]string{"metadata.json": "{", "metadata.json.backup": `{"b":1}`}, map[string]string{"metadata.json": named, "metadata.json.backup": `{"b":1}`, "metadata.json.damaged": "{"}},
		{"only the backup is there", map[string]string{"metadata.json.backup": `{"b":1}`}, map[string]string{"metadata.json": named, "metadata.json.backup": `{"b":1}`}},
		{"damaged backup is replaced", map[string]string{"metadata.json": `{"b":1}`, "metadata.json.backup": "x"}, map[string]string{"metadata.json": named, "metadata.json.backup": `{"b":1}`}},
		{"byte order mark goes", map[string]string{"metadata.json": "\xef\xbb\xbf{\"b\":1}"}, map[string]string{"metadata.json": named, "metadata.json.backup": "\xef\xbb\xbf{\"b\":1}"}},
		{"both damaged", map[string]string{"metadata.json": "{", "metadata.json.backup": "[]"}, nil},
		{"no backup", map[string]string{"metadata.json": ""}, nil},
		{"not a number for every tool", map[string]string{"metadata.json": `{"n": NaN}`}, nil},
		{"overflow cannot be written back", map[string]string{"metadata.json": `{"n": 1e400}`}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			st, dir := openNamed(t, tt.files)
			_, wrote, err := st.SetName(t.Context(), "sess", Naming{Name: "N", Source: "manual"})
			require.Equal(t, tt.want != nil, wrote)
			got := snapshot(t, dir)
			if tt.want == nil {
				require.Error(t, err)
				require.Equal(t, tt.files, got)
				return
			}
			require.NoError(t, err)
			for name, content := range got {
				if damaged, _, ok := strings.Cut(name, ".damaged-"); ok {
					delete(got, name)
					got[damaged+".damaged"] = content
				}
			}
			require.Equal(t, tt.want, got)
		})
	}
}

func TestSetNameConcurrently(t *testing.T) {
	t.Parallel()
	st, _ := openNamed(t, nil)
	const namers = 8
	errs := make(chan error, namers)
	for i := range namers {
		go func() {
			_, _, err := st.SetName(t.Context(), "sess", Naming{Name: string(rune('a' + i)), Source: "manual"})
			errs <- err
		}()
	}
	for range namers {
		require.NoError(t, <-errs)
	}
	md, err := st.Metadata(t.Context(), "sess")
	require.NoError(t, err)
	revision, _ := md.Int("name_revision")
	require.Equal(t, namers, revision)
}
