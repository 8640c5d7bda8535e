package bridge_test

import (
	"fmt"

	"github.com/amplifier-go/sessionstorage/sessionstore/bridge"
)

func ExampleLeftOut() {
	report := bridge.Report{LeftOut: []bridge.LeftOut{{Row: 1, What: "thinking of openai"}}}
	for _, left := range report.LeftOut {
		fmt.Println(left)
	}
	// Output:
	// message 2: thinking of openai
}
