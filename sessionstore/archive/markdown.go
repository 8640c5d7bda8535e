package archive

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/amplifier-go/sessionstorage/sessionstore/workflow"
	"github.com/amplifier-go/sessionstorage/slice/conversation"
)

// markdown writes the document as CommonMark. Texts of the user are quoted; calls of tools
// and their results are in fences. The assistant's Markdown is kept, with open fences
// closed and its HTML as text.
func (d *document) markdown(ctx context.Context, w io.Writer) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "# %s\n\n", inline(d.Title))
	for _, f := range d.Facts {
		fmt.Fprintf(out, "- %s: %s\n", f.Name, span(f.Value))
	}
	for _, note := range d.Notes {
		fmt.Fprintf(out, "\n**Note:** %s\n", note)
	}
	for m := range d.messages(ctx) {
		if m.Starts {
			fmt.Fprintf(out, "\n## Turn %d\n", m.Turn)
		}
		fmt.Fprintf(out, "\n**%s**", inline(author(m)))
		if m.Time != "" {
			fmt.Fprintf(out, " · %s", timeText(m.Time))
		}
		out.WriteString("\n")
		if err := writeMessage(out, m, d.opts.writeImage); err != nil {
			return err
		}
	}
	if err := d.work.markdown(ctx, out); err != nil {
		return err
	}
	return out.Flush()
}

// markdown writes the phases, and the messages about the workflow.
func (w *work) markdown(ctx context.Context, out *bufio.Writer) error {
	if len(w.ids) > 0 {
		out.WriteString("\n## Phases\n")
		for p := range w.phases(ctx) {
			writePhase(out, p)
		}
		if w.err != nil {
			return w.err
		}
	}
	if len(w.Messages) > 0 {
		out.WriteString("\n## About the workflow\n")
		for _, m := range w.Messages {
			fmt.Fprintf(out, "\n**%s** · %s", inline(author(workflowMessage(m))), inline(timeText(m.CreatedAt)))
			if m.PhaseID != nil {
				fmt.Fprintf(out, " · phase %s", span(*m.PhaseID))
			}
			out.WriteString("\n")
			if err := writeMessage(out, workflowMessage(m), nil); err != nil {
				return err
			}
		}
	}
	return nil
}

func writePhase(out *bufio.Writer, p workflow.PhaseRecord) {
	fmt.Fprintf(out, "\n### %s\n\n**%s** · %s · %s\n", inline(phaseTitle(p)), inline(p.Status), span(p.PhaseID), inline(timeText(p.UpdatedAt)))
	if p.Error != nil && *p.Error != "" {
		out.WriteString("\nError:\n\n" + fence(*p.Error, ""))
	}
	for _, part := range phaseParts(p) {
		text := contain(part.Text)
		if part.Prompt {
			text = quote(text)
		}
		fmt.Fprintf(out, "\n*%s*\n\n%s", part.Name, text)
	}
}

func writeMessage(out *bufio.Writer, m conversation.Message, write imageWriter) error {
	if m.Thinking != nil {
		out.WriteString("\n" + quote("*Thinking*\n\n"+contain(m.Thinking.Text)))
	}
	if m.Text != nil {
		text := contain(m.Text.Text)
		if m.Role == "user" {
			text = quote(text)
		}
		out.WriteString("\n" + text)
	}
	if err := writeFiles(out, m.Files, write); err != nil {
		return err
	}
	for _, c := range m.Calls {
		fmt.Fprintf(out, "\nCalls %s", span(c.Name))
		switch {
		case c.Orphan:
			out.WriteString(", which has no result")
		case c.Misplaced:
			out.WriteString(", whose result is out of its place")
		}
		out.WriteString(":\n\n" + fence(c.Arguments.Text, "json"))
		if c.Result != nil {
			out.WriteString("\nResult:\n")
			if err := writeResult(out, *c.Result, write); err != nil {
				return err
			}
		}
	}
	for _, r := range m.Results {
		out.WriteString("\nResult without a call:\n")
		if err := writeResult(out, r, write); err != nil {
			return err
		}
	}
	return nil
}

func writeResult(out *bufio.Writer, r conversation.Result, write imageWriter) error {
	if r.Text.Text != "" || len(r.Files) == 0 {
		out.WriteString("\n" + fence(r.Text.Text, ""))
	}
	return writeFiles(out, r.Files, write)
}

// writeFiles writes the images that are beside the document, and the labels of other files.
func writeFiles(out *bufio.Writer, files []conversation.File, write imageWriter) error {
	for _, f := range files {
		address := ""
		if write != nil && f.Image {
			var err error
			if address, err = write(f); err != nil {
				return err
			}
		}
		if address == "" {
			fmt.Fprintf(out, "\n\\[%s\\]\n", inline(f.Label))
		} else {
			fmt.Fprintf(out, "\n![%s](<%s>)\n", inline(f.Label), address)
		}
	}
	return nil
}

// fence returns text as a block of code that nothing in it can end.
func fence(text, language string) string {
	mark := strings.Repeat("`", max(3, longest(text)+1))
	return mark + language + "\n" + strings.TrimSuffix(clean(text), "\n") + "\n" + mark + "\n"
}

// span returns text as code within a line.
func span(text string) string {
	text = strings.Join(strings.Fields(clean(text)), " ")
	if text == "" {
		return "(empty)"
	}
	mark := strings.Repeat("`", longest(text)+1)
	if strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") {
		text = " " + text + " "
	}
	return mark + text + mark
}

// longest returns the length of the longest run of backticks.
func longest(text string) (n int) {
	run := 0
	for i := range len(text) {
		if run++; text[i] != '`' {
			run = 0
		}
		n = max(n, run)
	}
	return n
}

// special are the characters that mean something in a line of Markdown.
const special = "\\`*_{}[]()<>#+-.!|~&"

// inline returns text as it reads, within a line.
func inline(text string) string {
	var b strings.Builder
	for _, r := range strings.Join(strings.Fields(clean(text)), " ") {
		if strings.ContainsRune(special, r) && r != '-' && r != '.' && r != '(' && r != ')' {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// quote puts every line into a quotation.
func quote(text string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight("> "+line, " ")
	}
	return strings.Join(lines, "\n") + "\n"
}
