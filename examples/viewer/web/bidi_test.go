package web

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/eventslog"
	"github.com/amplifier-go/sessionstorage/sessionstore/workflow"
)

const turned = "photo\u202egpj.exe"

// TestBidiIsShown asks for everything that holds an override.
func TestBidiIsShown(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.create(one, map[string]any{"name": turned, "model": turned}, user(turned))
	n := s.phase(one, workflow.PhaseOutput{PhaseID: "plan", PhaseName: turned, Status: "completed", Output: new(turned), UserInput: new(turned)})
	log, err := eventslog.Open(s.dir+"/"+one, nil)
	require.NoError(t, err)
	require.NoError(t, log.Append(t.Context(), eventslog.Event{Name: turned, Data: map[string]any{"x": turned}}))
	require.NoError(t, log.Close())
	var events struct {
		Rows []struct{ At string }
	}
	s.json(api(one)+"/events", &events)
	at := "/event?at=" + url.QueryEscape(events.Rows[0].At)
	for _, path := range []string{"/p/weather", page(one), api(one) + "/phases", api(one) + "/phases/" + string(rune('0'+n)), api(one) + "/messages", api(one) + "/messages/0", api(one) + "/events", api(one) + at} {
		body := s.get(200, path)
		require.NotContains(t, body, "\u202e", path)
		require.Contains(t, body, "photo[U+202E]gpj.exe", path)
	}
	require.Contains(t, s.get(404, page("\u202e")), "[U+202E]")
	require.Contains(t, s.get(200, api(one)+"/messages/0/line"), turned, "a stored line keeps its bytes")
	require.Contains(t, s.get(200, api(one)+at+"&download"), turned)
	for _, r := range bidiControls {
		require.Regexp(t, `^\[U\+[0-9A-F]{4}\]$`, showBidi.Replace(string(r)))
	}
	require.Equal(t, "שלום café", showBidi.Replace("שלום café"))
}
