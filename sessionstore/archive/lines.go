package archive

import (
	"bufio"
	"context"
	"fmt"
	"io"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// writeLines writes the transcript of session id as it stands, a message a line.
// It holds one line in memory. For a damaged transcript the error Is
// [sessionstore.ErrCorrupt], after all that could be read.
func writeLines(ctx context.Context, w io.Writer, st *sessionstore.Store, id string, r Redactor) error {
	out := bufio.NewWriter(w)
	var line []byte
	n := 0
	for m, err := range st.Messages(ctx, id) {
		if err != nil {
			if ferr := out.Flush(); ferr != nil {
				return ferr
			}
			return err
		}
		n++
		if r != nil {
			if m, err = redactMessage(m, r); err != nil {
				return fmt.Errorf("redact message %d: %w", n, err)
			}
		}
		line = append(m.AppendTo(line[:0]), '\n')
		if _, err := out.Write(line); err != nil {
			return err
		}
	}
	return out.Flush()
}
