package testenv

import (
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
	p.KillAfter(0)
	if _, ok := p.Line(); ok {
		t.Error("child lives")
	}
	p.Kill()
}

func TestMainKeepsStateApart(t *testing.T) {
	t.Parallel()
	if os.Getenv("AMPLIFIER_SESSION_STATE_HOME") == "" {
		t.Error("state is shared")
	}
}
