package sessionstore_test

import (
	"context"
	"encoding/json"
	"math"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/amplifier-go/sessionstorage/sessionstore/projects"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// calls are the calls that take an id.
var calls = []struct {
	name string
	do   func(ctx context.Context, st *sessionstore.Store, id string) error
}{
	{"Save", func(ctx context.Context, st *sessionstore.Store, id string) error {
		return st.Save(ctx, id, nil, sessionstore.Metadata{})
	}},
	{"Create", func(ctx context.Context, st *sessionstore.Store, id string) error {
		return st.Create(ctx, id, sessionstore.Metadata{})
	}},
	{"SaveConfig", func(ctx context.Context, st *sessionstore.Store, id string) error {
		return st.SaveConfig(ctx, id, sessionstore.Metadata{})
	}},
	{"Load", func(ctx context.Context, st *sessionstore.Store, id string) error {
		_, err := st.Load(ctx, id)
		return err
	}},
	{"Messages", func(ctx context.Context, st *sessionstore.Store, id string) error {
		for _, err := range st.Messages(ctx, id) {
			if err != nil {
				return err
			}
		}
		return nil
	}},
	{"Metadata", func(ctx context.Context, st *sessionstore.Store, id string) error {
		_, err := st.Metadata(ctx, id)
		return err
	}},
	{"UpdateMetadata", func(ctx context.Context, st *sessionstore.Store, id string) error {
		_, err := st.UpdateMetadata(ctx, id, func(md *sessionstore.Metadata) error { return md.Set("n", 2) })
		return err
	}},
	{"Delete", func(ctx context.Context, st *sessionstore.Store, id string) error { return st.Delete(ctx, id) }},
}

func TestBadIDs(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, id, want string }{
		{"empty", "", "session_id cannot be empty"},
		{"space", " \t\n", "session_id cannot be empty"},
		{"unicode space", "\u3000\u0085\u001c", "session_id cannot be empty"},
		{"slash", "a/b", "Invalid session_id: a/b"},
		{"backslash", `a\b`, `Invalid session_id: a\b`},
		{"dot", ".", "Invalid session_id: ."},
		{"dots", "..", "Invalid session_id: .."},
		{"absolute", "/etc", "Invalid session_id: /etc"},
		{"NUL", "a\x00b", "embedded null byte"},
		{"256 bytes", strings.Repeat("x", 256), "longer than 255 bytes"},
		{"256 bytes in 128 characters", strings.Repeat("é", 128), "longer than 255 bytes"},
		{"not UTF-8", "a\xff", "not UTF-8"},
		{"the store's own name", ".sessionstore", "reserved"},
		{"the store's own name in capitals", ".SessionStore", "reserved"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			base := t.TempDir()
			st := open(t, filepath.Join(base, "sessions"), nil)
			for _, call := range calls {
				err := call.do(t.Context(), st, tt.id)
				require.ErrorIs(t, err, sessionstore.ErrInvalidID, call.name)
				require.ErrorContains(t, err, tt.want, call.name)
			}
			require.False(t, st.Exists(tt.id))
			require.Empty(t, tree(t, base))
		})
	}
}

func TestOddIDsAreTakenLiterally(t *testing.T) {
	t.Parallel()
	testenv.Need(t, runtime.GOOS == "linux", "other systems do not allow all of these names")
	dir := t.TempDir()
	st := open(t, dir, nil)
	for _, id := range []string{" x ", "...", ".hidden", "a:b", "-x", "a\nb", "con", "x.", strings.Repeat("x", 200), "🦊"} {
		require.NoError(t, st.Save(t.Context(), id, parse(t, user("hi")), sessionstore.Metadata{}), "%q", id)
		require.True(t, st.Exists(id), "%q", id)
		s, err := st.Load(t.Context(), id)
		require.NoError(t, err, "%q", id)
		require.Equal(t, []string{user("hi")}, lines(s.Messages))
		require.FileExists(t, filepath.Join(dir, id, transcriptFile))
	}
}

