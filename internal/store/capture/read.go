package capture

import (
	"context"
	"errors"
	"io"

	"github.com/amplifier-go/sessionstorage/internal/format/jsonl"
)

// Read hands each event of the session owner to visit, in order, and the bytes of each
// row to look, which may be nil. It returns the faults of rows. The bytes are valid until
// the next call.
func Read(ctx context.Context, r io.Reader, owner string, look func(row []byte), visit func(Event)) (found []Diagnostic, err error) {
	lines := jsonl.NewReader(r)
	for {
		if err := ctx.Err(); err != nil {
			return found, err
		}
		line, err := lines.Next()
		if errors.Is(err, io.EOF) {
			return found, nil
		}
		if err != nil {
			return found, err
		}
		if look != nil {
			look(line.Bytes)
		}
		e, counts, code := Parse(line, owner)
		if code != "" {
			found = append(found, Diagnostic{code, line.Number})
		}
		if counts {
			visit(e)
		}
	}
}
