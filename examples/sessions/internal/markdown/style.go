package markdown

import glamour "charm.land/glamour/v2/ansi"

// style returns the looks of the parts of Markdown, with languages also of the parts of
// code.
func style(colour, languages bool) glamour.StyleConfig {
	const yellow, blue, cyan = "3", "4", "6"
	one, two, bar, tick := uint(1), uint(2), "│ ", "`"
	if colour {
		tick = ""
	}
	ink := func(c string) (s glamour.StylePrimitive) {
		if colour {
			s.Color = &c
		}
		return s
	}
	heading := func(prefix string) glamour.StyleBlock {
		return glamour.StyleBlock{StylePrimitive: glamour.StylePrimitive{Prefix: prefix}}
	}
	all := glamour.StyleConfig{
		BlockQuote: glamour.StyleBlock{Indent: &one, IndentToken: &bar},
		List:       glamour.StyleList{LevelIndent: 2},
		Heading:    glamour.StyleBlock{StylePrimitive: ink(blue)},
		H1:         heading("# "), H2: heading("## "), H3: heading("### "), H4: heading("#### "), H5: heading("##### "), H6: heading("###### "),
		Emph:           glamour.StylePrimitive{Italic: &colour},
		Strong:         glamour.StylePrimitive{Bold: &colour},
		Strikethrough:  ink(cyan), // an address
		HorizontalRule: glamour.StylePrimitive{BlockPrefix: "\n────────\n"},
		Item:           glamour.StylePrimitive{BlockPrefix: "• "},
		Enumeration:    glamour.StylePrimitive{BlockPrefix: ". "},
		Code:           glamour.StyleBlock{StylePrimitive: ink(yellow)},
		CodeBlock:      glamour.StyleCodeBlock{StyleBlock: glamour.StyleBlock{StylePrimitive: ink(yellow), Margin: &two}},
	}
	all.Heading.Bold, all.Strikethrough.Underline = &colour, &colour
	all.Code.Prefix, all.Code.Suffix = tick, tick
	if colour && languages {
		all.CodeBlock.Chroma = highlight()
	}
	return all
}

// highlight returns the looks of the parts of code. The formatter shows its colours as
// the terminal's own: red to cyan.
func highlight() *glamour.Chroma {
	ink := func(c string) glamour.StylePrimitive { return glamour.StylePrimitive{Color: &c} }
	const red, green, yellow, magenta, cyan = "#7f0000", "#007f00", "#7f7fe0", "#7f007f", "#007f7f"
	italic, comment := true, ink(yellow) // grey is the ground of some terminals
	comment.Italic = &italic
	return &glamour.Chroma{
		Text: ink(yellow), Comment: comment, Keyword: ink(magenta), LiteralString: ink(green), NameFunction: ink(cyan),
		GenericInserted: ink(green), GenericDeleted: ink(red),
	}
}
