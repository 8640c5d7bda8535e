package picker

import (
	"errors"
	"testing"
	"time"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign"

	tea "charm.land/bubbletea/v2"
	"github.com/stretchr/testify/require"
)

// TestOfferWords has the offer in words that people read.
func TestOfferWords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		offer Offer
		want  string
	}{
		{Offer{foreign.Claude: 12, foreign.Codex: 3}, "12 conversations of Claude Code and 3 of Codex are not here: ctrl+k i imports them"},
		{Offer{foreign.Claude: 1, foreign.Codex: 1}, "1 conversation of Claude Code and 1 of Codex are not here: ctrl+k i imports them"},
		{Offer{foreign.Claude: 1}, "1 conversation of Claude Code is not here: ctrl+k i imports it"},
		{Offer{foreign.Pi: 2, foreign.Codex: 1, foreign.Claude: 4}, "4 conversations of Claude Code, 1 of Codex and 2 of pi are not here: ctrl+k i imports them"},
		{Offer{foreign.Codex: 2}, "2 conversations of Codex are not here: ctrl+k i imports them"},
	} {
		m := newModel(t)
		require.NotContains(t, screenText(m, 100, 24), "not here")
		m.Update(Offered{c.offer})
		require.Contains(t, screenText(m, 100, 24), "\n"+c.want)
	}
}

// TestOfferComesAfterTheList asks other tools for what is not here when all
// sessions are shown, and once.
func TestOfferComesAfterTheList(t *testing.T) {
	t.Parallel()
	m, todo := newRecorded(Options{Now: time.Now, Offers: true})
	require.Equal(t, []call{{"list", 1, "", false}}, todo)
	m.Update(tea.WindowSizeMsg{Width: 100, Height: 24})
	s := at("/b", "2", "Connection pool")
	require.Equal(t, []call{{"preview", s.Key}}, did(m, Listed{Gen: 1, Sessions: []Session{s}}))
	require.Equal(t, []call{{"seek"}}, did(m, Listed{Gen: 1, Done: true}))
	m.Update(Previewed{Key: s.Key})
	m.Update(Returned{Key: s.Key})
	require.Empty(t, did(m, Listed{Gen: 2, Sessions: []Session{s}, Done: true}))
}

// TestImportKeys goes from an offer to what was imported.
func TestImportKeys(t *testing.T) {
	t.Parallel()
	m := newModel(t)
	require.Empty(t, press(m, "^i"))
	require.Equal(t, browsing, m.mode, "without an offer, the key is none")
	press(m, "^?")
	require.NotContains(t, screenText(m, 100, 24), "import")
	press(m, "esc")

	m.Update(Offered{Offer{foreign.Claude: 12, foreign.Codex: 3}})
	press(m, "^?")
	require.Contains(t, screenText(m, 100, 24), "\n  i          import what other tools have\n")
	press(m, "esc", "^i")
	require.Contains(t, screenText(m, 100, 24), "Import 12 conversations of Claude Code and 3 of Codex?  y/n")
	require.Empty(t, press(m, "n"))
	require.Equal(t, []call{{"bring"}}, press(m, "^i", "y"))
	require.Contains(t, screenText(m, 100, 24), "Importing…  esc stops")
	m.Update(Progressed{2, 15})
	require.Contains(t, screenText(m, 100, 24), "Importing… 2 of 15  esc stops")
	for _, key := range []string{"q", "enter", "d", "i", "y", "?", "tab"} {
		require.Empty(t, press(m, key), "it is waited for")
	}
	require.Equal(t, []call{{"suspend"}}, press(m, "ctrl+z"))

	require.Equal(t, []call{{"list", 2, "", false}, {"seek"}}, did(m, Imported{Report: "Imported 15 histories."})[:2])
	require.Contains(t, screenText(m, 100, 24), "Imported 15 histories.")
	require.False(t, m.offer.total() > 0, "it holds no more")
	m.Update(Listed{Gen: 2, Sessions: []Session{at("/c", "9", "New")}, Done: true})
	require.Equal(t, "9", m.list.choice().ID)
	press(m, "down")
	require.NotContains(t, screenText(m, 100, 24), "not here")

	m.Update(Offered{Offer{foreign.Codex: 1}})
	press(m, "^i", "y")
	m.Update(Imported{Report: "Imported 1 history.", Err: errors.New("disk\x1b full")})
	require.Equal(t, note{"Imported 1 history. Not all could be imported: disk\ufffd full", true}, m.note)
	m.Update(Imported{Err: errors.Join(errors.New("a"), errors.New("b"), errors.New("c"))})
	require.Equal(t, note{"Not all could be imported: a (and 2 more, which sessions import --from tells)", true}, m.note)
}

