package archive

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/jsonl"
	"github.com/amplifier-go/sessionstorage/internal/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// transcript writes the lines of r, in front of which are so many blank ones, as
// the transcript, and metadata of what it learns from them.
func (l *landing) transcript(ctx context.Context, r io.Reader, blank int) error {
	created, turns := time.Time{}, 0
	err := l.tx.Dir().Replace(sessiondir.Transcript, l.core.Syncs(), l.core.Now(), func(w io.Writer) error {
		out := bufio.NewWriter(meteredWriter{w, &l.meter})
		var line []byte
		err := eachMessage(ctx, r, blank, func(m sessionstore.Message) error {
			if at, ok := m.Timestamp(); ok && created.IsZero() {
				created = at
			}
			if m.Role() == "user" {
				turns++
			}
			line = append(m.AppendTo(line[:0]), '\n')
			n, err := out.Write(line)
			l.res.Bytes += int64(n)
			return err
		})
		if err != nil {
			return err
		}
		return out.Flush()
	})
	if err != nil {
		return err
	}
	l.wrote(sessiondir.Transcript)
	if created.IsZero() {
		created = l.core.Now()
	}
	return l.setMetadata(created, turns)
}

// eachMessage calls do for each line that is not blank. The error is a
// *LineError when one is no message. It holds one line in memory.
func eachMessage(ctx context.Context, r io.Reader, blank int, do func(sessionstore.Message) error) error {
	for in := jsonl.NewReader(r); ; {
		line, err := in.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		if len(pyjson.TrimSpace(line.Bytes)) == 0 {
			continue
		}
		m, err := parseMessage(bytes.TrimRight(line.Bytes, "\r"))
		if err != nil {
			return &LineError{blank + line.Number, err}
		}
		if err := do(m); err != nil {
			return err
		}
	}
}

var (
	errNoRole  = errors.New(`it has no "role"`)
	errOddRole = errors.New(`its "role" is no text, or empty`)
)

// parseMessage returns the message of a line, or tells why it is none.
func parseMessage(line []byte) (sessionstore.Message, error) {
	m, err := sessionstore.ParseMessage(line)
	if err != nil {
		return m, err
	}
	if _, ok := m.Lookup("role"); !ok {
		return m, errNoRole
	}
	if m.Role() == "" {
		return m, errOddRole
	}
	return m, nil
}
