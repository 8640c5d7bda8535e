package cosmostest

import (
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/cosmostest/jsondoc"
)

// offers returns all of them in order of their owners.
func (s *Server) offers() (out []*offer) {
	for _, id := range slices.Sorted(maps.Keys(s.databases)) {
		db := s.databases[id]
		if db.offer != nil {
			out = append(out, db.offer)
		}
		for _, id := range slices.Sorted(maps.Keys(db.containers)) {
			if o := db.containers[id].offer; o != nil {
				out = append(out, o)
			}
		}
	}
	return out
}

// offerRequest serves queries for offers, and reads and changes of one.
func (s *Server) offerRequest(c *call) (*answer, *failure) {
	all := s.offers()
	if c.feed {
		if !c.query {
			return nil, fail(http.StatusMethodNotAllowed, "Offers are made with their owners")
		}
		list := make([]*jsondoc.Object, len(all))
		for i, o := range all {
			list[i] = o.properties()
		}
		return queryList(c, "Offers", list)
	}
	i := slices.IndexFunc(all, func(o *offer) bool { return o.id == c.Database })
	if i < 0 {
		return nil, fail(http.StatusNotFound, "Resource Not Found")
	}
	switch c.Method {
	case http.MethodPut:
		o, err := jsondoc.ParseObject(c.Body)
		content, ok := jsondoc.At(o, "content").(*jsondoc.Object)
		if err != nil || !ok {
			return nil, fail(http.StatusBadRequest, "The offer is invalid")
		}
		all[i].content = content
	case http.MethodDelete:
		return nil, fail(http.StatusMethodNotAllowed, "An offer cannot be deleted")
	}
	return resourceAnswer(http.StatusOK, all[i].properties()), nil
}

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
