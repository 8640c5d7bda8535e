package hybrid

import (
	"sync"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/throttle"
)

// Limits bound the request units that stores spend. Stores that are opened with the same
// Limits share them, and what is known of the remote: how fast it takes requests, and when it
// may be asked again. A request is made as long as the limit has anything left beside what the
// requests under way are expected to cost. So the last request may exceed the limit, and so may
// requests that cost more than expected. They are set before the first store is opened.
type Limits struct {
	RequestUnitsPerSecond float64 // 0: no limit

	once   sync.Once
	budget *throttle.Budget
}

func (l *Limits) shared() *throttle.Budget {
	l.once.Do(func() { l.budget = throttle.NewBudget(l.RequestUnitsPerSecond, nil) })
	return l.budget
}
