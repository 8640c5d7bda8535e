package cost

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
)

// Calls is how many system calls operations make, by their names.
type Calls map[string]float64

// String returns the counts as a file of limits has them.
func (c Calls) String() string {
	out := "# operation calls\n"
	for _, name := range slices.Sorted(maps.Keys(c)) {
		out += fmt.Sprintf("%s %.1f\n", name, c[name])
	}
	return out
}

func readCalls(file string) (Calls, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	c, err := parseCalls(f)
	return c, errors.Join(err, f.Close())
}

func parseCalls(in io.Reader) (Calls, error) {
	c := Calls{}
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		if line := lines.Text(); line != "" && !strings.HasPrefix(line, "#") {
			name, n := "", 0.0
			if _, err := fmt.Sscan(line, &name, &n); err != nil {
				return nil, fmt.Errorf("read limit %q: %w", line, err)
			}
			c[name] = n
		}
	}
	return c, lines.Err()
}

// Over returns an error for each operation of got that makes more calls than its limit or
// has no limit, and for each limit that has no operation or is too high. Some more calls
// are allowed: now and then the runtime makes a call that looks like the program's.
func (c Calls) Over(got Calls) error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(c)) {
		n, limit := got[name], c[name]
		switch _, ok := got[name]; {
		case !ok:
			errs = append(errs, fmt.Errorf("%s: has a limit and is not measured", name))
		case n > limit*1.05+1:
			errs = append(errs, fmt.Errorf("%s: %.1f system calls, %.1f are allowed", name, n, limit))
		case n < limit*0.9-2:
			errs = append(errs, fmt.Errorf("%s: %.1f system calls, so the limit %.1f can be lower", name, n, limit))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if _, ok := c[name]; !ok {
			errs = append(errs, fmt.Errorf("%s: has no limit", name))
		}
	}
	return errors.Join(errs...)
}
