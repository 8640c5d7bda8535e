package fatal

import (
	"testing"

	"cases/runs"
)

func TestFatal(t *testing.T) {
	if runs.First("fatal") {
		m := map[int]int{}
		for range 8 {
			go func() {
				for {
					m[1]++
				}
			}()
		}
		select {}
	}
}
