package testenv

import (
	"fmt"
	"testing"
)

// Lost returns t for checks whose failure means that data is lost or damaged. Such a
// failure prints a line that begins with LOST besides: .ci/run then fails, however
// often the test passes when it is run again.
func Lost(t testing.TB) testing.TB { return lost{t} }

type lost struct{ testing.TB }

// report prints the line whole, whatever stands before it.
func (l lost) report() { fmt.Printf("\nLOST %s\n", l.Name()) }

func (l lost) Error(args ...any) { l.Helper(); l.report(); l.TB.Error(args...) }

func (l lost) Errorf(format string, args ...any) {
	l.Helper()
	l.report()
	l.TB.Errorf(format, args...)
}

func (l lost) Fatal(args ...any) { l.Helper(); l.report(); l.TB.Fatal(args...) }

func (l lost) Fatalf(format string, args ...any) {
	l.Helper()
	l.report()
	l.TB.Fatalf(format, args...)
}
