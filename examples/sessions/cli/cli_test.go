package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/projects"
)

func TestMain(m *testing.M) { testenv.Main(m, nil) }

func TestWords(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{0: "0", 7: "7", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1234: "-1,234"} {
		require.Equal(t, want, number(n))
	}
	require.Equal(t, "1 call", count(1, "call"))
	require.Equal(t, "2 calls", count(2, "call"))
	require.Equal(t, "2 more", count(2, "more"))
	require.Equal(t, "2 days", count(2, "day"))
	require.Equal(t, "2 histories", count(2, "history"))
	for bytes, want := range map[int64]string{
		0: "0 B", 999: "999 B", 1000: "1.0 kB", 9949: "9.9 kB", 9950: "10 kB", 999_499: "999 kB", 999_500: "1.0 MB", 12_345_678: "12 MB", 5e15: "5.0 PB", 9e18: "9000 PB",
	} {
		require.Equal(t, want, size(bytes), bytes)
	}
}

func TestShortIDs(t *testing.T) {
	t.Parallel()
	const parent, uuid = "8f14e45f-ceea-467f-9a36-5a3b2c1d0e4f", "0a1b2c3d-1111-4222-8333-444455556666"
	for _, tt := range []struct {
		ids  []string
		want []string
	}{
		{[]string{"abc", "abd"}, []string{"abc", "abd"}},
		{[]string{uuid, uuid}, []string{"0a1b2c3d", "0a1b2c3d"}},
		{[]string{uuid, "0a1b2c99-1111"}, []string{"0a1b2c3d", "0a1b2c99"}},
		{[]string{"0a1b2c3d11", "0a1b2c3d12"}, []string{"0a1b2c3d11", "0a1b2c3d12"}},
		{[]string{parent, parent + "-1a2b3c4d_explorer", parent + "-9a2b3c4d_tester"}, []string{"8f14e45f", "8f14e45f…1a2b", "8f14e45f…9a2b"}},
		{[]string{"0000000000000000-1234_a", "f", "0000000000000000-1244_b"}, []string{"00000000…34_a", "f", "00000000…44_b"}},
		{[]string{"0000000000000000-12_a", "0000000000000000-1"}, []string{"00000000…2_a", "0000000000000000-1"}},
		{[]string{"00000000-aaaaXabcd1", "00000000-aaaaYabcd2", "00000000-aaaaYYXabcd"}, []string{"00000000…Xabcd1", "00000000…abcd2", "00000000…YXab"}},
		{[]string{"weekly-report-of-payments-01", "weekly-report-of-payments-02", "weekly-report-of-payments-12"}, []string{"weekly-r…s-01", "weekly-r…s-02", "weekly-r…12"}},
		{[]string{"weekly-report-of-payments-1", "weekly-report-of-payments-11"}, []string{"weekly-report-of-payments-1", "weekly-r…s-11"}},
		{[]string{parent, parent + "-1a2b3c4d_explorer", parent + "-again"}, []string{parent, "8f14e45f…1a2b", "8f14e45f…agai"}},
	} {
		sorted := slices.Compact(slices.Sorted(slices.Values(tt.ids)))
		for i, id := range tt.ids {
			form := short(id, sorted)
			require.Equal(t, tt.want[i], form)
			if form == id {
				continue
			}
			meant, err := besideSubs("", &sessionstore.AmbiguousError{Matches: slices.DeleteFunc(slices.Clone(sorted), func(other string) bool {
				return !strings.HasPrefix(other, form) && !elided(form, other)
			})})
			require.NoError(t, err, form)
			require.Equal(t, id, meant, form)
		}
	}
	require.False(t, elided("8f14e45f", parent))
	require.True(t, elided("8f14…0e4f", parent))
	require.False(t, elided("8f14…8f14", parent))
}

func TestExplain(t *testing.T) {
	t.Parallel()
	st, err := sessionstore.Open(t.TempDir(), nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, st.Close()) }()
	_, err = st.Load(t.Context(), "nothing")
	require.Equal(t, "Session 'nothing' not found", explain(err))
	require.Equal(t, "interrupted", explain(errors.Join(errors.New("x"), context.Canceled)))

	dir := filepath.Join(st.Dir(), "damaged")
	require.NoError(t, os.Mkdir(dir, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "transcript.jsonl"), []byte("\n{bad\n"), 0o600))
	_, err = st.Load(t.Context(), "damaged")
	require.Equal(t, "Malformed JSON at line 2: invalid JSON at byte 1: key expected", explain(err))
	require.Error(t, unlessMetadata(err))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "transcript.jsonl"), nil, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "metadata.json"), []byte("{"), 0o600))
	_, err = st.Load(t.Context(), "damaged")
	require.Error(t, err)
	require.NoError(t, unlessMetadata(err))
}

