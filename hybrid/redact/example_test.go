package redact_test

import (
	"fmt"
	"strings"

	"github.com/amplifier-go/sessionstorage/hybrid/redact"
)

// A line of a transcript before it is sent. The token is put together here, so
// that none stands in the source.
func Example() {
	token := "ghp_" + strings.Repeat("a1B2", 9)
	line := redact.Secrets().Line([]byte(`{"role": "user", "content": "push with ` + token + `"}`))
	fmt.Println(string(line))
	// Output: {"role": "user", "content": "push with [redacted:github-token]"}
}