func TestBadLines(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, line string }{
		{"empty", ""},
		{"array", `[{"role": "user"}]`},
		{"number", `1`},
		{"null", `null`},
		{"string", `"user"`},
		{"torn", `{"role": "user", "cont`},
		{"two values", `{"role": "user"} {}`},
		{"two lines", "{\"role\": \"user\"}\n{}"},
		{"carriage return inside", "{\"role\":\r\"user\"}"},
		{"trailing comma", `{"role": "user",}`},
		{"raw control character", "{\"role\": \"us\x01er\"}"},
		{"bad UTF-8", "{\"role\": \"us\xffer\"}"},
		{"4301 digits", `{"role": "user", "n": 1` + strings.Repeat("0", 4300) + `}`},
		{"100,000 arrays", `{"role": "user", "n": ` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + `}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m, err := sessionstore.ParseMessage([]byte(tt.line))
			require.Error(t, err)
			require.Zero(t, m)
			require.NotContains(t, err.Error(), "user")
		})
	}
}

func TestUnstorableMessages(t *testing.T) {
	t.Parallel()
	raw := func(s string) json.RawMessage { return json.RawMessage(s) }
	type object = map[string]any
	tests := []struct {
		name  string
		value any
	}{
		{"nil", nil},
		{"array", []string{"user"}},
		{"text", "user"},
		{"no role", object{"content": "x"}},
		{"role is a number", object{"role": 1}},
		{"role is empty", object{"role": ""}},
		{"role is null", raw(`{"role": null}`)},
		{"NaN", object{"role": "user", "x": math.NaN()}},
		{"infinity", object{"role": "user", "x": math.Inf(1)}},
		{"raw NaN", raw(`{"role": "user", "x": [NaN]}`)},
		{"raw infinity", raw(`{"role": "user", "x": -Infinity}`)},
		{"overflow", raw(`{"role": "user", "x": 1e400}`)},
		{"4301 digits", raw(`{"role": "user", "x": -` + strings.Repeat("9", 4301) + `}`)},
		{"channel", object{"role": "user", "x": make(chan int)}},
		{"function", object{"role": "user", "x": func() {}}},
		{"torn", raw(`{"role": "user"`)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m, err := sessionstore.NewMessage(tt.value)
			require.ErrorIs(t, err, sessionstore.ErrUnstorable)
			require.Zero(t, m)
		})
	}
}

func TestUnstorableValuesOfMembers(t *testing.T) {
	t.Parallel()
	msg := parse(t, user("hi"))[0]
	var md sessionstore.Metadata
	for _, v := range []any{math.NaN(), math.Inf(-1), json.RawMessage(`1e999`), json.RawMessage(`{`), make(chan int)} {
		_, err := msg.With("x", v)
		require.ErrorIs(t, err, sessionstore.ErrUnstorable)
		require.ErrorIs(t, md.Set("x", v), sessionstore.ErrUnstorable)
		_, err = sessionstore.NewMetadata(map[string]any{"x": v})
		require.ErrorIs(t, err, sessionstore.ErrUnstorable)
	}
	require.Equal(t, user("hi"), string(msg.AppendTo(nil)))
	require.Equal(t, "{}", string(md.AppendTo(nil)))
}

func TestMetadataMustBeAnObject(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`[1]`, `null`, `"x"`, `1`, ``, `{`, `{} x`} {
		_, err := sessionstore.ParseMetadata([]byte(text))
		require.ErrorIs(t, err, sessionstore.ErrCorrupt, text)
		var md sessionstore.Metadata
		require.Error(t, md.UnmarshalJSON([]byte(text)), text)
	}
	_, err := sessionstore.NewMetadata([]int{1})
	require.ErrorIs(t, err, sessionstore.ErrUnstorable)
	_, err = sessionstore.NewMetadata(nil)
	require.ErrorIs(t, err, sessionstore.ErrUnstorable)
}

// TestZeroMessage shows that a save that cannot be made makes nothing.
func TestZeroMessage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	st := open(t, dir, nil)
	err := st.Save(t.Context(), "s", append(parse(t, user("hi")), sessionstore.Message{}), sessionstore.Metadata{})
	require.ErrorIs(t, err, sessionstore.ErrUnstorable)
	require.ErrorContains(t, err, "message 1")
	require.False(t, st.Exists("s"))
	require.Empty(t, tree(t, dir))
}

func TestErrorsHoldNoContent(t *testing.T) {
	t.Parallel()
	const secret = "hunter2"
	dir := t.TempDir()
	st := open(t, dir, nil)
	write(t, `{"role": "user", "content": "`+secret+`" x}`+"\n", dir, "s", transcriptFile)
	write(t, `{"password": "`+secret+`" x}`, dir, "s", metadataFile)
	_, err := st.Load(t.Context(), "s")
	require.ErrorIs(t, err, sessionstore.ErrCorrupt)
	require.NotContains(t, err.Error(), secret)
	_, err = sessionstore.NewMessage(map[string]any{"role": "user", "content": secret, "x": math.NaN()})
	require.Error(t, err)
	require.NotContains(t, err.Error(), secret)
}

// TestErrorsHoldNoNames has names of members that are secrets, beside values that are
// refused.
func TestErrorsHoldNoNames(t *testing.T) {
	t.Parallel()
	const secret = "ghp_hunter2hunter2hunter2hunter2hunter2"
	digits := strings.Repeat("7", 4301)
	dir := t.TempDir()
	st := open(t, dir, nil)
	message := parse(t, user("hi"))[0]
	for name, call := range map[string]func() error{
		"new message": func() error {
			_, err := sessionstore.NewMessage(map[string]any{"role": "user", "content": map[string]any{secret: math.Inf(1)}})
			return err
		},
		"with": func() error { _, err := message.With(secret, math.NaN()); return err },
		"with below": func() error {
			_, err := message.With("content", []any{map[string]any{secret: math.NaN()}})
			return err
		},
		"parse message": func() error {
			_, err := sessionstore.ParseMessage([]byte(`{"role": "user", "` + secret + `": ` + digits + `}`))
			return err
		},
		"parse metadata": func() error {
			_, err := sessionstore.ParseMetadata([]byte(`{"` + secret + `": {"text": ` + digits + `}}`))
			return err
		},
		"set metadata": func() error {
			var md sessionstore.Metadata
			return md.Set(secret, json.RawMessage(digits))
		},
		"format": func() error {
			_, err := sessionstore.FormatJSON(json.RawMessage(`{"`+secret+`": `+digits+`}`), 2)
			return err
		},
		"load": func() error {
			write(t, `{"role": "user", "`+secret+`": `+digits+`}`+"\n", dir, "t", transcriptFile)
			write(t, `{}`, dir, "t", metadataFile)
			_, err := st.Load(t.Context(), "t")
			return err
		},
		"metadata": func() error {
			write(t, `{"`+secret+`": `+digits+`}`, dir, "m", metadataFile)
			_, err := st.Metadata(t.Context(), "m")
			return err
		},
		"strict": func() error {
			write(t, `{"role": "user", "`+secret+`": NaN}`+"\n", dir, "n", transcriptFile)
			write(t, `{"`+secret+`": NaN}`, dir, "n", metadataFile)
			_, _, err := st.LoadStrict(t.Context(), "n")
			return err
		},
	} {
		err := call()
		require.Error(t, err, name)
		require.NotContains(t, err.Error(), secret, name)
	}
}

func TestSessionsDirectoryIsAFile(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	write(t, "mine", base, "file")
	for _, dir := range []string{"file", "file/sessions"} {
		_, err := sessionstore.Open(filepath.Join(base, dir), nil)
		require.Error(t, err, dir)
		require.ErrorContains(t, err, "file")
	}
	_, err := projects.Open(filepath.Join(base, "file"), nil)
	require.ErrorContains(t, err, "not a directory")
	require.Equal(t, map[string]string{"file": "mine"}, tree(t, base))
}

func TestSessionIsAFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, "mine", dir, "s")
	st := open(t, dir, nil)
	require.False(t, st.Exists("s"))
	for _, call := range calls {
		require.Error(t, call.do(t.Context(), st, "s"), call.name)
	}
	require.ErrorIs(t, st.Delete(t.Context(), "s"), sessionstore.ErrNotFound)
	_, err := st.Load(t.Context(), "s")
	require.ErrorIs(t, err, sessionstore.ErrNotFound)
	require.Equal(t, "mine", read(t, dir, "s"))
}

func TestMissingSession(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	st := open(t, dir, nil)
	for _, call := range calls[3:] {
		err := call.do(t.Context(), st, "s")
		require.ErrorIs(t, err, sessionstore.ErrNotFound, call.name)
		require.Equal(t, "Session 's' not found", err.Error(), call.name)
	}
	require.Empty(t, tree(t, dir))
}
