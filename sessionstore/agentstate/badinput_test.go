package agentstate

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/ownership"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// TestBadState has state files with members that are extra, missing and of
// wrong types, and of other versions. A call that needs what is wrong is
// refused and the file stays; the others work and keep all that they do not
// know.
func TestBadState(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, file string
		bad        string // the calls that fail, by their letters
		want       error
	}{
		{"extra members", `{"v": 1, "ours": {"b": [1, 2.50], "a": null}, "big": 123456789012345678901234567890}`, "", nil},
		{"missing members", `{}`, "", nil},
		{"nulls", `{"v": 1, "approvedCommands": null, "tokenInfo": null, "latestRateLimits": null, "created": null}`, "", nil},
		{"commands are an object", `{"v": 1, "approvedCommands": {"ls": true}}`, "cCe", ErrDamaged},
		{"commands are a text", `{"v": 1, "approvedCommands": "ls"}`, "cCe", ErrDamaged},
		{"a command is a number", `{"v": 1, "approvedCommands": ["ls", 5]}`, "cCe", ErrDamaged},
		{"a command is empty", `{"v": 1, "approvedCommands": [""]}`, "cCe", ErrDamaged},
		{"token info is a number", `{"v": 1, "tokenInfo": 5}`, "tT", ErrDamaged},
		{"token info is an array", `{"v": 1, "tokenInfo": [5]}`, "tT", ErrDamaged},
		{"tokens are a text", `{"v": 1, "tokenInfo": {"total": "5"}}`, "tT", ErrDamaged},
		{"tokens are negative", `{"v": 1, "tokenInfo": {"total": -5}}`, "tT", ErrDamaged},
		{"tokens are a fraction", `{"v": 1, "tokenInfo": {"total_tokens": 5.5}}`, "tT", ErrDamaged},
		{"tokens are too many", `{"v": 1, "tokenInfo": {"total": 9223372036854775807}}`, "t", ErrInvalid},
		{"future version", `{"v": 2, "approvedCommands": ["ls"]}`, "cCtTrhe", ErrVersion},
		{"version 0", `{"v": 0}`, "cCtTrhe", ErrVersion},
		{"version of a wrong type", `{"v": "1"}`, "cCtTrhe", ErrVersion},
		{"an array", `[]`, "cCtTrhe", ErrDamaged},
		{"torn", `{"v": 1, "approv`, "cCtTrhe", ErrDamaged},
		{"empty", ``, "cCtTrhe", ErrDamaged},
		{"binary", "\x00\xff\xfe", "cCtTrhe", ErrDamaged},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			for letter, call := range map[string]func(s *State) error{
				"c": func(s *State) error { return s.AddApprovedCommand(ctx, "rm") },
				"C": func(s *State) error { _, err := s.IsCommandApproved(ctx, "rm"); return err },
				"t": func(s *State) error { return s.AddTokenUsage(ctx, 1) },
				"T": func(s *State) error { _, err := s.TokenInfo(ctx); return err },
				"r": func(s *State) error { return s.SetRateLimits(ctx, json.RawMessage(`{}`)) },
				"h": func(s *State) error { return s.RecordItems(ctx, items(`{"type": "a"}`)...) },
				"e": func(s *State) error { _, err := s.Export(ctx); return err },
			} {
				s, _ := newState(t)
				write(t, s, stateFile, c.file)
				err := call(s)
				if strings.Contains(c.bad, letter) {
					require.ErrorIs(t, err, c.want, letter)
					require.Equal(t, c.file, read(t, s, stateFile), letter)
					require.NoFileExists(t, path(s, historyFile), letter)
					continue
				}
				require.NoError(t, err, letter)
				for _, kept := range []string{`"ours": {"b": [1, 2.50], "a": null}`, `"big": 123456789012345678901234567890`} {
					require.Equal(t, strings.Contains(c.file, kept), strings.Contains(read(t, s, stateFile), kept), letter)
				}
			}
		})
	}
}

// TestErrorsHoldNoNames has names that are secrets for values that are refused.
func TestErrorsHoldNoNames(t *testing.T) {
	t.Parallel()
	const secret = "ghp_hunter2hunter2hunter2hunter2hunter2"
	s, _ := newState(t)
	deep := strings.Repeat("[", 1000) + strings.Repeat("]", 1000)
	for _, err := range []error{
		s.SetValue(t.Context(), secret, json.RawMessage(`{`)),
		s.SetValue(t.Context(), secret, json.RawMessage(deep)),
		s.RecordItems(t.Context(), json.RawMessage(`{"role": "user", "`+secret+`": 1`)),
		s.KeepPending(t.Context(), "1", json.RawMessage(`{"`+secret+`": `+strings.Repeat("7", 4301)+`}`)),
	} {
		require.ErrorIs(t, err, ErrInvalid)
		require.NotContains(t, err.Error(), secret)
	}
}

