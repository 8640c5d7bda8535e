package cosmostest

import (
	"fmt"
	"slices"
	"strconv"
	"time"
)

// Split splits each physical partition of a container in two, as the service does
// when one is full or gets more throughput. For the time takes it is completing:
// requests on documents are refused with 410 and 1007. The parts have new ids; a
// request that names an old one is refused with 410 and 1002. Session tokens and
// continuations from before are good after it.
func (s *Server) Split(db, container string, takes time.Duration) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	box, err := s.find(db, container)
	if err != nil {
		return err
	}
	if box.hashVersion != 2 {
		return fmt.Errorf("split container %q: the hash of its keys is not computed here", container)
	}
	next := 0
	for _, one := range box.spans {
		n, _ := strconv.Atoi(one.id)
		next = max(next, n+1)
	}
	var halves []span
	for _, one := range box.spans {
		middle, ok := one.middle()
		if !ok {
			return fmt.Errorf("split container %q: the range %s is too small", container, one.id)
		}
		lineage := append(slices.Clone(one.parents), one.id)
		halves = append(halves,
			span{id: fmt.Sprint(next), low: one.low, high: middle, parents: lineage},
			span{id: fmt.Sprint(next + 1), low: middle, high: one.high, parents: lineage})
		next += 2
	}
	box.spans, box.splits, box.splitting = halves, box.splits+1, s.gate.now().Add(takes)
	return nil
}

// middle returns the bound between the halves of a span, whose bounds differ in
// their first four digits.
func (s span) middle() (bound string, ok bool) {
	low, high := uint64(0), uint64(0x4000)
	if s.low != "" {
		low, _ = strconv.ParseUint(s.low[:4], 16, 32)
	}
	if s.high != "FF" {
		high, _ = strconv.ParseUint(s.high[:4], 16, 32)
	}
	return fmt.Sprintf("%04X%028d", (low+high)/2, 0), high-low > 1
}
