package sessionstore

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/ownership"
)

func TestNewID(t *testing.T) {
	t.Parallel()
	form := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	seen := map[string]bool{}
	for range 10_000 {
		id := NewID()
		require.Regexp(t, form, id)
		require.False(t, seen[id], "twice: %s", id)
		require.NoError(t, checkID(id))
		require.True(t, IsTopLevel(id))
		seen[id] = true
	}
}

func TestNewSubID(t *testing.T) {
	t.Parallel()
	const (
		span  = "0123456789abcdef"
		trace = "aaaaaaaa0123456789abcdefbbbbbbbb"
	)
	tests := []struct{ name, parent, agent, trace, span, suffix string }{
		{"root parent, trace", NewID(), "Code Reviewer", trace, span, "code-reviewer"},
		{"root parent, no trace", NewID(), "x", "", zeroSpan, "x"},
		{"sub-session as parent", zeroSpan + "-" + span + "_a", "x", "", span, "x"},
		{"parent with a zero span", span + "-" + zeroSpan + "_a", "x", trace, span, "x"},
		{"trace in capitals", "p", "x", strings.ToUpper(trace), zeroSpan, "x"},
		{"agent of signs", "p", "//?!", "", zeroSpan, "agent"},
		{"agent with signs around", "p", "--A  b__", "", zeroSpan, "a-b"},
		{"agent in Unicode", "p", "\u212Aelvin é", "", zeroSpan, "kelvin"},
		{"agent with a dotted I", "p", "\u0130x", "", zeroSpan, "i-x"},
		{"no agent", "p", "", "", zeroSpan, "agent"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a, b := NewSubID(tt.parent, tt.agent, tt.trace), NewSubID(tt.parent, tt.agent, tt.trace)
			require.Regexp(t, "^"+tt.span+"-[0-9a-f]{16}_"+tt.suffix+"$", a)
			require.NotEqual(t, a, b)
			require.False(t, IsTopLevel(a))
			require.NoError(t, checkID(a))
			require.Empty(t, unfit(a, "windows"))
		})
	}
}

// TestKeyID has ids that every system takes and that a host can own, each for one key alone.
func TestKeyID(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, key := range []string{
		"", " ", ":", "-", "a", "A", "a:", "a-", "a/b", "a:b", "../a", "con", "\x00", "\xff", "\xfe", "é", "日本", "\u0130",
		strings.Repeat("x", 31) + ":y", strings.Repeat("x", 32) + ":y", strings.Repeat("x", 1<<16), NewID(), NewSubID("p", "x", ""),
	} {
		id := KeyID(key)
		require.Regexp(t, `^([a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?-)?[0-9a-f]{32}$`, id)
		require.True(t, ownership.ValidID(id) && IsTopLevel(id), id)
		require.NoError(t, checkID(id))
		require.Empty(t, unfit(id, "windows"))
		require.NotContains(t, seen, id, "%q and %q", key, seen[id])
		seen[id] = key
	}
}

func TestUnfitOnWindows(t *testing.T) {
	t.Parallel()
	reserved := []string{
		"CON", "con", "PRN", "aux", "NUL", "nul.txt", "COM1", "com9.log", "LPT1", "LPT¹", "COM²", "con .x", "conin$", "CONOUT$",
		"a:b", "a<b", "a>b", `a"b`, "a|b", "a?b", "a*b", "a\tb", "a\x01b", "a.", "a ", "...",
	}
	for _, id := range reserved {
		require.NotEmpty(t, unfit(id, "windows"), "%q", id)
		require.Empty(t, unfit(id, "linux"), "%q", id)
		require.Empty(t, unfit(id, "darwin"), "%q", id)
	}
	for _, id := range []string{"a", NewID(), "console", "com", "com10", "lpt0x", "a.b", ".a", "nulx", "é", strings.Repeat("x", 200)} {
		require.Empty(t, unfit(id, "windows"), "%q", id)
	}
}

func FuzzCheckID(f *testing.F) {
	for _, id := range []string{
		"", " ", ".", "..", "...", "a/b", `a\b`, "../x", "a\x00b", "CON", "con.txt", "a:b", "x ", "x.", "\u3000", "\u0085", "\xff",
		".sessionstore", NewID(), "0123456789abcdef-0123456789abcdef_agent", strings.Repeat("é", 128), "C:", `\\?\C:`, "com¹",
	} {
		f.Add(id)
	}
	base := f.TempDir()
	f.Fuzz(func(t *testing.T, id string) {
		err := checkID(id)
		if err != nil {
			if !errors.Is(err, ErrInvalidID) {
				t.Fatalf("%q: %v", id, err)
			}
			return
		}
		path := filepath.Join(base, id)
		if filepath.Dir(path) != base || filepath.Base(path) != id || !filepath.IsLocal(id) {
			t.Fatalf("%q leads to %q", id, path)
		}
		if unfit(id, "windows") == "" {
			checkWindowsName(t, id)
		}
		if len(id) > 255 || !utf8.ValidString(id) {
			t.Fatalf("%q was accepted", id)
		}
		if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
			t.Fatalf("accepted, but cannot be made: %v", err)
		}
		_ = os.Remove(path)
	})
}

// checkWindowsName requires what Windows documents of names.
func checkWindowsName(t *testing.T, id string) {
	stem, _, _ := strings.Cut(strings.ToLower(id), ".")
	switch strings.TrimRight(stem, " ") {
	case "con", "prn", "aux", "nul", "com1", "com9", "lpt1", "lpt9":
		t.Fatalf("%q is a device", id)
	}
	if strings.ContainsAny(id, "<>:\"/\\|?*\x00\n") || strings.HasSuffix(id, ".") || strings.HasSuffix(id, " ") {
		t.Fatalf("%q is no name on Windows", id)
	}
}
