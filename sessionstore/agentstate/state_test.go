package agentstate

import (
	"encoding/json"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

func TestHistoryKeepsItemsAsTheyAre(t *testing.T) {
	t.Parallel()
	s, again := newState(t)
	ctx := t.Context()
	got, err := s.History(ctx)
	require.NoError(t, err)
	require.Empty(t, got)
	require.NoError(t, s.RecordItems(ctx, items(`{"type": "b", "b": 1.50, "a": "<x>", "n": 12345678901234567890}`, "{\n\"role\": \"\\n\"\r\n}")...))
	require.NoError(t, s.RecordItems(ctx, items(`{"type": "d", "d": NaN}`)...))
	require.NoError(t, s.RecordItems(ctx))
	got, err = again().History(ctx)
	require.NoError(t, err)
	require.Equal(t, items(`{"type": "b", "b": 1.50, "a": "<x>", "n": 12345678901234567890}`, `{ "role": "\n"  }`, `{"type": "d", "d": NaN}`), got)
	got[0][0] = 'X'
	got, err = s.History(ctx)
	require.NoError(t, err)
	require.EqualValues(t, '{', got[0][0], "a copy of its own")
}

// TestValidationRules holds the three rules for persistent data.
func TestValidationRules(t *testing.T) {
	t.Parallel()
	s, _ := newState(t)
	ctx := t.Context()
	t.Run("history items must be valid objects", func(t *testing.T) {
		for _, bad := range []string{
			``, `1`, `[]`, `null`, `{`, `{}`, `{ }`, `{"type": "` + "\xff" + `"}`,
			`{"nonsense": 1}`, `{"type": ""}`, `{"type": null, "role": 1}`, `{"role": ["user"]}`, `{"types": "message"}`, `{"content": {"role": "user"}}`,
		} {
			require.ErrorIs(t, s.RecordItems(ctx, items(`{"type": "a"}`, bad)...), ErrInvalid)
		}
		require.NoFileExists(t, path(s, historyFile), "all of them or none")
	})
	t.Run("token counts must be non-negative", func(t *testing.T) {
		require.ErrorIs(t, s.AddTokenUsage(ctx, -1), ErrInvalid)
		for _, bad := range []string{`{"total": -1}`, `{"input_tokens": -1}`, `{"completion": "1"}`, `{"prompt": 1.5}`, `3`} {
			require.ErrorIs(t, s.SetTokenInfo(ctx, json.RawMessage(bad)), ErrInvalid)
		}
	})
	t.Run("approved commands must be non-empty strings", func(t *testing.T) {
		require.ErrorIs(t, s.AddApprovedCommand(ctx, ""), ErrInvalid)
		require.ErrorIs(t, s.AddApprovedCommand(ctx, " \n"), ErrInvalid)
	})
	require.ErrorIs(t, s.SetRateLimits(ctx, json.RawMessage(`[]`)), ErrInvalid)
	require.NoFileExists(t, path(s, stateFile))
}

func TestNothingIsKnownYet(t *testing.T) {
	t.Parallel()
	s, _ := newState(t)
	list, err := s.ApprovedCommands(t.Context())
	require.NoError(t, err)
	require.Empty(t, list)
	limits, err := s.RateLimits(t.Context())
	require.NoError(t, err)
	require.Nil(t, limits)
	write(t, s, stateFile, `{"v": 1, "latestRateLimits": [], "approvedCommands": {}}`)
	_, err = s.RateLimits(t.Context())
	require.ErrorIs(t, err, ErrDamaged)
	_, err = s.ApprovedCommands(t.Context())
	require.ErrorIs(t, err, ErrDamaged)
}

func TestOperationsAreStored(t *testing.T) {
	t.Parallel()
	s, again := newState(t)
	ctx := t.Context()
	writeKey(t, s, strings.Repeat("k", keySize))
	write(t, s, stateFile, `{"v": 1, "ours": 1.50}`)
	for _, c := range []string{"ls", "cat <x>", "ls"} {
		require.NoError(t, s.AddApprovedCommand(ctx, c))
	}
	require.NoError(t, s.AddTokenUsage(ctx, 5))
	require.NoError(t, s.AddTokenUsage(ctx, 7))
	require.NoError(t, s.SetRateLimits(ctx, json.RawMessage(`{"primary": {"used_percent": 2.50}}`)))
	golden(t, "state.json", read(t, s, stateFile))

	for command, want := range map[string]bool{"ls": true, "cat <x>": true, "l": false, "": false} {
		got, err := again().IsCommandApproved(ctx, command)
		require.NoError(t, err)
		require.Equal(t, want, got, command)
	}
	list, err := again().ApprovedCommands(ctx)
	require.NoError(t, err)
	require.Equal(t, []string{"cat <x>", "ls"}, list)
	limits, err := again().RateLimits(ctx)
	require.NoError(t, err)
	require.JSONEq(t, `{"primary": {"used_percent": 2.50}}`, string(limits))
	require.NoError(t, s.SetTokenInfo(ctx, json.RawMessage(`{"total_tokens": 9, "input_tokens": 6, "output_tokens": 3, "cached": 1}`)))
	require.NoError(t, s.AddTokenUsage(ctx, 1))
	info, err := again().TokenInfo(ctx)
	require.NoError(t, err)
	require.Equal(t, TokenInfo{10, 6, 3}, info)
	require.Contains(t, read(t, s, stateFile), `"cached": 1`)
}

func TestTornAndDamagedHistory(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, before string
		want         []json.RawMessage
		damaged      bool
	}{
		{"torn", "{\"type\": \"a\"}\n{\"b\": ", items(`{"type": "a"}`, `{"type": "z"}`), false},
		{"whole without its end", "{\"type\": \"a\"}\n{\"b\": 2}", items(`{"type": "a"}`, `{"b": 2}`, `{"type": "z"}`), false},
		{"empty", "", items(`{"type": "z"}`), false},
		{"bad line", "{\"type\": \"a\"}\nnoise\n{\"b\": 2}\n", items(`{"type": "a"}`, `{"b": 2}`, `{"type": "z"}`), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, _ := newState(t)
			write(t, s, historyFile, c.before)
			require.NoError(t, s.RecordItems(t.Context(), items(`{"type": "z"}`)...))
			got, err := s.History(t.Context())
			require.Equal(t, c.want, got)
			if !c.damaged {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, ErrDamaged)
			require.ErrorContains(t, err, "line 2")
			_, err = s.Export(t.Context())
			require.ErrorIs(t, err, ErrDamaged)
			require.Contains(t, read(t, s, historyFile), "noise\n")
		})
	}
}

