package genai_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	sdk "google.golang.org/genai"

	"github.com/amplifier-go/sessionstorage/internal/test/talk"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/bridge/genai"
)

// What is not there gives an error, or what says nothing.
func TestNothing(t *testing.T) {
	t.Parallel()
	with := func(c *sdk.Candidate) *sdk.GenerateContentResponse {
		return &sdk.GenerateContentResponse{Candidates: []*sdk.Candidate{c}}
	}
	for name, responses := range map[string][]*sdk.GenerateContentResponse{"nothing": nil, "nil": {nil}, "no candidate": {{}}, "a nil candidate": {with(nil)}} {
		_, err := genai.Message(responses...)
		require.Error(t, err, name)
	}
	said := with(&sdk.Candidate{Content: &sdk.Content{Parts: []*sdk.Part{nil, {Text: "Yes."}, {}, nil}}})
	for want, responses := range map[string][]*sdk.GenerateContentResponse{"": {with(&sdk.Candidate{}), with(&sdk.Candidate{Content: &sdk.Content{}})}, "Yes.": {nil, said, {}}} {
		row, err := genai.Message(responses...)
		require.NoError(t, err)
		require.Equal(t, want, row.Content())
		contents, _, err := genai.Params(append(talk.Rows(t, `{"role": "user", "content": "q"}`), row))
		require.NoError(t, err)
		parts := contents[len(contents)-1].Parts
		require.NotContains(t, parts, (*sdk.Part)(nil))
		require.NotContains(t, parts, &sdk.Part{})
	}
	require.Zero(t, genai.Event(nil, time.Second))
	require.Zero(t, talk.Usage(t, genai.Event(&sdk.GenerateContentResponse{}, 0)).Input)
	for _, msgs := range [][]sessionstore.Message{nil, {}} {
		contents, report, err := genai.Params(msgs)
		require.NoError(t, err)
		require.Empty(t, contents)
		require.Empty(t, report)
	}
	for _, msgs := range [][]sessionstore.Message{{{}}, {{}, {}}} { // no row was read
		_, _, err := genai.Params(msgs)
		require.Error(t, err)
	}
}
