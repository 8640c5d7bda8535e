package race

import (
	"testing"

	"cases/runs"
)

func TestRace(t *testing.T) {
	if !runs.First("race") {
		return
	}
	n, done := 0, make(chan bool)
	go func() {
		n++
		close(done)
	}()
	n++
	<-done
}
