package pyyaml

const (
	width = 80 // a space beyond this column may become a line break
	step  = 2  // columns per level

	// maxDepth is the greatest depth of lists and dicts in a dump before the recursion
	// limit of Python 3.11 stops it.
	maxDepth = 330
)

// writer builds the text. Everything it writes is ASCII, so that columns are
// bytes since the start of the line.
type writer struct {
	out   []byte
	line  int // where the current line starts in out
	depth int // containers around the current place
}

func (w *writer) put(s string) { w.out = append(w.out, s...) }

func (w *writer) column() int { return len(w.out) - w.line }

// newline ends the line and begins one at column indent.
func (w *writer) newline(indent int) {
	w.out = append(w.out, '\n')
	w.line = len(w.out)
	for range indent {
		w.out = append(w.out, ' ')
	}
}
