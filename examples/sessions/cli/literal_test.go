package cli

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLiteral(t *testing.T) {
	t.Parallel()
	for expression, want := range map[string]string{
		"":                     "",
		"Deploy":               "deploy",
		"deploy.*production":   "production",
		`(time)out\s+after 30`: "after 30",
		"(fail){2,}x":          "fail",
		"(fail){0,2}x":         "x",
		"(?:error)+":           "error",
		"(error)?s":            "s",
		"error|warning":        "",
		"[a-c]d":               "d",
		`say "hello there"`:    "hello there",
		`C:\\Users\\ada`:       "users",
		"café au lait":         " au lait",
		"^one$":                "one",
		"(":                    "",
		"(?i:ERR)or":           "error",
	} {
		require.Equal(t, want, literal(expression), expression)
	}
}
