package slice

import (
	"github.com/amplifier-go/sessionstorage/internal/turns"
)

// textOf returns the text of a JSON string, and "" for any other value.
func textOf(raw []byte) string {
	text, _ := turns.IDOf(raw)
	return text
}

// setOf returns the set of the elements of list.
func setOf[T comparable](list []T) map[T]bool {
	set := make(map[T]bool, len(list))
	for _, v := range list {
		set[v] = true
	}
	return set
}
