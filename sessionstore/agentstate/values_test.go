package agentstate

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestValuesAreKeptAsTheyAre(t *testing.T) {
	t.Parallel()
	s, again := newState(t)
	require.NoError(t, s.AddApprovedCommand(t.Context(), "make"))
	none, err := s.Value(t.Context(), "a")
	require.NoError(t, err)
	require.Nil(t, none)

	for name, value := range map[string]string{
		"a":      `{"api_key": "kept",  "n": 1.50, "<": "é\u00e9\ud83d"}`,
		"b.c":    `[]`,
		"quoted": "\"a\u2028b\"",
		`"\`:     "{\n \"x\": 1e3\n}",
		"number": `123456789012345678901234567890`,
	} {
		require.NoError(t, s.SetValue(t.Context(), name, json.RawMessage(" "+value+"\n")))
		got, err := again().Value(t.Context(), name)
		require.NoError(t, err)
		require.Equal(t, value, string(got))
	}
	approved, err := s.IsCommandApproved(t.Context(), "make")
	require.NoError(t, err)
	require.True(t, approved)

	require.NoError(t, s.SetValue(t.Context(), "a", json.RawMessage("2")))
	require.NoError(t, s.SetValue(t.Context(), "b.c", json.RawMessage(" null ")))
	got, err := s.Value(t.Context(), "a")
	require.NoError(t, err)
	require.Equal(t, "2", string(got))
	none, err = s.Value(t.Context(), "b.c")
	require.NoError(t, err)
	require.Nil(t, none)
	require.NotContains(t, read(t, s, stateFile), "b.c")
}

func TestValueThatCannotBeReadBackIsRefused(t *testing.T) {
	t.Parallel()
	s, _ := newState(t)
	require.NoError(t, s.SetValue(t.Context(), "a", json.RawMessage("1")))
	before := read(t, s, stateFile)
	for _, value := range []string{
		"", "{", `{"a": NaN}`, "1 2", "\xff", strings.Repeat("9", 5000),
		strings.Repeat("[", 1200) + strings.Repeat("]", 1200),
	} {
		require.ErrorIs(t, s.SetValue(t.Context(), "a", json.RawMessage(value)), ErrInvalid, "%.20q", value)
	}
	require.ErrorIs(t, s.SetValue(t.Context(), "", json.RawMessage("1")), ErrInvalid)
	require.Equal(t, before, read(t, s, stateFile))

	write(t, s, stateFile, `{"v": 1, "values": []}`)
	_, err := s.Value(t.Context(), "a")
	require.ErrorIs(t, err, ErrDamaged)
	require.ErrorIs(t, s.SetValue(t.Context(), "a", json.RawMessage("1")), ErrDamaged)
	require.Equal(t, `{"v": 1, "values": []}`, read(t, s, stateFile))
}

func TestManyValuesAtOnceLoseNothing(t *testing.T) {
	t.Parallel()
	s, again := newState(t)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for n := range 3 {
				value := json.RawMessage(fmt.Sprint(n))
				if err := s.SetValue(t.Context(), fmt.Sprint("v", i), value); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	for i := range 8 {
		got, err := again().Value(t.Context(), fmt.Sprint("v", i))
		require.NoError(t, err)
		require.Equal(t, "2", string(got))
	}
}
