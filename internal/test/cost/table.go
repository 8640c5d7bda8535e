package cost

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
)

// Table is the costs of operations by their names.
type Table map[string]Cost

// columns heads a table.
const columns = "# operation allocs operations syncs written\n"

// String returns the table as a file of limits has it.
func (t Table) String() string {
	var out strings.Builder
	out.WriteString(columns)
	names := make([]string, 0, len(t))
	for name := range t {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		c := t[name]
		fmt.Fprintf(&out, "%s %.0f %.1f %.1f %.0f\n", name, c.Allocs, c.Operations, c.Syncs, c.Written)
	}
	return out.String()
}

// Read reads a table.
func Read(in io.Reader) (Table, error) {
	t := Table{}
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		if line := lines.Text(); line != "" && !strings.HasPrefix(line, "#") {
			name, c := "", Cost{}
			if _, err := fmt.Sscan(line, &name, &c.Allocs, &c.Operations, &c.Syncs, &c.Written); err != nil {
				return nil, fmt.Errorf("read limit %q: %w", line, err)
			}
			t[name] = c
		}
	}
	return t, lines.Err()
}

// allocSlack is how many times their limit allocations may be: an os.File may
// take one more in a process that has opened very many.
const allocSlack = 1.25

// Over returns an error for each operation of got that costs more than its limit or has no
// limit, and for each limit that has no operation, or is so high that it no longer guards
// anything. Allocations are left out where allocs is false.
func (t Table) Over(got Table, allocs bool) error {
	var errs []error
	for name, limit := range t {
		c, ok := got[name]
		if !ok {
			errs = append(errs, fmt.Errorf("%s: has a limit and is not measured", name))
			continue
		}
		figures := []struct {
			what             string
			is, limit, slack float64
		}{
			{"allocations", c.Allocs, limit.Allocs, allocSlack},
			{"operations", c.Operations, limit.Operations, 1.02},
			{"syncs", c.Syncs, limit.Syncs, 1.02},
			{"bytes written", c.Written, limit.Written, 1.02},
		}
		if !allocs {
			figures = figures[1:]
		}
		for _, f := range figures {
			switch {
			case f.is > f.limit*f.slack+0.1:
				errs = append(errs, fmt.Errorf("%s: %.1f %s, %.1f are allowed", name, f.is, f.what, f.limit))
			case f.is < f.limit*0.6-2:
				errs = append(errs, fmt.Errorf("%s: %.1f %s, so the limit %.1f can be lower", name, f.is, f.what, f.limit))
			}
		}
	}
	for name := range got {
		if _, ok := t[name]; !ok {
			errs = append(errs, fmt.Errorf("%s: has no limit", name))
		}
	}
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(errs...)
}

// Check fails t when got is not within the limits in the file.
func Check(t testing.TB, file string, got Table) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	limits, err := Read(f)
	if err = errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	if err := limits.Over(got, exact); err != nil {
		t.Errorf("%v\nall figures, for %s:\n%v", err, file, got)
	}
}
