package cosmos

import (
	"context"
	"slices"
)

// Consistent reports whether a device reads what it wrote, by the name that the
// service gives the account's level of consistency. It does not for ConsistentPrefix
// and Eventual, which pay no heed to session tokens.
func Consistent(level string) bool {
	return !slices.Contains([]string{"ConsistentPrefix", "Eventual"}, level)
}

// headerLevel is a header that accountPolicy adds to answers. The service has none
// that tells the level of consistency.
const headerLevel = "X-Sessionstorage-Consistency"

// levelKey is the key of a value of contexts whose requests ask for the level first.
type levelKey struct{}

// withLevel returns ctx for a request before which the account is asked for its level,
// if it is the first that the client makes.
func withLevel(ctx context.Context) context.Context {
	return context.WithValue(ctx, levelKey{}, true)
}
