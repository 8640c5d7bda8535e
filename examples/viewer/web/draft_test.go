package web

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/turn"
)

// TestDraft shows the beginning of what an interrupted answer had said, as text.
func TestDraft(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	prompt, err := sessionstore.Text("user", "Will it rain?", time.Unix(0, 0))
	require.NoError(t, err)
	begun, err := turn.Begin(t.Context(), s.store, one, prompt, nil)
	require.NoError(t, err)
	require.NoError(t, begun.Say(attack+strings.Repeat("é", shownDraft)))
	require.NoError(t, begun.Close())
	body := s.get(200, page(one))
	require.Regexp(t, `<li class="notice draft">.*written now: &lt;script&gt;.*é</span></li>`, body)
	require.Less(t, strings.Count(body, "é"), shownDraft/2)
	s.add(one, user("And tomorrow?"))
	require.NotContains(t, s.get(200, page(one)), "notice draft")
}