// TestImportStops stops an import with each of the keys for that. A second ctrl+c
// does not wait.
func TestImportStops(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"esc", "ctrl+c"} {
		m := newModel(t)
		m.Update(Offered{Offer{foreign.Claude: 12, foreign.Codex: 3}})
		press(m, "^i", "y")
		require.Equal(t, []call{{"stopImport"}}, press(m, key))
		require.Contains(t, screenText(m, 100, 24), "It ends with this one.")
		require.Equal(t, []call{{"quit"}}, press(m, "ctrl+c"))
		m.Update(Imported{Report: "Imported 1 history."})
		require.Equal(t, browsing, m.mode)
		m.Update(Offered{Offer{foreign.Claude: 11, foreign.Codex: 3}})
		require.Equal(t, []call{{"bring"}}, press(m, "^i", "y"))
		require.NotContains(t, screenText(m, 100, 24), "It ends")
	}
}

// TestOfferInAnEmptyList has the offer where there is nothing else to see, once.
func TestOfferInAnEmptyList(t *testing.T) {
	t.Parallel()
	m, _ := newRecorded(Options{Color: true, Now: time.Now, Offers: true})
	m.Update(tea.WindowSizeMsg{Width: 100, Height: 24})
	m.Update(Listed{Gen: 1, Done: true})
	require.Contains(t, screenText(m, 100, 24), "There are no sessions yet.")
	m.Update(Offered{Offer{foreign.Claude: 12, foreign.Codex: 3}})
	shown := screenText(m, 120, 24)
	require.Regexp(t, `There are no sessions yet\. +│ \n12 conversations of Claude Code and 3 of Codex are not here: {7,}│ \nctrl\+k i imports them {20,}│ \n`, shown)
	require.Len(t, m.footer(100), 1)
	for width := 1; width < 140; width++ {
		for height := 1; height < 20; height++ {
			require.Len(t, m.draw(width, height), height)
			for _, line := range m.draw(width, height) {
				require.LessOrEqual(t, screen.Columns(escapes.ReplaceAllString(line, "")), width)
			}
		}
	}
}

// TestOfferLeavesRoom scrolls the preview to its first line, and draws screens of
// all sizes with an offer.
func TestOfferLeavesRoom(t *testing.T) {
	t.Parallel()
	m := newModel(t)
	m.Update(Offered{Offer{foreign.Claude: 12, foreign.Codex: 3}})
	var all []Passage
	for range 60 {
		all = append(all, said("user", "more"))
	}
	m.Update(Previewed{Key: m.list.choice(), Passages: append([]Passage{said("user", "the first line")}, all...)})
	for range 200 {
		press(m, "shift+up")
	}
	require.Contains(t, screenText(m, 80, 24), "the first line")
	press(m, "shift+down", "shift+down")
	require.NotContains(t, screenText(m, 80, 24), "the first line", "it was at the end")
	for width := 1; width < 140; width++ {
		for height := 1; height < 20; height++ {
			lines := m.draw(width, height)
			require.Len(t, lines, height)
			for _, line := range lines {
				require.LessOrEqual(t, screen.Columns(escapes.ReplaceAllString(line, "")), width)
			}
		}
	}
}