func TestDamagedStateComesFromTheBackup(t *testing.T) {
	t.Parallel()
	s, _ := newState(t)
	ctx := t.Context()
	require.NoError(t, s.AddApprovedCommand(ctx, "a"))
	require.NoError(t, s.AddApprovedCommand(ctx, "b"))
	write(t, s, stateFile, `{"v"`)
	require.NoError(t, s.AddApprovedCommand(ctx, "c"))
	require.Contains(t, read(t, s, stateFile), `["a", "c"]`)
	entries, err := os.ReadDir(path(s, "."))
	require.NoError(t, err)
	aside := 0
	for _, e := range entries {
		if len(e.Name()) > len(stateFile+".damaged-") && e.Name()[:len(stateFile+".damaged-")] == stateFile+".damaged-" {
			aside++
		}
	}
	require.Equal(t, 1, aside)
}

func TestFutureVersionsAreLeftAlone(t *testing.T) {
	t.Parallel()
	s, _ := newState(t)
	ctx := t.Context()
	const future = `{"v": 2}`
	write(t, s, stateFile, future)
	write(t, s, pendingFile, future)
	require.ErrorIs(t, s.RecordItems(ctx, items(`{"type": "a"}`)...), ErrVersion)
	require.ErrorIs(t, s.AddApprovedCommand(ctx, "x"), ErrVersion)
	require.ErrorIs(t, s.KeepPending(ctx, "1", json.RawMessage(`1`)), ErrVersion)
	_, err := s.Approvals(ctx)
	require.ErrorIs(t, err, ErrVersion)
	require.Equal(t, future, read(t, s, stateFile))
	require.Equal(t, future, read(t, s, pendingFile))
}

func TestNoSuchSession(t *testing.T) {
	t.Parallel()
	st, err := sessionstore.Open(t.TempDir(), nil)
	require.NoError(t, err)
	defer st.Close()
	for _, id := range []string{"", "none", "../x"} {
		_, err = Open(st, id, nil)
		require.ErrorIs(t, err, fs.ErrNotExist)
	}
}

func TestManyWritersLoseNothing(t *testing.T) {
	t.Parallel()
	_, again := newState(t)
	var wg sync.WaitGroup
	for w := range 3 {
		s := again()
		wg.Go(func() {
			for i := range 8 {
				n := strconv.Itoa(w*8 + i)
				for _, call := range []func() error{
					func() error { return s.RecordItems(t.Context(), items(`{"role": "user", "n": `+n+`}`)...) },
					func() error { return s.AddApprovedCommand(t.Context(), n) },
					func() error { return s.AddTokenUsage(t.Context(), 1) },
				} {
					if err := testenv.Retry(sessionstore.ErrLocked, call); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
	s := again()
	got, err := s.History(t.Context())
	require.NoError(t, err)
	require.Len(t, got, 24)
	info, err := s.TokenInfo(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 24, info.Total)
	raw, err := s.object(t.Context())
	require.NoError(t, err)
	list, err := commands(raw)
	require.NoError(t, err)
	require.Len(t, list, 24)
}

// TestItemsOfAnyKind records items of the kinds that agents have, and of kinds to come.
func TestItemsOfAnyKind(t *testing.T) {
	t.Parallel()
	s, again := newState(t)
	want := items(
		`{"type": "message", "role": "user", "content": []}`, `{"role": "assistant"}`, `{"type": "function_call", "call_id": "1"}`,
		`{"type": "of a kind to come", "x": {}}`, ` {"content": "a", "role": "tool"}`, `{"role": null, "type": "reasoning"}`,
	)
	require.NoError(t, s.RecordItems(t.Context(), want...))
	got, err := again().History(t.Context())
	require.NoError(t, err)
	require.Len(t, got, len(want))
}
