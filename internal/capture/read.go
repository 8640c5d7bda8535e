package capture

import (
	"context"
	"errors"
	"io"

	"github.com/amplifier-go/sessionstorage/internal/jsonl"
)

// Read hands each event of the session owner to visit, in order, and each row
// as it stands to look, which may be nil. It returns what is wrong with rows. The
// bytes are valid until the next call.
func Read(ctx context.Context, r io.Reader, owner string, look func(row []byte), visit func(Event)) (found []Diagnostic, err error) {
	err = ReadRows(ctx, r, func(line jsonl.Line) error {
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
		return nil
	})
	return found, err
}

// ReadRows hands each row to visit, in order, until that fails. The bytes are
// valid during the call.
func ReadRows(ctx context.Context, r io.Reader, visit func(jsonl.Line) error) error {
	lines := jsonl.NewReader(r)
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		line, err := lines.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = visit(line)
		}
		if err != nil {
			return err
		}
	}
}
