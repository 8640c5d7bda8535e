package testenv_test

import (
	"fmt"
	"os/exec"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// probe is a test that notes how it ended.
type probe struct {
	testing.TB
	outcome string
}

func (p *probe) Helper() {}

func (p *probe) Skip(args ...any) {
	p.outcome = "skipped: " + fmt.Sprint(args...)
	runtime.Goexit()
}

func (p *probe) Fatalf(format string, args ...any) {
	p.outcome = "failed: " + fmt.Sprintf(format, args...)
	runtime.Goexit()
}

// outcome runs body as a test of its own and returns how it ended.
func outcome(t *testing.T, body func(testing.TB)) string {
	p := &probe{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		body(p)
		p.outcome = "went on"
	}()
	<-done
	return p.outcome
}

func TestNeed(t *testing.T) {
	tests := []struct {
		name, ci string
		cond     bool
		want     string
	}{
		{"there", "", true, "went on"},
		{"there in CI", "true", true, "went on"},
		{"missing", "", false, "skipped: no such thing"},
		{"missing in CI", "true", false, "failed: may not be skipped with CI set: no such thing"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("CI", tt.ci)
			got := outcome(t, func(tb testing.TB) { testenv.Need(tb, tt.cond, "no such thing") })
			require.Equal(t, tt.want, got)
		})
	}
}

func TestPython(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), testenv.Python(t), "-c", "print(6 * 7)").Output()
	require.NoError(t, err)
	require.Contains(t, string(out), "42")
}

func TestPythonMissing(t *testing.T) {
	t.Setenv("CI", "")
	t.Setenv("PATH", t.TempDir())
	got := outcome(t, func(tb testing.TB) { testenv.Python(tb) })
	require.Equal(t, "skipped: python3 is not installed, or does not run", got)
}

func TestLong(t *testing.T) {
	for value, want := range map[string]bool{"": false, "1": !testing.Short()} {
		t.Setenv("TEST_LONG", value)
		require.Equal(t, want, testenv.Long(), value)
		require.False(t, testenv.All(), value)
		require.Equal(t, 1, testenv.Further(1, 2), value)
	}
	t.Setenv("TEST_LONG", "all")
	require.Equal(t, !testing.Short(), testenv.All())
	require.Equal(t, testenv.All(), testenv.Further(1, 2) == 2)
	t.Setenv("TEST_LONG", "")
	t.Setenv("CI", "true")
	require.False(t, testenv.Long(), "CI alone only forbids skipped tests")
}
