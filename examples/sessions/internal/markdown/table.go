package markdown

import (
	"strings"

	extast "github.com/yuin/goldmark/extension/ast"
)

// The marks between two columns of a table and below its header, and the width that
// columns keep.
const (
	between  = " │ "
	crossing = "─┼─"
	least    = 6 // columns that each column has, if it is not narrower
)

// table draws a table whose cells are wrapped until it fits. A table with too many
// columns for that is drawn as lines of header and cell.
func (p page) table(n *extast.Table, width int) []line {
	rows := p.cells(n)
	widths := natural(rows, width)
	if !fit(widths, width-(len(widths)-1)*len([]rune(between))) {
		return p.pairs(rows, width)
	}
	var all []line
	for i, row := range rows {
		all = append(all, tableRow(row, widths, n.Alignments)...)
		if i == 0 {
			all = append(all, rule(widths))
		}
	}
	return all
}

// cells returns the cells of each row, the header first.
func (p page) cells(n *extast.Table) (rows [][][]span) {
	for r := n.FirstChild(); r != nil; r = r.NextSibling() {
		has := look("")
		if r.Kind() == extast.KindTableHeader {
			has = bold
		}
		var row [][]span
		for c := r.FirstChild(); c != nil; c = c.NextSibling() {
			row = append(row, p.inlines(c, has))
		}
		rows = append(rows, row)
	}
	return rows
}

// natural returns the widths of columns that wrap no cell, each at most limit.
func natural(rows [][][]span, limit int) []int {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], min(limit, clusters(cell...).columns()))
		}
	}
	return widths
}

// fit makes the widest columns narrower until all fit. It reports whether they do.
func fit(widths []int, room int) bool {
	sum := 0
	for _, w := range widths {
		sum += w
	}
	for ; sum > room; sum-- {
		widest := 0
		for i, w := range widths {
			if w > widths[widest] {
				widest = i
			}
		}
		if widths[widest] <= least {
			return false
		}
		widths[widest]--
	}
	return true
}

// tableRow draws a row in as many lines as its highest cell has.
func tableRow(row [][]span, widths []int, alignments []extast.Alignment) []line {
	cells, height := make([][]line, len(row)), 1
	for i, cell := range row {
		cells[i] = wrap(cell, max(1, widths[i]), false)
		height = max(height, len(cells[i]))
	}
	all := make([]line, height)
	for y := range all {
		for i, cell := range cells {
			var content line
			if y < len(cell) {
				content = cell[y]
			}
			if i > 0 {
				all[y] = append(all[y], clusters(span{text: between})...)
			}
			all[y] = append(all[y], aligned(content, widths[i], alignments[i])...)
		}
	}
	return all
}

// aligned fills a line of a cell with spaces.
func aligned(content line, width int, at extast.Alignment) line {
	left, space := 0, max(0, width-content.columns())
	switch at {
	case extast.AlignRight:
		left = space
	case extast.AlignCenter:
		left = space / 2
	}
	all := clusters(span{text: strings.Repeat(" ", left)})
	all = append(all, content...)
	return append(all, clusters(span{text: strings.Repeat(" ", space-left)})...)
}

// rule draws the line below the header.
func rule(widths []int) line {
	parts := make([]string, len(widths))
	for i, w := range widths {
		parts[i] = strings.Repeat("─", w)
	}
	return clusters(span{text: strings.Join(parts, crossing)})
}

// pairs draws each row as lines of header and cell, and the header alone where there
// is no row.
func (p page) pairs(rows [][][]span, width int) (all []line) {
	if len(rows) == 1 {
		rows = append(rows, make([][]span, len(rows[0])))
	}
	for i, row := range rows[1:] {
		if i > 0 {
			all = append(all, nil)
		}
		for j, cell := range row {
			pair := append(append([]span{}, rows[0][j]...), span{text: ": "})
			all = append(all, p.wrap(append(pair, cell...), width)...)
		}
	}
	return all
}
