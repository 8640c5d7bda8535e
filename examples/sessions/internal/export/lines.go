package export

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// Lines writes the transcript of session id as it stands, a message a line,
// with one line in memory at a time. r may be nil. What is damaged is an error
// that Is [sessionstore.ErrCorrupt], after all that could be read.
func Lines(ctx context.Context, st *sessionstore.Store, id string, w io.Writer, r Redactor) error {
	out := bufio.NewWriter(w)
	var line []byte
	for m, err := range st.Messages(ctx, id) {
		if err != nil {
			if ferr := out.Flush(); ferr != nil {
				return ferr
			}
			return err
		}
		line = m.AppendTo(line[:0])
		text := line
		if r != nil {
			text = r.Line(line)
		}
		if _, err := out.Write(text); err != nil {
			return err
		}
		if err := out.WriteByte('\n'); err != nil {
			return err
		}
	}
	return out.Flush()
}

// redactLines applies r to each line of a text.
func redactLines(text []byte, r Redactor) []byte {
	var out []byte
	for line := range bytes.Lines(text) {
		body := bytes.TrimRight(line, "\n")
		out = append(append(out, r.Line(body)...), line[len(body):]...)
	}
	return out
}

// words tells a number of bytes.
func words(bytes int) string {
	const kilo = 1000
	switch {
	case bytes < kilo:
		return fmt.Sprintf("%d B", bytes)
	case bytes < kilo*kilo:
		return fmt.Sprintf("%.1f kB", float64(bytes)/kilo)
	}
	return fmt.Sprintf("%.1f MB", float64(bytes)/kilo/kilo)
}
