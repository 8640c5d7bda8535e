package archive

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/amplifier-go/sessionstorage/internal/jsonl"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// redactLine applies r to a line without its line break.
func redactLine(line []byte, r Redactor) ([]byte, error) {
	out := r.Line(line)
	if bytes.IndexByte(out, '\n') >= 0 {
		return nil, ErrRedacted
	}
	return out, nil
}

// redactMessage applies r to the line of a message.
func redactMessage(m sessionstore.Message, r Redactor) (sessionstore.Message, error) {
	line, err := redactLine(m.AppendTo(nil), r)
	if err != nil {
		return m, err
	}
	m, err = sessionstore.ParseMessage(line)
	if err != nil {
		err = fmt.Errorf("%w: %w", ErrRedacted, err)
	}
	return m, err
}

// redactMessages applies r to the lines of msgs.
func redactMessages(ctx context.Context, msgs []sessionstore.Message, r Redactor) ([]sessionstore.Message, error) {
	out := slices.Clone(msgs)
	for i, m := range out {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		m, err := redactMessage(m, r)
		if err != nil {
			return nil, fmt.Errorf("redact message %d: %w", i+1, err)
		}
		out[i] = m
	}
	return out, nil
}

// redactMetadata applies r to the lines of md.
func redactMetadata(md sessionstore.Metadata, r Redactor) (sessionstore.Metadata, error) {
	var text bytes.Buffer
	err := redactTo(&text, bytes.NewReader(md.AppendTo(nil)), r)
	if err == nil {
		md, err = sessionstore.ParseMetadata(text.Bytes())
	}
	if err != nil {
		return md, fmt.Errorf("redact metadata: %w", err)
	}
	return md, nil
}

// redactTo writes src to w with r applied to its lines. It holds one line in
// memory.
func redactTo(w io.Writer, src io.Reader, r Redactor) error {
	out := bufio.NewWriter(w)
	for in := jsonl.NewReader(src); ; {
		line, err := in.Next()
		if errors.Is(err, io.EOF) {
			return out.Flush()
		}
		if err != nil {
			return err
		}
		text, err := redactLine(line.Bytes, r)
		if err != nil {
			return fmt.Errorf("redact line %d: %w", line.Number, err)
		}
		_, err = out.Write(text)
		if err == nil && line.Ended {
			err = out.WriteByte('\n')
		}
		if err != nil {
			return err
		}
	}
}
