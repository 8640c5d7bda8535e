package cosmos

import "slices"

// Consistent reports whether a device reads what it wrote, by the name that the
// service gives the account's level of consistency. It does not for ConsistentPrefix
// and Eventual, which pay no heed to session tokens.
func Consistent(level string) bool {
	return !slices.Contains([]string{"ConsistentPrefix", "Eventual"}, level)
}
