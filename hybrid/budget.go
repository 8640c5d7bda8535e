package hybrid

import "github.com/amplifier-go/sessionstorage/internal/cosmos"

// Limits bound the request units that are spent: those of a day, in UTC, by all
// processes of a directory that follow each other. A limit slows down: requests
// are made at once as far as it has room for what each is expected to cost. So it
// is exceeded by the last of them, and by what others cost more than expected.
// Zero is no limit. Work that must wait stays on the disk and goes on by itself.
type Limits struct{ RequestUnitsPerSecond, RequestUnitsPerDay float64 }

// Budget is what all requests of the stores that share it have in common: how
// fast the account lets them be, when it may be asked again, and what they may
// cost. See [Options.Budget].
type Budget struct{ requests *cosmos.Budget }

// NewBudget returns a budget with limits.
func NewBudget(l Limits) *Budget {
	return &Budget{cosmos.NewBudget(cosmos.Limits{UnitsPerSecond: l.RequestUnitsPerSecond, UnitsPerDay: l.RequestUnitsPerDay}, nil)}
}
