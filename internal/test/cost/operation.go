package cost

import "testing"

// An Operation is an operation whose cost is measured.
type Operation struct {
	Name  string
	Do    func() error
	Gauge *Gauge // counts the operations of Do on the disk
}

// MeasureAll measures operations, each with its gauge; see [Gauge.Measure].
func MeasureAll(t testing.TB, runs int, operations []Operation) Table {
	t.Helper()
	got := Table{}
	for _, o := range operations {
		got[o.Name] = o.Gauge.Measure(runs, func() {
			if err := o.Do(); err != nil {
				t.Fatal(err)
			}
		})
	}
	return got
}
