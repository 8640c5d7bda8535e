package cosmostest

import (
	"net/http"
	"time"
)

// throttle refuses a request when the second's units are spent, as the
// service does: the request that exceeds them is still served.
func (s *Server) throttle(c *call, box *container) *failure {
	limit := s.options.Throughput
	if limit <= 0 {
		return nil
	}
	if now := c.At.Unix(); box.budget.second != now {
		// What was spent beyond the limit is a debt of the seconds that follow.
		debt := max(0, box.budget.spent-limit*float64(now-box.budget.second))
		box.budget = budget{now, debt}
	}
	if box.budget.spent < limit {
		return nil
	}
	f := failSub(http.StatusTooManyRequests, subRequestRateTooLarge, "Request rate is large")
	f.retryAfter = max(time.Millisecond, c.At.Truncate(time.Second).Add(time.Second).Sub(c.At).Round(time.Millisecond))
	return f
}
