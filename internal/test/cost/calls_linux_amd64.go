package cost

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
)

// named begins the line by which a traced process announces its next operation.
const named = "operation "

// CheckCalls runs the calling test once more in a process of its own and
// counts the system calls of its operations there, whatever makes them. It
// fails t when there are more than the file allows, or so few that the limit
// no longer guards anything. Calls of the Go runtime for itself do not count.
// prepare is called in that process alone; each operation is done so many
// times.
func CheckCalls(t *testing.T, file string, runs int, prepare func() []Operation) {
	t.Helper()
	if os.Getenv(tracedVariable) != "" {
		for _, o := range prepare() {
			fmt.Println(named + o.Name)
			mark()
			for range runs {
				if err := o.Do(); err != nil {
					t.Fatal(err)
				}
			}
			mark()
		}
		return
	}
	out, counts, err := trace("-test.run=^" + t.Name() + "$")
	if err != nil {
		t.Fatalf("count system calls: %v\n%s", err, out)
	}
	names := operations(out)
	if len(names) == 0 || len(names) != len(counts) {
		t.Fatalf("%d operations and %d counts\n%s", len(names), len(counts), out)
	}
	got := Calls{}
	for i, name := range names {
		got[name] = float64(counts[i]) / float64(runs)
	}
	limits, err := readCalls(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := limits.Over(got); err != nil {
		t.Errorf("%v\nall figures, for %s:\n%v", err, file, got)
	}
}

func operations(out []byte) []string {
	var names []string
	lines := bufio.NewScanner(bytes.NewReader(out))
	for lines.Scan() {
		if name, ok := strings.CutPrefix(lines.Text(), named); ok {
			names = append(names, name)
		}
	}
	return names
}
