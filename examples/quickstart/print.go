package main

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// tell prints a line of the report under the name of its step.
func (s *steps) tell(step, format string, args ...any) {
	fmt.Fprintf(s.out, "%-9s "+format+"\n", append([]any{step}, args...)...)
}

// turnsOf returns the turn count in md for display.
func turnsOf(md sessionstore.Metadata) string {
	n, ok := md.Int("turn_count")
	if !ok {
		return "-"
	}
	return strconv.Itoa(n)
}

func size(n int64) string { return strconv.FormatInt(n, 10) + " bytes" }

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

// printable replaces the characters that could steer the terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, s)
}
