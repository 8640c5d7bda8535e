package picker

// tint is a way to show text: the parameters of an SGR sequence. It uses those of
// the sixteen colors that stand apart from light and from dark ground, as the owner
// of the terminal chose them: red to cyan, and never black, white or grey. Nothing
// asks the terminal for its ground.
type tint string

const (
	plain   tint = ""
	bold    tint = "1"
	dim     tint = "2"
	reverse tint = "7"
	red     tint = "31"
	green   tint = "32"
	magenta tint = "1;35"
	cyan    tint = "36"
)

// style paints text.
type style struct{ color bool }

// paint returns text in a tint. Without color, what is bold, dim or reversed
// is still so.
func (s style) paint(t tint, text string) string {
	if !s.color {
		switch t {
		case magenta:
			t = bold
		case red, green, cyan:
			t = plain
		}
	}
	if t == plain || text == "" {
		return text
	}
	return "\x1b[" + string(t) + "m" + text + "\x1b[m"
}
