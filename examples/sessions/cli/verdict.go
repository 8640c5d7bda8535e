package cli

import (
	"fmt"
	"slices"
	"time"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
)

// problemTable shows what is wrong.
func (a *app) problemTable(problems []problem) {
	if len(problems) == 0 {
		return
	}
	rows := make([][]string, len(problems))
	for i, p := range problems {
		where := p.File
		if p.Line > 0 {
			where = fmt.Sprintf("%s:%d", p.File, p.Line)
		}
		rows[i] = []string{p.Project, p.Session, p.State, where, p.Text}
	}
	columns := []screen.Column{
		{Title: "Project", Min: 10, Drop: 1, Tint: screen.In(screen.Magenta)},
		{Title: "Session", Min: shortID, Whole: true, Tint: screen.In(screen.Green)},
		{Title: "State", Tint: func(state string) screen.Tint {
			if state == "damaged" {
				return screen.Red
			}
			return screen.Yellow
		}},
		{Title: "Where", Min: 12, Drop: 3},
		{Title: "What", Min: 16, Drop: 2},
	}
	if a.Terminal() { // which has no room for columns that tell nothing
		columns, rows = telling(columns, rows, 0)
	}
	a.Table(columns, rows)
}

// verdict sums up on standard error, so that a pipe has the problems alone.
func (a *app) verdict(all, bad int, took time.Duration) {
	speed := took.Round(time.Millisecond)
	if bad == 0 {
		a.Notef("%s %s, all sound (%s)", a.PaintError(screen.Green, "✓"), count(all, "session"), speed)
		return
	}
	a.Notef("\n%s %s, %s with problems (%s)", a.PaintError(screen.Red, "✗"), count(all, "session"), number(bad), speed)
}

// telling leaves out the columns whose cells are all empty, and that of the
// project when it is one.
func telling(columns []screen.Column, rows [][]string, project int) ([]screen.Column, [][]string) {
	for i := len(columns) - 1; i >= 0; i-- {
		same := !slices.ContainsFunc(rows, func(row []string) bool { return row[i] != rows[0][i] })
		if !same || i != project && rows[0][i] != "" {
			continue
		}
		columns = slices.Delete(columns, i, i+1)
		for r := range rows {
			rows[r] = slices.Delete(rows[r], i, i+1)
		}
	}
	return columns, rows
}