// TestBadPending has approvals of wrong types; none of them runs.
func TestBadPending(t *testing.T) {
	t.Parallel()
	for name, file := range map[string]string{
		"approvals are an object": `{"v": 1, "approvals": {"1": {}}}`,
		"future version":          `{"v": 2, "approvals": []}`,
		"torn":                    `{"v": 1, "appro`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := newState(t)
			write(t, s, pendingFile, file)
			_, err := s.Approvals(t.Context())
			require.Error(t, err)
			require.Error(t, s.KeepPending(t.Context(), "1", oneCall))
			require.Error(t, s.Claim(t.Context(), "1", oneCall))
			require.Equal(t, file, read(t, s, pendingFile))
		})
	}
	for name, entry := range map[string]string{
		"no object":            `17`,
		"no members":           `{}`,
		"verdict of a number":  `{"id": "1", "digest": "` + digest(oneCall) + `", "call": {"rm": 1}, "verdict": 1}`,
		"unknown verdict":      `{"id": "1", "digest": "` + digest(oneCall) + `", "call": {"rm": 1}, "verdict": "Approved"}`,
		"no digest":            `{"id": "1", "call": {"rm": 1}, "verdict": "approved"}`,
		"digest of other call": `{"id": "1", "digest": "` + digest([]byte(`2`)) + `", "call": {"rm": 1}, "verdict": "approved"}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := newState(t)
			write(t, s, pendingFile, `{"v": 1, "approvals": [`+entry+`], "ours": 1}`)
			require.Error(t, s.Claim(t.Context(), "1", oneCall))
			if strings.HasPrefix(entry, `{"id"`) { // else the id is free
				require.Error(t, s.ClaimDecided(t.Context(), "1", oneCall, Approved))
			}
			require.NoError(t, s.KeepPending(t.Context(), "2", oneCall))
			require.Contains(t, read(t, s, pendingFile), `"approvals": [`+entry+", {")
			require.Contains(t, read(t, s, pendingFile), `"ours": 1`)
		})
	}
}

// TestOversized records an item of 64 MB, or of 4 MB without [testenv.Long].
func TestOversized(t *testing.T) {
	t.Parallel()
	s, again := newState(t)
	big := json.RawMessage(`{"role": "user", "text": "` + strings.Repeat("\\u0000é ", testenv.Share(4, 4, 64)<<20/9) + `"}`)
	require.NoError(t, s.RecordItems(t.Context(), big))
	require.NoError(t, s.RecordItems(t.Context(), json.RawMessage(`{"type": "a"}`)))
	got, err := again().History(t.Context())
	require.NoError(t, err)
	require.Len(t, got, 2)
	require.True(t, string(big) == string(got[0]))
}

func TestSymlinks(t *testing.T) {
	t.Parallel()
	st := newStore(t, nil)
	outside := t.TempDir()
	err := os.Symlink(outside, filepath.Join(st.Dir(), "out"))
	testenv.Need(t, err == nil, "no symlinks here")
	if s, err := Open(st, "out", nil); err == nil {
		require.Error(t, s.RecordItems(t.Context(), items(`{"type": "a"}`)...))
		require.Error(t, s.AddApprovedCommand(t.Context(), "x"))
		_, err := s.History(t.Context())
		require.Error(t, err)
	}
	entries, err := os.ReadDir(outside)
	require.NoError(t, err)
	require.Empty(t, entries)

	s, err := Open(st, id, nil)
	require.NoError(t, err)
	before := read(t, s, "metadata.json")
	require.NoError(t, os.Symlink("metadata.json", path(s, historyFile)))
	require.Error(t, s.RecordItems(t.Context(), items(`{"type": "a"}`)...))
	_, err = s.History(t.Context())
	require.Error(t, err)
	require.Equal(t, before, read(t, s, "metadata.json"))
}

func TestFence(t *testing.T) {
	t.Parallel()
	s, _ := newState(t)
	require.NoError(t, s.RecordItems(t.Context(), items(`{"type": "a"}`)...))
	write(t, s, ownership.FenceName, "{}")
	require.ErrorIs(t, s.RecordItems(t.Context(), items(`{"type": "a"}`)...), sessionstore.ErrFenced)
	require.ErrorIs(t, s.KeepPending(t.Context(), "1", oneCall), sessionstore.ErrFenced)
	_, err := s.Export(t.Context())
	require.NoError(t, err, "reading is free")
}
