package testenv

import (
	"errors"
	"fmt"
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	Main(m, map[string]Child{
		"echo": func(dir, argument string) error {
			fmt.Println(dir)
			fmt.Println(argument)
			return nil
		},
		"wait": func(string, string) error {
			fmt.Println("ready")
			select {}
		},
		"work": work,
	})
}

func TestChild(t *testing.T) {
	t.Parallel()
	got := Spawn(t, "echo", "a dir", "an argument").End(t)
	if fmt.Sprint(got) != "[a dir an argument]" {
		t.Errorf("child printed %q", got)
	}
	p := Spawn(t, "wait", ".", "")
	if line, ok := p.Line(); line != "ready" || !ok {
		t.Errorf("child printed %q", line)
	}
	p.KillNow()
	if _, ok := p.Line(); ok {
		t.Error("child lives")
	}
	p.Kill()
}

func TestRetry(t *testing.T) {
	t.Parallel()
	busy, broken := errors.New("busy"), errors.New("broken")
	answers := []error{busy, fmt.Errorf("again: %w", busy), broken, nil}
	call := func() error {
		answer := answers[0]
		answers = answers[1:]
		return answer
	}
	for _, want := range []error{broken, nil} {
		if err := Retry(busy, call); !errors.Is(err, want) {
			t.Errorf("%v instead of %v", err, want)
		}
	}
	if err := Retry(busy, func() error { return busy }); !errors.Is(err, busy) {
		t.Errorf("%v for what stays busy", err)
	}
}

func TestMainKeepsStateApart(t *testing.T) {
	t.Parallel()
	if os.Getenv("AMPLIFIER_SESSION_STATE_HOME") == "" {
		t.Error("state is shared")
	}
}
