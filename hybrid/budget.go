package hybrid

import "github.com/amplifier-go/sessionstorage/hybrid/internal/throttle"

// Limits bound the request units that the stores of a [Budget] spend. A request is made
// as long as the limit has anything left beside what the requests under way are
// expected to cost. So the last request may exceed the limit, and so may requests that
// cost more than expected. Zero is no limit.
type Limits struct{ RequestUnitsPerSecond float64 }

// Budget is shared by stores of one account. It knows how fast the account takes
// requests, when it may be asked again, and what the requests may cost. See
// [Options.Budget].
type Budget struct{ requests *throttle.Budget }

// NewBudget returns a budget with limits.
func NewBudget(l Limits) *Budget {
	return &Budget{throttle.NewBudget(l.RequestUnitsPerSecond, nil)}
}
