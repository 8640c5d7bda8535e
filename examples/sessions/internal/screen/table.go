package screen

import (
	"cmp"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
)

// Column is a column of a table.
type Column struct {
	Title string
	Right bool // cells end at the right
	Min   int  // cells may be cut to so many columns; 0: never, unless nothing else helps
	Whole bool // cut cells do not end in "…": the rest can be used, as the beginning of an id
	Drop  int  // 0: it stays; else the column of the highest number goes first where the terminal is too narrow
	Tint  func(cell string) Tint
	Once  bool                                          // on a terminal it is left out where all cells are the same
	Short func(cells []string) func(cell string) string // on a terminal, the short forms of the column's cells
}

// In returns the Tint of a column that has one for all cells.
func In(t Tint) func(string) Tint { return func(string) Tint { return t } }

// gap is between two columns.
const gap = 2

// Table writes rows, each with a cell a column. On a terminal, cells are in columns that
// fit its width, below titles, and a column without text is left out; elsewhere, tabs
// separate them and there are no titles.
func (s *Screen) Table(columns []Column, rows [][]string) {
	var out strings.Builder
	for _, row := range rows {
		for i, cell := range row {
			row[i] = strings.TrimSpace(Plain(cell))
		}
	}
	if !s.outTTY {
		for _, row := range rows {
			out.WriteString(strings.Join(row, "\t") + "\n")
		}
		s.Print(out.String())
		return
	}
	columns, rows = telling(columns, rows)
	widths := layout(columns, rows, s.width)
	s.tableRow(&out, columns, widths, nil)
	for _, row := range rows {
		s.tableRow(&out, columns, widths, row)
	}
	s.Print(out.String())
}

// telling leaves out the columns that say nothing, and shortens the cells of the others. A
// column of short forms that are whole is as wide as the widest.
func telling(columns []Column, rows [][]string) (shown []Column, cells [][]string) {
	cells = make([][]string, len(rows))
	for i, c := range columns {
		column := make([]string, len(rows))
		for r, row := range rows {
			column[r] = row[i]
		}
		same := len(rows) > 0 && !slices.ContainsFunc(column, func(cell string) bool { return cell != column[0] })
		if same && (c.Once || column[0] == "") {
			continue
		}
		if c.Short != nil {
			short := c.Short(column)
			for r, cell := range column {
				column[r] = Plain(short(cell))
				if c.Whole {
					c.Min = max(c.Min, Columns(column[r]))
				}
			}
		}
		shown = append(shown, c)
		for r := range rows {
			cells[r] = append(cells[r], Steady(column[r]))
		}
	}
	return shown, cells
}

// tableRow writes a row, or the titles for none.
func (s *Screen) tableRow(out *strings.Builder, columns []Column, widths []int, row []string) {
	pad := 0
	for i, c := range columns {
		if widths[i] == 0 {
			continue
		}
		text, tint := c.Title, Tint(Bold)
		if row != nil {
			text, tint = row[i], ""
			if c.Tint != nil {
				tint = c.Tint(text)
			}
		}
		if c.Whole && row != nil {
			text = cut(text, widths[i], "")
		} else {
			text = Fit(text, widths[i])
		}
		space := widths[i] - Columns(text)
		if c.Right {
			pad, space = pad+space, 0
		}
		out.WriteString(strings.Repeat(" ", pad) + s.Paint(tint, text))
		pad = space + gap
	}
	out.WriteString("\n")
}

// layout returns the width of each column, 0 for a column that is left out, so that all
// fit into total.
func layout(columns []Column, rows [][]string, total int) []int {
	natural := make([]int, len(columns))
	for i, c := range columns {
		natural[i] = max(1, Columns(c.Title))
		for _, row := range rows {
			natural[i] = max(natural[i], Columns(row[i]))
		}
	}
	for {
		widths := append([]int(nil), natural...)
		if shrink(columns, widths, total, false) {
			return widths
		}
		last := -1
		for i, c := range columns {
			if natural[i] > 0 && c.Drop > 0 && (last < 0 || c.Drop > columns[last].Drop) {
				last = i
			}
		}
		if last < 0 {
			shrink(columns, widths, total, true)
			return widths
		}
		natural[last] = 0
	}
}

// shrink makes columns narrower until all fit into total, but none narrower than its
// Min, with all none than a column. It cuts Whole columns first, at once to their Min, then
// the widest column again and again. It reports whether all fit.
func shrink(columns []Column, widths []int, total int, all bool) bool {
	for i, c := range columns {
		if c.Whole && c.Min > 0 && sum(widths) > total {
			widths[i] = min(widths[i], c.Min)
		}
	}
	for {
		over := sum(widths) - total
		if over <= 0 {
			return true
		}
		widest := -1
		for i, c := range columns {
			if (all && widths[i] > 1 || c.Min > 0 && widths[i] > c.Min) && (widest < 0 || widths[i] > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return false
		}
		widths[widest]--
	}
}

// sum is the width of a row.
func sum(widths []int) int {
	n := -gap
	for _, w := range widths {
		if w > 0 {
			n += w + gap
		}
	}
	return n
}

// defaultPager is the pager where PAGER is not set, and defaultLess the value of LESS
// where that is not set: less then ends by itself where all fits, keeps colours, and
// leaves the text on the terminal.
const (
	defaultPager = "less"
	defaultLess  = "FRX"
)

// Page lets a pager show the output that follows, if standard input and output are
// terminals and TERM names a terminal that is not dumb. The pager is the command PAGER,
// or less; "cat" means none. The caller must call wait when all is written; wait returns
// when the user has left the pager.
func (s *Screen) Page(env func(name string) string) (wait func() error) {
	none := func() error { return nil }
	command := strings.Fields(env("PAGER"))
	if len(command) == 0 {
		command = []string{defaultPager}
	}
	if term := env("TERM"); !s.outTTY || !s.inTTY || term == "" || term == "dumb" || command[0] == "cat" {
		return none
	}
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdout, cmd.Stderr, cmd.Env = s.out, s.err, append(os.Environ(), "LESS="+cmp.Or(env("LESS"), defaultLess))
	in, err := cmd.StdinPipe()
	if err != nil || cmd.Start() != nil {
		return none
	}
	s.mu.Lock()
	s.wipe()
	out := s.out
	s.out, s.pager = pipe{in, &s.unread}, cmd
	s.mu.Unlock()
	return func() error {
		s.mu.Lock()
		s.out = out
		s.mu.Unlock()
		return errors.Join(in.Close(), left(cmd.Wait()))
	}
}

// Left reports whether the output was shown by a pager that the user left, and that does not
// end at the end of the text. The caller must have called wait.
func (s *Screen) Left() bool {
	if s.pager == nil || s.pager.ProcessState == nil {
		return false
	}
	return strings.TrimSuffix(filepath.Base(s.pager.Path), ".exe") == "less" && s.pager.ProcessState.Success()
}

// Unread reports whether the pager has ended: what is still written is dropped.
func (s *Screen) Unread() bool { return s.unread.Load() }

// pipe writes to a pager. After the pager has ended, it drops the text without an error.
type pipe struct {
	io.Writer
	unread *atomic.Bool
}

func (p pipe) Write(b []byte) (int, error) {
	n, err := p.Writer.Write(b)
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, os.ErrClosed) {
		p.unread.Store(true)
		return len(b), nil
	}
	return n, err
}

// left returns the error of a pager that did not run, and nil for one with an exit code.
func left(err error) error {
	if ended := (*exec.ExitError)(nil); errors.As(err, &ended) {
		return nil
	}
	return err
}
