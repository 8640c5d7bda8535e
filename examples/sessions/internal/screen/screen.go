package screen

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"charm.land/lipgloss/v2"
	"golang.org/x/term"
)

// Options are the streams and settings of a screen. Env is os.Getenv when nil.
type Options struct {
	In       io.Reader
	Out, Err io.Writer
	Env      func(name string) string
	Ctx      context.Context // its end ends a write that waits for a reader; nil: none does
	Colour   string          // "always" or "never"; else colour is for terminals, unless NO_COLOR is set or TERM is dumb
}

// Screen writes the output of a command, for a person or another program, and reads
// answers. Its methods may be called by many goroutines, except [Screen.Ask] and
// [Screen.Confirm].
type Screen struct {
	in            io.Reader
	out, err      io.Writer
	ctx           context.Context
	file          io.Writer // standard output, where that is a file, which no write waits for
	outTTY        bool      // standard output is a terminal
	errTTY        bool
	inTTY         bool
	colour        bool
	width, errors int // columns of standard output, and of standard error
	pager         *exec.Cmd
	unread        atomic.Bool // the pager has ended

	mu     sync.Mutex // guards the fields below, and writing to err
	line   bool       // a line of progress is shown on err
	failed error      // the first error of writing to out
	stuck  bool       // a write waits for ever
}

// fallbackWidth is the width of a terminal that does not report it.
const fallbackWidth = 80

// New returns the screen.
func New(o Options) *Screen {
	if o.Env == nil {
		o.Env = os.Getenv
	}
	s := &Screen{in: o.In, out: o.Out, err: o.Err, ctx: o.Ctx}
	if f, ok := o.Out.(*os.File); ok {
		if fi, err := f.Stat(); err == nil && fi.Mode().IsRegular() {
			s.file = f
		}
	}
	_, s.inTTY = terminal(o.In)
	s.width, s.outTTY = terminal(o.Out)
	s.errors, s.errTTY = terminal(o.Err)
	if f, ok := o.Out.(*os.File); ok && s.outTTY {
		lipgloss.EnableLegacyWindowsANSI(f)
	}
	if n, err := strconv.Atoi(o.Env("COLUMNS")); err == nil && n > 0 {
		s.width, s.errors = n, n
	}
	switch o.Colour {
	case "always":
		s.colour = true
	case "never":
	default:
		s.colour = s.outTTY && o.Env("NO_COLOR") == "" && o.Env("TERM") != "dumb"
	}
	return s
}

// terminal reports whether stream is a terminal, and returns its width.
func terminal(stream any) (width int, ok bool) {
	f, isFile := stream.(*os.File)
	defer runtime.KeepAlive(f)
	if !isFile || !term.IsTerminal(int(f.Fd())) {
		return fallbackWidth, false
	}
	if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
		return width, true
	}
	return fallbackWidth, true
}

// Terminal reports whether standard output is a terminal: whether a person
// reads it.
func (s *Screen) Terminal() bool { return s.outTTY }

// Answers reports whether a person can be asked: standard input is a terminal, and so
// is standard error, where questions are written.
func (s *Screen) Answers() bool { return s.inTTY && s.errTTY }

// Colour reports whether standard output has colour.
func (s *Screen) Colour() bool { return s.colour }

// Width returns how many columns standard output has.
func (s *Screen) Width() int { return s.width }

// Printf writes to standard output. A terminal is shown no line that breaks within
// a word; see [Wrap].
func (s *Screen) Printf(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if s.outTTY {
		text = Wrap(text, s.width)
	}
	s.Print(text)
}

// Print writes text to standard output as it is.
func (s *Screen) Print(text string) { s.Write([]byte(text)) }

// Write writes to standard output. A line of progress vanishes before.
func (s *Screen) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wipe()
	n, err := s.send(s.out, b)
	if err != nil && s.failed == nil {
		s.failed = err
	}
	return n, err
}

// unread is how long a reader may take to read after the end of the context.
const unread = 100 * time.Millisecond

// send writes to a stream. When the context ends, a write that waits for a reader is left
// behind, and so are all later ones: the process is about to end.
func (s *Screen) send(w io.Writer, b []byte) (int, error) {
	if s.stuck {
		return 0, s.ctx.Err()
	}
	if s.ctx == nil || s.ctx.Done() == nil || w == s.file {
		return w.Write(b)
	}
	b = slices.Clone(b) // the caller may use it again
	type written struct {
		n   int
		err error
	}
	done := make(chan written, 1)
	go func() {
		n, err := w.Write(b)
		done <- written{n, err}
	}()
	select {
	case r := <-done:
		return r.n, r.err
	case <-s.ctx.Done():
	}
	select {
	case r := <-done:
		return r.n, r.err
	case <-time.After(unread):
		s.stuck, s.failed = true, cmp.Or(s.failed, s.ctx.Err())
		return 0, s.ctx.Err()
	}
}

// Leave ends all writing. Where it was called, a command that was left behind writes nothing more.
func (s *Screen) Leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stuck = true
}

// Failed returns the first error of writing to standard output, or the reason why a note
// was left behind.
func (s *Screen) Failed() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failed
}

// Notef writes a line for people to standard error, on a terminal as [Screen.Printf]
// does.
func (s *Screen) Notef(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wipe()
	text := fmt.Sprintf(format, args...)
	if s.errTTY {
		text = Wrap(text, s.errors)
	}
	_, _ = s.send(s.err, []byte(text+"\n")) // a person who does not read needs no note
}

// NoteWidth returns the number of columns of standard error, and [math.MaxInt] when that
// is no terminal.
func (s *Screen) NoteWidth() int {
	if s.errTTY {
		return s.errors
	}
	return math.MaxInt
}

// Errors returns standard error, for text that is no line of its own.
func (s *Screen) Errors() io.Writer { return s.err }

// Tint is a way to show text. The zero Tint is none.
type Tint string

// The tints.
const (
	Bold    Tint = "1"
	Dim     Tint = "2"
	Red     Tint = "31"
	Green   Tint = "32"
	Yellow  Tint = "33"
	Magenta Tint = "35"
	Cyan    Tint = "36"
)

// Paint returns text in tint where there is colour, else as it is.
func (s *Screen) Paint(tint Tint, text string) string {
	if !s.colour || tint == "" || text == "" {
		return text
	}
	return "\x1b[" + string(tint) + "m" + text + "\x1b[0m"
}

// PaintError is [Screen.Paint] for standard error.
func (s *Screen) PaintError(tint Tint, text string) string {
	if !s.errTTY {
		return text
	}
	return s.Paint(tint, text)
}

// Ago returns how long before now a time was, in at most eight columns. For a time 100
// days ago or earlier it returns the month, for the zero time nothing.
func Ago(now, then time.Time) string {
	const day = 24 * time.Hour
	d := now.Sub(then)
	switch {
	case then.IsZero():
		return ""
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return fmt.Sprintf("%d m ago", d/time.Minute)
	case d < day:
		return fmt.Sprintf("%d h ago", d/time.Hour)
	case d < 100*day:
		return fmt.Sprintf("%d d ago", d/day)
	}
	return then.In(now.Location()).Format("Jan 2006")
}
