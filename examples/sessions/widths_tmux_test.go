//go:build unix

package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/require"
)

// TestWidths lists, shows, takes back, picks and reads on terminals of three widths: all
// words are there, ids and commands are in one piece, and no line was broken by the
// terminal.
func TestWidths(t *testing.T) {
	t.Parallel()
	const id = "11111111-0000-4000-8000-000000000001"
	const text = "## Found\n\nThe **cause** is in [the reader](internal/reader.go#L42), see 22222222-0000-4000-8000-000000000001.\n\n" +
		"- first, read the header and keep its length, which is needed later\n\n```go\nfunc read() error { return nil }\n```\n\n> asked for a test of the empty stream, and of another\n\n| name | before |\n|---|--:|\n| start | 20 ms |\n"
	for _, width := range []int{40, 80, 120} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			t.Parallel()
			p := openPane(t, width, 50, "PAGER=cat")
			p.talk("weather", id, 2*time.Hour, "Why does the reader hang on an empty stream?", text)
			p.talk("weather", "33333333-0000-4000-8000-000000000001", 3*time.Hour, "Plot the means of thirty years, and of the years before", "Done.")
			fits := func(screen string, words ...string) {
				for line := range strings.SplitSeq(screen, "\n") {
					require.LessOrEqual(t, ansi.StringWidth(line), width)
				}
				for _, word := range words {
					require.Contains(t, strings.ReplaceAll(screen, "\n", ""), word)
				}
			}
			p.command("cd weather; clear; sessions list")
			fits(p.shows("Title", "11111111", "33333333"), "Why does")
			p.command("clear; sessions show 11111111 -T")
			fits(p.shows("before", "20 ms"), id, "## Found", "internal/reader.go#L42", "22222222-0000-4000-8000-000000000001.", "• first, read", "  func read() error { return nil }", "│ asked for a test", "before", "─┼─")
			p.command("clear; sessions delete 33333333 --force; sessions undo --list")
			fits(p.shows("Deleted", "33333333"))
			p.command("clear")
			p.keys("sessions", "Enter")
			fits(p.shows("▸ Why does the reader", "20 ms", "enter resume"), "tab read")
			p.keys("C-k")
			fits(p.shows("d trash", "esc back"))
			p.keys("Escape")
			p.shows("enter resume")
			p.keys("Tab")
			fits(p.shows("Press a key", "## Found", "20 ms"), "  func read() error { return nil }", "internal/reader.go#L42")
		})
	}
}
