package testenv

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
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
		"obey": func(string, string) error {
			for order := range Orders() {
				if order == "fail" {
					return errors.New("it was ordered to")
				}
				fmt.Println("did", order)
			}
			fmt.Println("the end")
			return nil
		},
		"work": work,
	})
}

func TestOrders(t *testing.T) {
	t.Parallel()
	p := Spawn(t, "obey", ".", "")
	for _, order := range []string{"one", "two"} {
		p.Tell(t, order)
		if said := p.Hear(t); said != "did "+order {
			t.Errorf("%s: the child says %q", order, said)
		}
	}
	if lines := p.End(t); fmt.Sprint(lines) != "[the end]" {
		t.Errorf("in the end the child says %q", lines)
	}
	p = Spawn(t, "obey", ".", "")
	p.Tell(t, "fail")
	if lines, code := p.Wait(); len(lines) > 0 || code != failed || p.wasKilled() {
		t.Errorf("a child that fails says %q and ends with %d", lines, code)
	}
}

func TestKilled(t *testing.T) {
	t.Parallel()
	p := Spawn(t, "wait", ".", "")
	p.Hear(t)
	p.KillNow()
	if lines, killed := p.Killed(t); len(lines) > 0 || !killed {
		t.Errorf("%q, killed: %v", lines, killed)
	}
	if lines, killed := Spawn(t, "echo", "a", "b").Killed(t); len(lines) != 2 || killed {
		t.Errorf("%q, killed: %v", lines, killed)
	}
}

// TestHang has a child hang until the limit of all tests.
func TestHang(t *testing.T) {
	t.Parallel()
	late := &errorf{TB: t}
	t.Cleanup(func() { // after the cleanup of Spawn
		if !strings.Contains(late.text, "the child hung") || !strings.Contains(late.text, "ready") {
			t.Errorf("the test says %q", late.text)
		}
	})
	p := Spawn(late, "wait", ".", "")
	if line, ok := p.Line(); line != "ready" || !ok {
		t.Errorf("child printed %q", line)
	}
	p.hang.Reset(0)
	if line, ok := p.Line(); ok {
		t.Errorf("child printed %q", line)
	}
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
	state := os.Getenv("AMPLIFIER_SESSION_STATE_HOME")
	if state == "" {
		t.Error("state is shared")
	}
	if home, err := os.UserHomeDir(); err != nil || home != filepath.Join(state, "home") {
		t.Errorf("the home is that of the user: %v", err)
	}
	for _, name := range []string{"GOPATH", "GOCACHE", "XDG_CACHE_HOME", "NPM_CONFIG_CACHE"} { // all of a user with a home, or none
		if dir := os.Getenv(name); (dir == "") != (os.Getenv("GOENV") == "") || strings.HasPrefix(dir, state) {
			t.Errorf("%s is %q", name, dir)
		}
	}
}
