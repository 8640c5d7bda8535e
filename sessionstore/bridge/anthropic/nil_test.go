package anthropic_test

import (
	"testing"
	"time"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/talk"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/bridge/anthropic"
)

// What is not there gives an error, or what says nothing.
func TestNothing(t *testing.T) {
	t.Parallel()
	for name, response := range map[string]*sdk.Message{"nil": nil, "a block of nothing": {Content: []sdk.ContentBlockUnion{{}}}} {
		_, err := anthropic.Message(response)
		require.Error(t, err, name)
	}
	_, err := anthropic.Message(&sdk.Message{})
	require.NoError(t, err)
	require.Zero(t, anthropic.Event(nil, time.Second))
	require.Zero(t, talk.Usage(t, anthropic.Event(&sdk.Message{}, 0)).Input)
	for _, msgs := range [][]sessionstore.Message{nil, {}} {
		params, report, err := anthropic.Params(msgs)
		require.NoError(t, err)
		require.Empty(t, params)
		require.Empty(t, report)
	}
	for _, msgs := range [][]sessionstore.Message{{{}}, {{}, {}}} { // no row was read
		_, _, err := anthropic.Params(msgs)
		require.Error(t, err)
	}
}
