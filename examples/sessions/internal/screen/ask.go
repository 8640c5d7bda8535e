package screen

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Ask writes a question to standard error and returns the answer, a line of
// standard input without space around it. The error is io.EOF when there is
// none.
func (s *Screen) Ask(ctx context.Context, question string) (string, error) {
	if s.errTTY {
		question = Wrap(question, s.errors)
	}
	s.mu.Lock()
	s.wipe()
	fmt.Fprint(s.err, question+" ")
	s.mu.Unlock()
	type answer struct {
		line string
		err  error
	}
	got := make(chan answer, 1)
	go func() { // a read of a terminal cannot be ended: if ctx ends first, so does the process
		line, err := readLine(s.in)
		got <- answer{line, err}
	}()
	select {
	case <-ctx.Done():
		fmt.Fprintln(s.err)
		return "", ctx.Err()
	case a := <-got:
		if !s.inTTY { // the answer is not to be seen
			fmt.Fprintln(s.err)
		}
		return strings.TrimSpace(a.line), a.err
	}
}

// Confirm asks a question whose answer is yes or no. Everything but y and yes
// is no; the error is io.EOF when the input ends without an answer.
func (s *Screen) Confirm(ctx context.Context, question string) (bool, error) {
	line, err := s.Ask(ctx, question+" [y/N]:")
	line = strings.ToLower(line)
	return line == "y" || line == "yes", err
}

// readLine reads a line, byte by byte, so that the next call gets the rest.
func readLine(r io.Reader) (string, error) {
	if r == nil {
		return "", io.EOF
	}
	one := bufio.NewReaderSize(byteReader{r}, 16)
	line, err := one.ReadString('\n')
	if errors.Is(err, io.EOF) && line != "" {
		err = nil
	}
	return line, err
}

// byteReader reads one byte at a time.
type byteReader struct{ io.Reader }

func (r byteReader) Read(b []byte) (int, error) { return r.Reader.Read(b[:min(1, len(b))]) }
