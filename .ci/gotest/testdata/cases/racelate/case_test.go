package racelate

import (
	"os"
	"testing"

	"cases/runs"
)

func TestMain(m *testing.M) {
	code := m.Run()
	if runs.First("racelate") {
		n, done := 0, make(chan bool)
		go func() {
			n++
			close(done)
		}()
		n++
		<-done
	}
	os.Exit(code)
}

func TestSound(t *testing.T) {}
