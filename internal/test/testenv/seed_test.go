package testenv

import (
	"fmt"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSeed(t *testing.T) {
	t.Setenv("TEST_SEED", "")
	first := Seed(t)
	require.Equal(t, first, Seed(t))
	require.Equal(t, Rand(t).Uint64(), Rand(t).Uint64())
	t.Run("of another name", func(t *testing.T) { require.NotEqual(t, first, Seed(t)) })

	t.Setenv("TEST_SEED", "18446744073709551615")
	require.Equal(t, uint64(18446744073709551615), Seed(t))
	_, err := seedOf("TestX", "x")
	require.EqualError(t, err, `TEST_SEED: strconv.ParseUint: parsing "x": invalid syntax`)
}

// ended is a test that notes what it logs and what it does at its end.
type ended struct {
	testing.TB
	failed bool
	text   string
	atEnd  []func()
}

func (e *ended) Helper() {}

func (e *ended) Cleanup(f func()) { e.atEnd = append(e.atEnd, f) }

func (e *ended) Failed() bool { return e.failed }

func (e *ended) Logf(format string, args ...any) { e.text += fmt.Sprintf(format, args...) }

func TestRepeat(t *testing.T) {
	for _, failed := range []bool{false, true} {
		e := &ended{TB: t}
		Repeat(e, 7, "-steps=4")
		e.failed = failed
		for _, f := range e.atEnd {
			f()
		}
		if !failed {
			require.Empty(t, e.text)
			continue
		}
		require.Regexp(t, `^to repeat: (TEST_LONG=\S+ )?TEST_SEED=7 go test (-race )?-count=1 -run='\^TestRepeat\$' \./internal/test/testenv( .*)? -steps=4$`, e.text)
	}
}

func TestCommand(t *testing.T) {
	t.Setenv("TEST_LONG", "")
	const root = "github.com/amplifier-go/sessionstorage"
	info := func(module, pkg string, settings ...debug.BuildSetting) *debug.BuildInfo {
		return &debug.BuildInfo{Path: pkg + ".test", Main: debug.Module{Path: module}, Settings: settings}
	}
	require.Equal(t, `TEST_SEED=3 go test -count=1 -run='^TestX$' ./slice`,
		command(info(root, root+"/slice"), "TestX", 3, nil))
	require.Equal(t, `TEST_SEED=3 go test -C examples/viewer -race -count=1 -run='^TestX$/^it'\''s_1\+1$' ./web -seeds=1 '-line=a b'`,
		command(info(root+"/examples/viewer", root+"/examples/viewer/web", debug.BuildSetting{Key: "-race", Value: "true"}),
			"TestX/it's_1+1", 3, []string{"-seeds=1", "-line=a b"}))
	t.Setenv("TEST_LONG", "all")
	require.Equal(t, `TEST_LONG=all TEST_SEED=3 go test -C hybrid/telemetry -count=1 -run='^TestX$' .`,
		command(info(root+"/hybrid/telemetry", root+"/hybrid/telemetry"), "TestX", 3, nil))
}