func TestSlug(t *testing.T) {
	t.Parallel()
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Join(root, "known", "sessions"), 0o700))
	link := filepath.Join(root, "link")
	require.NoError(t, os.Symlink(filepath.Join(root, "known"), link))
	cwd, err := os.Getwd()
	require.NoError(t, err)
	tests := []struct {
		project string
		here    bool
		want    string
	}{
		{"", false, ""},
		{"", true, sessionstore.ProjectSlug(cwd)},
		{"known", false, "known"},
		{"unknown", false, "unknown"},
		{link, false, sessionstore.ProjectSlug(filepath.Join(root, "known"))},
		{filepath.Join(root, "gone", "away"), false, sessionstore.ProjectSlug(filepath.Join(root, "gone", "away"))},
		{"..", false, sessionstore.ProjectSlug(filepath.Dir(cwd))},
	}
	p, err := projects.Open(root, nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Close()) })
	a := &app{ctx: t.Context(), opened: p}
	for _, tt := range tests {
		got, err := where{Project: tt.project}.slug(a, p, tt.here)
		require.NoError(t, err)
		require.Equal(t, tt.want, got, tt.project)
	}
}

// run runs the tool with root as its projects.
func run(t *testing.T, out io.Writer, args ...string) (code int, stderr string) {
	t.Helper()
	var told bytes.Buffer
	code = Run(t.Context(), Process{Args: args, Stdin: strings.NewReader(""), Stdout: out, Stderr: &told, Env: func(string) string { return "" }})
	return code, told.String()
}

// TestNothingIsMade has the commands that look at what is not there.
func TestNothingIsMade(t *testing.T) {
	t.Parallel()
	root := filepath.Join(t.TempDir(), "projects")
	for _, args := range [][]string{
		{"list"},
		{"list", "--all-projects"},
		{"find"},
		{"show", "x"},
		{"info", "x"},
		{"list", "--tree", "x"},
		{"resume", "-"},
		{"diagnose", "x"},
		{"repair", "x"},
		{"fork", "x"},
		{"delete", "x", "-f"},
		{"cleanup", "-f"},
		{"complete", "--", "show", ""},
	} {
		if args[0] != "complete" {
			args = append(args, "--sessions-root="+root)
		}
		run(t, io.Discard, args...)
		require.NoDirExists(t, root, args)
	}
}

// TestFullDisk has an answer that cannot be written.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	dir := filepath.Join(root, "p", "sessions", "s")
	require.NoError(t, os.MkdirAll(dir, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "metadata.json"), []byte(`{"name": "x"}`), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "transcript.jsonl"), nil, 0o600))
	for _, args := range [][]string{{"list", "--project=p"}, {"show", "s", "--project=p"}, {"info", "s"}, {"find"}, {"list", "--tree", "s", "--project=p", "--json"}, {"completion", "bash"}} {
		if args[0] != "completion" {
			args = append(args, "--sessions-root="+root)
		}
		code, stderr := run(t, full{}, args...)
		require.Equal(t, exitError, code, args)
		require.Contains(t, stderr, "write the answer: no space", args)
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space") }

// TestHelp has every command's: a first line, and what to know.
func TestHelp(t *testing.T) {
	t.Parallel()
	parser, err := newParser(&commands{}, Process{Stdout: io.Discard, Stderr: io.Discard})
	require.NoError(t, err)
	for _, command := range parser.Model.Children {
		if command.Hidden {
			continue
		}
		for _, flags := range command.AllFlags(true) {
			for _, f := range flags {
				require.NotEmpty(t, f.Help, command.Name+" "+f.Name)
			}
		}
		t.Run(command.Name, func(t *testing.T) {
			t.Parallel()
			require.NotEmpty(t, command.Help)
			require.NotNil(t, command.Group)
			var out bytes.Buffer
			code, stderr := run(t, &out, command.Name, "--help")
			require.Equal(t, exitOK, code)
			require.Empty(t, stderr)
			require.Contains(t, out.String(), "Usage: sessions "+command.Name)
		})
	}
}

// An account that does not answer, or refuses, is told of once, and what else failed
// whole.
func TestOnce(t *testing.T) {
	t.Parallel()
	at := func(id string, err error) error { return &hybrid.Error{Op: "sync", Session: id, Err: err} }
	gone := fmt.Errorf("read head: %w: connection refused", hybrid.ErrUnreachable)
	other := fmt.Errorf("%w: %w", errors.New("one"), errors.New("two"))
	all := errors.Join(errors.Join(at("a", gone), at("b", other)), errors.Join(at("c", gone), at("d", gone)))
	require.EqualError(t, once(all), at("a", gone).Error()+"\n"+at("b", other).Error()+"\n2 more sessions: the remote cannot be reached")
	require.ErrorIs(t, once(all), hybrid.ErrUnreachable)
	denied := fmt.Errorf("read head: %w: status 403", hybrid.ErrBlocked)
	all = errors.Join(at("a", denied), at("b", denied), at("c", gone))
	require.EqualError(t, once(all), at("a", denied).Error()+"\n"+at("c", gone).Error()+"\n1 more session: the remote refuses requests")
	require.EqualError(t, once(other), other.Error())
	require.EqualError(t, once(errors.Join(at("a", gone), other)), at("a", gone).Error()+"\n"+other.Error())
}
