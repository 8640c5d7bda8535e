//go:build unix

package main

import (
	"encoding/xml"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rivo/uniseg"
	"github.com/stretchr/testify/require"
)

var picture = flag.String("picture", "", "file for a picture of the picker, as SVG")

// TestPickerPicture makes the picture of the picker that the README shows, where
// the flag -picture names a file. Without it the picture is made and looked at.
func TestPickerPicture(t *testing.T) {
	t.Parallel()
	const width, height = 104, 26
	p := openPane(t, width, height)
	p.talk("weather", "11111111-0000-4000-8000-000000000001", 2*time.Hour, "Which three days in July were the hottest in Lisbon?", "The 8th, the 9th and the 17th, by the daily means:\n\n   8 July  31.4 °C\n   9 July  31.9 °C\n  17 July  30.8 °C", "And in Porto?", "There is no series for Porto yet. I can fetch one.")
	p.talk("weather", "11111111-0000-4000-8000-000000000002", 5*time.Hour, "Plot the means of thirty years", "Here is the plot.")
	p.talk("weather", "11111111-0000-4000-8000-000000000003", 26*time.Hour, "Check the series for gaps", "There are two.")
	p.talk("pool", "22222222-0000-4000-8000-000000000001", 3*24*time.Hour, "Why does the connection pool leak?", "A rollback is missing.")
	p.talk("notes", "33333333-0000-4000-8000-000000000001", 9*24*time.Hour, "Sum up the meeting of Monday", "Four points.")
	p.keys("clear; sessions", "Enter")
	p.shows("▸ Which three days", "~/weather 3", "31.9", "And in Porto?", "esc quit")
	shown := p.tmux("capture-pane", "-p", "-e")
	svg := terminalSVG(strings.Split(strings.TrimRight(shown, "\n"), "\n"), width, height)
	require.NoError(t, xml.Unmarshal([]byte(svg), new(struct{})))
	require.Less(t, len(svg), 150_000)
	require.NotContains(t, svg, "\x1b")
	require.Regexp(t, `class="[^"]*bold[^"]*"[^>]*>[^<]*Which three days`, svg)
	if *picture != "" {
		require.NoError(t, os.WriteFile(*picture, []byte(svg), 0o600))
	}
}

// talk stores a session in which a person and a model speak in turn.
func (p *pane) talk(project, id string, old time.Duration, texts ...string) {
	p.t.Helper()
	work := p.session(project, id, texts[0], old)
	var rows strings.Builder
	for i, text := range texts {
		fmt.Fprintf(&rows, "{\"role\": %q, \"content\": %q}\n", []string{"user", "assistant"}[i%2], text)
	}
	found, err := filepath.Glob(filepath.Join(p.dir, "home", "projects", "*"+filepath.Base(work), "sessions", id, "transcript.jsonl"))
	require.NoError(p.t, err)
	require.Len(p.t, found, 1)
	at := time.Now().Add(-old)
	require.NoError(p.t, os.WriteFile(found[0], []byte(rows.String()), 0o600))
	require.NoError(p.t, os.Chtimes(found[0], at, at))
	require.NoError(p.t, os.Chtimes(filepath.Dir(found[0]), at, at))
}

// Measures of a cell of the terminal.
const (
	cellWidth  = 8.4
	cellHeight = 18
)

const terminalStyle = `<style>
text { font: 14px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; fill: #d5d9e0; white-space: pre }
.bold { font-weight: 700 } .dim { fill: #8b93a3 } .underline { text-decoration: underline }
.c31 { fill: #ff8a80 } .c32 { fill: #7fd18b } .c33 { fill: #e8c06a } .c34 { fill: #8ea8ff } .c35 { fill: #d79bf5 } .c36 { fill: #6cd0d8 }
rect.back { fill: #3a4150 }
</style>
`

// terminalSVG draws the lines of a terminal.
func terminalSVG(lines []string, width, height int) string {
	var out strings.Builder
	w, h := float64(width)*cellWidth+24, height*cellHeight+24
	fmt.Fprintf(&out, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %d\" width=\"%.0f\" height=\"%d\" role=\"img\" aria-label=\"The picker: sessions by project, and the chosen one beside them\">\n%s<rect width=\"%.0f\" height=\"%d\" rx=\"10\" fill=\"#14171d\"/>\n", w, h, w, h, terminalStyle, w, h)
	style := map[string]bool{} // it lasts over the ends of lines
	for i, line := range lines {
		drawLine(&out, line, 12+i*cellHeight, style)
	}
	out.WriteString("</svg>\n")
	return out.String()
}

var sequence = regexp.MustCompile("\x1b(?:\\[([0-9;]*)m|\\(.|[\x0e\x0f])|\x0e|\x0f")

// drawLine draws a line; style is what the sequences before it chose.
func drawLine(out *strings.Builder, line string, y int, style map[string]bool) {
	column := 0
	draw := func(text string) {
		cells := uniseg.StringWidth(text)
		x, length := 12+float64(column)*cellWidth, float64(cells)*cellWidth
		column += cells
		if style["reverse"] {
			fmt.Fprintf(out, "<rect class=\"back\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\"/>\n", x, y, length, cellHeight)
		}
		if strings.TrimSpace(text) == "" {
			return
		}
		var classes []string
		for _, name := range []string{"bold", "dim", "underline", "c31", "c32", "c33", "c34", "c35", "c36"} {
			if style[name] {
				classes = append(classes, name)
			}
		}
		fmt.Fprintf(out, "<text class=\"%s\" x=\"%.1f\" y=\"%d\" textLength=\"%.1f\" lengthAdjust=\"spacingAndGlyphs\">", strings.Join(classes, " "), x, y+14, length)
		_ = xml.EscapeText(out, []byte(text)) // a builder takes all
		out.WriteString("</text>\n")
	}
	for line != "" {
		at := sequence.FindStringSubmatchIndex(line)
		if at == nil {
			draw(line)
			return
		}
		if at[0] > 0 {
			draw(line[:at[0]])
		}
		if at[2] >= 0 {
			choose(style, line[at[2]:at[3]])
		}
		line = line[at[1]:]
	}
}

// choose changes a style by the numbers of a sequence.
func choose(style map[string]bool, numbers string) {
	for text := range strings.SplitSeq(numbers, ";") {
		n, _ := strconv.Atoi(text) // none is 0
		switch {
		case n == 0:
			clear(style)
		case n == 1:
			style["bold"] = true
		case n == 2 || n == 90:
			style["dim"] = true
		case n == 4:
			style["underline"] = true
		case n == 7:
			style["reverse"] = true
		case n >= 30 && n <= 39:
			for c := 30; c < 39; c++ {
				delete(style, fmt.Sprint("c", c))
			}
			style[fmt.Sprint("c", n)] = n < 39
		}
	}
}
