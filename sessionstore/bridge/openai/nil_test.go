package openai_test

import (
	"testing"
	"time"

	"github.com/openai/openai-go/v3/responses"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/talk"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/bridge/openai"
)

// What is not there gives an error, or what says nothing.
func TestNothing(t *testing.T) {
	t.Parallel()
	for name, response := range map[string]*responses.Response{"nil": nil, "a block of nothing": {Output: []responses.ResponseOutputItemUnion{{}}}} {
		_, err := openai.Message(response)
		require.Error(t, err, name)
	}
	_, err := openai.Message(&responses.Response{})
	require.NoError(t, err)
	require.Zero(t, openai.Event(nil, time.Second))
	require.Zero(t, talk.Usage(t, openai.Event(&responses.Response{}, 0)).Input)
	for _, msgs := range [][]sessionstore.Message{nil, {}} {
		params, report, err := openai.Params(msgs)
		require.NoError(t, err)
		require.Empty(t, params)
		require.Empty(t, report)
	}
	for _, msgs := range [][]sessionstore.Message{{{}}, {{}, {}}} { // no row was read
		_, _, err := openai.Params(msgs)
		require.Error(t, err)
	}
}
