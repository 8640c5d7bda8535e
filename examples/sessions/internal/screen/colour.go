package screen

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

// Colourful reports whether there is colour.
func (s *Screen) Colourful() bool { return s.colour }

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
